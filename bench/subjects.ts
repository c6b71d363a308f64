import type { StreamEndEvent } from '../src/contracts/index.ts';
import type { AgentSession, AnyTool, Model, PolicyEvaluator, SessionInput, SessionService } from '../src/index.ts';
import { createHost, fromAgent, InMemorySessionService, LlmAgent } from '../src/index.ts';
import type { Plan, Trial } from './measure.ts';
import { withCpu } from './measure.ts';
import type { Subject } from './result.ts';

export interface Setup {
  model: Model;
  /** The agent's own for `session`; the host's for `hosted`. */
  tools?: readonly AnyTool[];
  policy?: PolicyEvaluator;
  /** Model calls of one turn. */
  maxIterations?: number;
}

/** Opens sessions of one agent in one store. */
export interface Sessions {
  open(): Promise<AgentSession>;
  /** A session as text, as it would be carried elsewhere. */
  carry(session: AgentSession): Promise<string>;
  /** Opens it from its text alone: in another store, under another host. */
  arrive(text: string): Promise<{ session: AgentSession; discard(): Promise<void> }>;
  /** Forgets a session, so that the store does not grow with the number of iterations. */
  discard(session: AgentSession): Promise<void>;
}

const APP = 'bench';
const NAME = 'agent';

export function sessionsOf(subject: Subject, setup: Setup): Sessions {
  const store = new InMemorySessionService();
  const opener = subject === 'session' ? direct(setup) : hosted(setup);
  const open = opener(store);
  const scope = { app: APP, userId: 'local' };
  return {
    open: () => open(undefined),
    async carry({ id }) {
      const { exportSession } = await import('../src/adapters/stores/common/maintenance.ts');
      const lines: string[] = [];
      for await (const line of exportSession(store, { ...scope, id })) lines.push(line);
      return lines.join('\n');
    },
    async arrive(text) {
      const { importSession } = await import('../src/adapters/stores/common/maintenance.ts');
      const other = new InMemorySessionService();
      const { key } = await importSession(other, scope, text.split('\n'), { sameId: true });
      const session = await opener(other)(key.id);
      return { session, discard: async () => session[Symbol.asyncDispose]() };
    },
    async discard(session) {
      await session[Symbol.asyncDispose]();
      await store.delete({ app: APP, userId: 'local', id: session.id });
    },
  };
}

type Open = (sessionId: string | undefined) => Promise<AgentSession>;

function direct({ policy, ...options }: Setup): (store: SessionService) => Open {
  const agent = new LlmAgent({ name: NAME, ...options });
  return (sessions) => {
    const source = fromAgent(agent, { store: sessions });
    const context = { app: APP, ...(policy ? { policy } : {}) };
    return (sessionId) => source.open(sessionId === undefined ? {} : { sessionId }, context);
  };
}

function hosted({ tools = [], policy, ...options }: Setup): (store: SessionService) => Open {
  const agent = new LlmAgent({ name: NAME, ...options });
  return (sessions) => {
    const host = createHost({ app: APP, agents: [agent], store: sessions, tools, ...(policy ? { policy } : {}) });
    return (sessionId) => host.open(NAME, sessionId === undefined ? {} : { sessionId });
  };
}

/**
 * Reads one stream to its end as a user interface would: event by event. A turn that does not end as it should makes
 * its figures worthless.
 */
export async function play(session: AgentSession, input: string | SessionInput, reason = 'completed'): Promise<void> {
  let end: StreamEndEvent | undefined;
  for await (const event of session.stream(input)) if (event.type === 'stream_end') end = event;
  if (end?.reason !== reason) throw new Error(`expected ${reason}, got ${end?.reason} ${JSON.stringify(end?.data)}`);
}

/** A fresh session and one turn in it, with its CPU time. Forgetting the session does not count. */
export function freshTurn(sessions: Sessions, plan: Plan): { trial: Trial; cpu(): number } {
  return withCpu(plan, async () => {
    const start = performance.now();
    const session = await sessions.open();
    await play(session, 'go');
    const time = performance.now() - start;
    await sessions.discard(session);
    return time;
  });
}
