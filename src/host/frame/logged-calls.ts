import type { AgentEvent, EventsOptions } from '../../contracts/index.ts';

type ToolRequest = Extract<AgentEvent, { type: 'tool_request' }>;

interface Logged {
  calls: Map<string, ToolRequest>;
  /** Up to the event with this cursor. */
  cursor: string | undefined;
}

const read = new WeakMap<object, Logged>();

/** The call of this id in a session's log, open or over. Each event is read once for a handle, however many ids are asked about. */
export async function loggedCall(
  session: { events(options?: EventsOptions): AsyncIterable<AgentEvent> },
  callId: string,
): Promise<ToolRequest | undefined> {
  const logged = read.get(session) ?? { calls: new Map(), cursor: undefined };
  read.set(session, logged);
  const known = logged.calls.get(callId);
  if (known) return known;
  for await (const event of session.events(logged.cursor === undefined ? {} : { after: logged.cursor })) {
    if (event.type === 'tool_request') logged.calls.set(event.requestId, event as ToolRequest);
    logged.cursor = event.cursor ?? logged.cursor;
  }
  return logged.calls.get(callId);
}
