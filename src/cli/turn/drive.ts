import type { AgentEvent, AgentSession, Limits, ReportedRequest, SessionInput } from '../../contracts/index.ts';
import { StreamSummary } from '../../session/index.ts';
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
  pending: ReportedRequest[];
  error?: { code: string; message: string };
}

/** Runs one stream of a session into a view. @throws where the input is refused */
export async function drive(
  session: AgentSession,
  input: string | SessionInput,
  options: { view: View; interrupts: Interrupts; limits: Limits; model: string | undefined; streaming: boolean },
): Promise<StreamOutcome> {
  const { view, interrupts, limits, model, streaming } = options;
  const summary = new StreamSummary();
  const { signal } = interrupts.start();
  try {
    const stream = session.stream(input, { limits, signal, streaming, ...(model === undefined ? {} : { model }) });
    for await (const event of followed(session, stream)) {
      summary.see(event);
      const room = view.event(event);
      if (room) await room;
    }
  } finally {
    interrupts.over();
  }
  // A transfer that somebody has to allow is a question like any other.
  const reason = summary.isPaused ? 'input_required' : (summary.reason ?? 'failed');
  const { denied, truncated, pending, output, error } = summary;
  return {
    reason,
    code: exitCodeOf(reason, { denied: denied.length, truncated }),
    text: summary.lastText || summary.words,
    truncated,
    denied,
    pending,
    ...(output === undefined ? {} : { output }),
    ...(error && { error: { code: error.code, message: error.message } }),
  };
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
