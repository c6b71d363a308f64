import type { AgentEvent, AgentSession, Limits, PendingRequest, SessionInput } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import { AnswerWords } from '../../session/index.ts';
import type { Interrupts } from '../terminal/index.ts';
import { exitCodeOf } from '../terminal/index.ts';
import type { View } from '../view/index.ts';

/** What one stream came to. */
export interface StreamOutcome {
  reason: string;
  code: number;
  /** The agent's last words on the root thread; if it said nothing there, those of its branches. */
  text: string;
  output?: unknown;
  /** The last answer was cut at the model's output limit. */
  truncated: boolean;
  denied: string[];
  pending: PendingRequest[];
  error?: { code: string; message: string };
}

/** Runs one stream of a session into a view. @throws where the input is refused */
export async function drive(
  session: AgentSession,
  input: string | SessionInput,
  options: { view: View; interrupts: Interrupts; limits: Limits; model: string | undefined; streaming: boolean },
): Promise<StreamOutcome> {
  const { view, interrupts, limits, model, streaming } = options;
  const outcome: StreamOutcome = { reason: 'failed', code: 1, text: '', truncated: false, denied: [], pending: [] };
  const words = new AnswerWords();
  const { signal } = interrupts.start();
  try {
    const stream = session.stream(input, { limits, signal, streaming, ...(model === undefined ? {} : { model }) });
    for await (const event of followed(session, stream)) {
      see(event, outcome);
      words.see(event);
      const room = view.event(event);
      if (room) await room;
    }
  } finally {
    interrupts.over();
  }
  outcome.text ||= words.text;
  // A transfer that somebody has to allow is a question like any other.
  const reason = outcome.reason === 'transfer' ? 'input_required' : outcome.reason;
  return { ...outcome, reason, code: exitCodeOf(reason, { ...outcome, denied: outcome.denied.length }) };
}

/**
 * The stream; if somebody else answered meanwhile and another process has brought the turn to its end, what is stored
 * of that instead of the complaint that there is nothing left to do.
 */
async function* followed(session: AgentSession, stream: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
  let after: string | undefined;
  let isOver = false;
  for await (const event of stream) {
    if (event.type === 'error' && event.fatal && event.code === 'E_TURN_COMPLETED') isOver = true;
    else if (!isOver) yield event;
    after = event.cursor ?? after;
  }
  if (isOver) yield* session.events(after === undefined ? {} : { after });
}

function see(event: AgentEvent, outcome: StreamOutcome): void {
  switch (event.type) {
    case 'message':
      if (event.role === 'agent' && !event.partial && event.threadId === undefined) {
        outcome.text = textOfParts(event.content) || outcome.text;
      }
      break;
    case 'tool_response':
      if (event.errorType === 'denied') outcome.denied.push(event.name);
      break;
    case 'error':
      outcome.error = { code: event.code, message: event.message };
      break;
    case 'stream_end':
      outcome.reason = event.data.transfer ? 'transfer' : event.reason;
      outcome.pending = event.data.pending ?? [];
      if (event.data.output !== undefined) outcome.output = event.data.output;
      outcome.truncated = event.data.truncated === true;
      break;
    default:
  }
}
