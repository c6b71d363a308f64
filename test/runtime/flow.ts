import { expect } from 'vitest';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import type {
  AgentEvent,
  AgentSession,
  ExecutionOptions,
  PolicyEvaluator,
  ReportedRequest,
  SessionInput,
  SessionRef,
  StreamEndEvent,
} from '../../src/contracts/index.ts';
import { createGrammarChecker } from '../../src/contracts/index.ts';
import type { Agent, SessionKey, SessionService, StoredEvent } from '../../src/runtime/index.ts';
import { InMemorySessionService } from '../../src/runtime/index.ts';
import { elsewhere } from './elsewhere.ts';

const defaultKey: SessionKey = { app: 'shop', userId: 'ann', id: 's1' };

export interface FlowOptions {
  policy?: PolicyEvaluator;
  sessions?: SessionService;
}

export interface Streamed {
  events: AgentEvent[];
  end: StreamEndEvent;
}

/** One session of one process. Every stream is held to the grammar. */
export class Flow {
  readonly key: SessionKey;
  readonly session: AgentSession;
  readonly sessions: SessionService;
  readonly #options: FlowOptions;

  #open: Iterable<string> = [];
  #initialized = false;

  private constructor(session: AgentSession, sessions: SessionService, options: FlowOptions, key: SessionKey) {
    this.key = { ...key, id: session.id };
    this.session = session;
    this.sessions = sessions;
    this.#options = options;
  }

  static async open(agent: Agent, options: FlowOptions = {}, ref: SessionRef = {}, key = defaultKey): Promise<Flow> {
    const sessions = options.sessions ?? new InMemorySessionService();
    const { policy } = options;
    const source = fromAgent(agent, { store: sessions });
    const context = { app: key.app, userId: key.userId, ...(policy ? { policy } : {}) };
    const session = await source.open({ sessionId: key.id, create: true, ...ref }, context);
    const flow = new Flow(session, sessions, options, key);
    flow.#open = await openRequests(session);
    return flow;
  }

  /** A new process: a new source over the same store. */
  restart(agent: Agent): Promise<Flow> {
    return Flow.open(agent, { ...this.#options, sessions: elsewhere(this.sessions) });
  }

  /** The process was killed: a new one has what was stored, and the old one does not hold the session any more. */
  async crash(agent: Agent): Promise<Flow> {
    const log = JSON.parse(JSON.stringify(await this.log())) as StoredEvent[];
    const sessions = new InMemorySessionService();
    await sessions.create(this.key);
    await sessions.append(this.key, log);
    return Flow.open(agent, { ...this.#options, sessions });
  }

  /** A copy of the session. */
  fork(agent: Agent): Promise<Flow> {
    return Flow.open(agent, { ...this.#options, sessions: this.sessions }, { fork: true });
  }

  async stream(
    input: string | SessionInput | SessionInput[],
    options: ExecutionOptions & { watch?: (event: AgentEvent) => unknown } = {},
  ): Promise<Streamed> {
    const { watch, ...execution } = options;
    const checker = createGrammarChecker({ openRequests: this.#open, initialized: this.#initialized });
    const events: AgentEvent[] = [];
    const violations = [];
    for await (const event of this.session.stream(input, execution)) {
      violations.push(...checker.push(event));
      events.push(event);
      await watch?.(event);
    }
    expect([...violations, ...checker.end()]).toEqual([]);
    this.#open = checker.openRequests;
    this.#initialized = checker.initialized;
    const end = events.at(-1);
    if (end?.type !== 'stream_end') throw new Error('the stream has no end');
    return { events, end };
  }

  answer(request: ReportedRequest | undefined, action: 'accept' | 'decline' | 'cancel'): Promise<Streamed> {
    if (!request) throw new Error('nothing is pending');
    return this.stream({ kind: 'elicitation_response', requestId: request.requestId, response: { action } });
  }

  async log(): Promise<readonly StoredEvent[]> {
    return (await this.sessions.get(this.key))?.events ?? [];
  }

  async state(): Promise<Readonly<Record<string, unknown>>> {
    return (await this.sessions.get(this.key))?.state ?? {};
  }

  /** `name: errorType` of each response, and `name: open` of each call without one. */
  async outcomes(): Promise<string[]> {
    const found = new Map<string, string>();
    for (const event of await this.log()) {
      for (const part of event.content?.parts ?? []) {
        if (part.type === 'function_call') found.set(part.id, `${part.name}: open`);
        if (part.type === 'function_response') found.set(part.id, `${part.name}: ${part.errorType ?? 'ok'}`);
      }
    }
    return [...found.values()];
  }
}

async function openRequests(session: AgentSession): Promise<Set<string>> {
  const open = new Set<string>();
  for await (const event of session.events()) {
    if (event.type === 'tool_request' || event.type === 'elicitation_request') open.add(event.requestId);
    if (event.type === 'tool_response' || event.type === 'elicitation_response') open.delete(event.requestId);
  }
  return open;
}

/** Asks about the tools that are named, allows the rest. */
export function asking(...names: string[]): PolicyEvaluator {
  return { evaluate: ({ action }) => ({ outcome: names.includes(action) ? 'ask' : 'allow' }) };
}

/** Something that happens later. */
export function deferred<T = void>() {
  return Promise.withResolvers<T>();
}

/** Everything that was on its way has arrived. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
