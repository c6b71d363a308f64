import type { AgentEvent, ReportedRequest } from '../../contracts/index.ts';
import { notesOf } from '../../contracts/index.ts';
import type { UiMessage, UiMessageChunk, UiPart, UiToolPart } from './chunk.ts';
import type { UiQuestion, UiWriterOptions } from './ui-writer.ts';
import { UiWriter } from './ui-writer.ts';

/**
 * Stored events of a session as messages of the AI SDK's user interface, for a page that is loaded: one message a turn, with
 * the turn's id, behind the person's. `pending`: what `session.pending()` says, for the questions that are open.
 * @example
 * ```ts
 * import { createHost, LlmAgent } from 'coxswain';
 * import { ScriptedModel } from 'coxswain/testing';
 * import { toUiMessages } from 'coxswain/ui';
 *
 * const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'clerk', model: new ScriptedModel(['Hello.']) })] });
 * const session = await host.open('clerk');
 * for await (const _ of session.stream('Hello?'));
 * const events = await Array.fromAsync(session.events());
 * console.log(toUiMessages(events, await session.pending()).map(({ role }) => role)); // [ 'user', 'assistant' ]
 * await host.close();
 * ```
 */
export function toUiMessages(
  events: readonly AgentEvent[],
  pending: readonly (UiQuestion & Pick<ReportedRequest, 'turnId' | 'kind'>)[] = [],
  options: Pick<UiWriterOptions, 'mayAnswer'> = {},
): UiMessage[] {
  const messages: UiMessage[] = [];
  const turns = new Map<string, { writer: UiWriter; message: UiMessage; isShown: boolean }>();
  const turnOf = (turnId: string) => {
    const known = turns.get(turnId);
    if (known) return known;
    const turn = {
      writer: new UiWriter(options),
      message: { id: turnId, role: 'assistant', parts: [] } as UiMessage,
      isShown: false,
    };
    turns.set(turnId, turn);
    return turn;
  };
  const say = (turn: ReturnType<typeof turnOf>, chunks: readonly UiMessageChunk[]) => {
    for (const chunk of chunks) added(turn.message, chunk);
    if (turn.isShown || turn.message.parts.length === 0) return;
    turn.isShown = true;
    messages.push(turn.message);
  };
  for (const event of notRewound(events)) {
    if (event.turnId === undefined) continue;
    if (event.type === 'message' && event.role === 'user' && notesOf(event).steer === undefined) {
      const said = [...new UiWriter().write({ ...event, role: 'agent' })];
      messages.push(said.reduce(added, { id: event.id, role: 'user', parts: [] } as UiMessage));
      continue;
    }
    const turn = turnOf(event.turnId);
    say(turn, turn.writer.write(event));
  }
  for (const question of pending) {
    const turn = turns.get(question.turnId);
    if (question.kind === 'tool' || !turn) continue;
    say(turn, turn.writer.ask(question));
  }
  return messages.map((message) =>
    message.role === 'user' ? { ...message, parts: withoutSteps(message.parts) } : message,
  );
}

const withoutSteps = (parts: readonly UiPart[]) => parts.filter(({ type }) => type !== 'step-start');

/** A rewind takes back what came behind its place. */
export function notRewound(events: readonly AgentEvent[]): AgentEvent[] {
  const kept: AgentEvent[] = [];
  for (const event of events) {
    if (event.type === 'custom' && event.kind === 'rewound') {
      const { through } = event.data as { through: number };
      while ((kept.at(-1)?.seq ?? 0) > through) kept.pop();
    } else kept.push(event);
  }
  return kept;
}

/** Adds a chunk to a message, as a page does. */
function added(message: UiMessage, chunk: UiMessageChunk): UiMessage {
  const { parts } = message;
  switch (chunk.type) {
    case 'start-step':
      parts.push({ type: 'step-start' });
      return message;
    case 'text-start':
    case 'reasoning-start': {
      const { type, id, ...told } = chunk;
      parts.push({ type: type === 'text-start' ? 'text' : 'reasoning', text: '', state: 'done', ...told } as UiPart);
      return message;
    }
    case 'text-delta':
    case 'reasoning-delta': {
      const part = parts.at(-1);
      if (part?.type === 'text' || part?.type === 'reasoning') part.text += chunk.delta;
      return message;
    }
    case 'tool-input-available': {
      const { toolCallId, toolName, input } = chunk;
      const at = parts.findLastIndex((part) => 'toolCallId' in part && part.toolCallId === toolCallId);
      // What a question is about may be other than what was asked for.
      if (at >= 0) parts[at] = { type: `tool-${toolName}`, toolCallId, state: 'input-available', input };
      else parts.push({ type: `tool-${toolName}`, toolCallId, state: 'input-available', input });
      return message;
    }
    case 'tool-approval-request': {
      const { toolCallId, approvalId: id, approvalDescriptor: descriptor } = chunk;
      return changed(message, toolCallId, { state: 'approval-requested', approval: { id, descriptor } });
    }
    case 'tool-output-available': {
      const { toolCallId, output, preliminary } = chunk;
      return changed(message, toolCallId, {
        state: 'output-available',
        output,
        ...(preliminary ? { preliminary } : {}),
      });
    }
    case 'tool-output-error':
      return changed(message, chunk.toolCallId, { state: 'output-error', errorText: chunk.errorText });
    case 'tool-output-denied': {
      const { toolCallId: id } = chunk;
      return changed(message, id, { state: 'output-denied', approval: { id, approved: false } });
    }
    case 'finish':
      message.metadata = chunk.messageMetadata;
      return message;
    case 'source-url':
    case 'file':
      parts.push(chunk);
      return message;
    default:
      if ('data' in chunk && !chunk.transient) setData(parts, chunk);
      return message;
  }
}

type ToolState = UiToolPart extends infer P
  ? P extends unknown
    ? Omit<P, 'type' | 'toolCallId' | 'input'>
    : never
  : never;

function changed(message: UiMessage, id: string, state: ToolState): UiMessage {
  const at = message.parts.findLastIndex((one) => 'toolCallId' in one && one.toolCallId === id);
  const part = message.parts[at];
  if (!part || !('toolCallId' in part)) return message;
  const { type, toolCallId, input } = part;
  message.parts[at] = { type, toolCallId, input, ...state } as UiToolPart;
  return message;
}

/** Data of one id is one part, which is changed. */
function setData(parts: UiPart[], { type, id, data }: { type: `data-${string}`; id?: string; data: unknown }): void {
  const known =
    id === undefined ? undefined : parts.find((part) => part.type === type && 'data' in part && part.id === id);
  if (known && 'data' in known) known.data = data;
  else parts.push({ type, ...(id === undefined ? {} : { id }), data });
}
