import type { AgentEvent, ReportedRequest } from '../../contracts/index.ts';
import { notesOf } from '../../contracts/index.ts';
import type { UiMessage, UiMessageChunk, UiPart } from './chunk.ts';
import { GrowingMessage } from './growing-message.ts';
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
  const turns = new Map<string, { writer: UiWriter; growing: GrowingMessage; isShown: boolean }>();
  const turnOf = (turnId: string) => {
    const known = turns.get(turnId);
    if (known) return known;
    const turn = {
      writer: new UiWriter(options),
      growing: new GrowingMessage(turnId, 'assistant'),
      isShown: false,
    };
    turns.set(turnId, turn);
    return turn;
  };
  const say = (turn: ReturnType<typeof turnOf>, chunks: readonly UiMessageChunk[]) => {
    const { growing } = turn;
    for (const chunk of chunks) growing.add(chunk);
    if (turn.isShown || growing.message.parts.length === 0) return;
    turn.isShown = true;
    messages.push(growing.message);
  };
  for (const event of notRewound(events)) {
    if (event.turnId === undefined) continue;
    if (event.type === 'message' && event.role === 'user' && notesOf(event).steer === undefined) {
      const said = new GrowingMessage(event.id, 'user');
      for (const chunk of new UiWriter().write({ ...event, role: 'agent' })) said.add(chunk);
      messages.push(said.message);
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
