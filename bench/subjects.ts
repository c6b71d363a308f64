import { fromAgent } from '../src/adapters/adk/index.ts';
import type { AgentSession, PolicyEvaluator, SessionInput, StreamEndEvent } from '../src/contracts/index.ts';
import type { Agent, TurnLimits } from '../src/runtime/index.ts';
import { InMemorySessionService } from '../src/runtime/index.ts';
import { hosted } from './hosted.ts';
import type { Subject } from './result.ts';

export interface Setup {
  agent: Agent;
  policy?: PolicyEvaluator;
  limits?: TurnLimits;
}

/** Opens sessions of one agent in one store. */
export interface Sessions {
  /** A new session, or one of the store. */
  open(sessionId?: string): Promise<AgentSession>;
  /** Forgets a session, so that the store does not grow with the number of iterations. */
  discard(session: AgentSession): Promise<void>;
}

export const APP = 'bench';

/** Sessions of a subject; undefined where there is no such subject yet. */
export function sessionsOf(subject: Subject, setup: Setup): Sessions {
  return subject === 'session' ? direct(setup) : hosted(setup);
}

function direct({ agent, policy, limits }: Setup): Sessions {
  const store = new InMemorySessionService();
  const source = fromAgent(agent, { sessions: store, ...(limits ? { limits } : {}) });
  const context = { app: APP, ...(policy ? { policy } : {}) };
  return {
    open: (sessionId) => source.open(sessionId === undefined ? {} : { sessionId }, context),
    discard: (session) => store.delete({ app: APP, userId: 'local', id: session.id }),
  };
}

/** Reads one stream to its end as a user interface would: event by event. */
export async function play(session: AgentSession, input: string | SessionInput): Promise<StreamEndEvent> {
  let end: StreamEndEvent | undefined;
  for await (const event of session.stream(input)) if (event.type === 'stream_end') end = event;
  if (!end) throw new Error('the stream had no end');
  return end;
}

/** As {@link play}; a turn that does not end as it should makes its figures worthless. */
export async function playTo(reason: string, session: AgentSession, input: string | SessionInput): Promise<void> {
  const end = await play(session, input);
  if (end.reason !== reason)
    throw new Error(`the stream ended in ${end.reason}, not in ${reason}: ${JSON.stringify(end.data)}`);
}
