import type { ConformanceTarget, RunningExecutor } from '../../../src/conformance/index.ts';
import type {
  AgentEvent,
  AgentSession,
  AgentStream,
  ExecutionOptions,
  PolicyEvaluator,
  SessionInput,
  SessionRef,
} from '../../../src/contracts/index.ts';
import { local, overHttp } from '../targets.ts';

export type Input = string | SessionInput | readonly SessionInput[];

/** What a broken executor does instead; what is left out is done right. */
export interface Bend {
  descriptor?: (right: AgentSession['descriptor']) => unknown;
  stream?: (right: AgentSession, input: Input, options: ExecutionOptions | undefined) => AgentStream;
  /** What is shown for an event. */
  show?: (event: AgentEvent, input: Input) => AgentEvent | AgentEvent[];
  respond?: (right: AgentSession, ...args: Parameters<AgentSession['respond']>) => ReturnType<AgentSession['respond']>;
  steer?: (right: AgentSession, ...args: Parameters<AgentSession['steer']>) => ReturnType<AgentSession['steer']>;
  update?: (right: AgentSession, ...args: Parameters<AgentSession['update']>) => Promise<unknown>;
  abort?: (right: AgentSession, ...args: Parameters<AgentSession['abort']>) => Promise<void>;
  pending?: (right: AgentSession) => ReturnType<AgentSession['pending']>;
  /** `events` up to now. */
  stored?: (right: AgentSession, after: string | undefined) => AsyncIterable<AgentEvent>;
  /** `events` from now on. */
  live?: (right: AgentSession) => AsyncIterable<AgentEvent>;
  close?: (right: AgentSession) => Promise<void>;
}

/** A broken executor: `bend` is called once a session. */
export interface Broken {
  id: string;
  how: string;
  bend?: () => Bend;
  open?: (right: (ref?: SessionRef) => Promise<AgentSession>, ref?: SessionRef) => Promise<AgentSession>;
  /** Of sessions of another executor over the same store. */
  bendAgain?: () => Bend;
  /** What it makes of the policy that it is given. */
  policy?: (right: PolicyEvaluator) => PolicyEvaluator;
  /** Its model is asked over HTTP; what it sends is changed so. */
  send?: (body: string) => string;
}

export function targetOf({ id, bend, bendAgain, open, policy, send }: Broken): ConformanceTarget {
  const bentBy = (executor: RunningExecutor, how: (() => Bend) | undefined): RunningExecutor => {
    const right = (ref?: SessionRef) => executor.open(ref);
    const { again } = executor;
    return {
      ...executor,
      ...(again ? { again: async () => bentBy(await again(), bendAgain ?? bend) } : {}),
      async open(ref) {
        const session = await (open ? open(right, ref) : right(ref));
        return how ? bent(session, how()) : session;
      },
    };
  };
  return {
    name: `broken ${id}`,
    async start(given = {}) {
      const options = given.policy && policy ? { policy: policy(given.policy) } : given;
      return bentBy(await (send ? overHttp(send) : local).start(options), bend);
    },
  };
}

function bent(right: AgentSession, bend: Bend): AgentSession {
  const shown = bend.show;
  return {
    id: right.id,
    descriptor: (bend.descriptor?.(right.descriptor) ?? right.descriptor) as AgentSession['descriptor'],
    stream(input, options) {
      const stream = bend.stream ? bend.stream(right, input as Input, options) : right.stream(input as Input, options);
      return shown ? through(stream, (event) => shown(event, input as Input)) : stream;
    },
    respond: (...args) => bend.respond?.(right, ...args) ?? right.respond(...args),
    steer: (...args) => bend.steer?.(right, ...args) ?? right.steer(...args),
    update: (...args) => (bend.update?.(right, ...args) as ReturnType<AgentSession['update']>) ?? right.update(...args),
    abort: (...args) => bend.abort?.(right, ...args) ?? right.abort(...args),
    pending: () => bend.pending?.(right) ?? right.pending(),
    events: (options) =>
      (options?.live ? bend.live?.(right) : bend.stored?.(right, options?.after)) ?? right.events(options),
    [Symbol.asyncDispose]: async () => bend.close?.(right) ?? right[Symbol.asyncDispose](),
  };
}

/** A stream whose events are shown otherwise. */
export function through(stream: AgentStream, show: (event: AgentEvent) => AgentEvent | AgentEvent[]): AgentStream {
  async function* shown(): AsyncGenerator<AgentEvent> {
    for await (const event of stream) {
      const instead = show(event);
      yield* Array.isArray(instead) ? instead : [instead];
    }
  }
  return Object.assign(shown(), { streamId: stream.streamId, abort: (reason?: string) => stream.abort(reason) });
}

let made = 0;

/** One more event beside another one. */
export function beside(event: AgentEvent, change: Record<string, unknown> = {}): AgentEvent {
  const { id: _, seq: __, cursor: ___, sessionId, streamId, turnId, timestamp } = event;
  return {
    id: `extra-${made++}`,
    sessionId,
    streamId,
    timestamp,
    turnId,
    type: 'custom',
    kind: 'ext:extra',
    ...change,
  } as never;
}

export const isEnd = (event: AgentEvent): event is Extract<AgentEvent, { type: 'stream_end' }> =>
  event.type === 'stream_end';

/** Does any text of the value hold these words? */
export function holds(value: unknown, words: string): boolean {
  try {
    return JSON.stringify(value).includes(words);
  } catch {
    // Too deep, which some inputs are on purpose.
    return false;
  }
}

/** An error under another code. */
export const recode = (error: unknown, code: string, to: string): never => {
  if ((error as { code?: string }).code === code) Object.assign(error as object, { code: to });
  throw error;
};
