import type {
  AgentDescriptor,
  AgentEvent,
  AgentSession,
  AgentSource,
  PolicyEvaluator,
  SessionFactory,
  SessionRef,
} from '../../contracts/index.ts';
import type { ModelServer } from '../model-server/index.ts';
import { Untestable } from './breach.ts';
import { kitInput } from './kit-shape.ts';

/** One executor that was started for one check. */
export interface RunningExecutor {
  /** A session: a new one, or the one that `ref` names. */
  open(ref?: SessionRef): Promise<AgentSession>;
  /** The model server that it is pointed at, where its model is one. */
  readonly models?: ModelServer;
  /** Its own tools run under the policy that it was started with. */
  readonly governed?: boolean;
  /** Another one over the same store, whether this one lives or not. */
  again?(options?: Pick<StartOptions, 'signal'>): Promise<RunningExecutor>;
  /** Ends it at once, as a crash would. */
  kill?(): Promise<void>;
  /** Events that came where nobody can be shown them: after the end of their stream, or of none that was begun. */
  stray?(): readonly AgentEvent[];
  /** It has ended by itself. */
  lost?(): boolean;
  /** Ends it: processes, sockets, stores. */
  close?(): Promise<void>;
}

export interface StartOptions {
  /** For the executor's own tools. A target that can hand it over says so: `governed`. */
  policy?: PolicyEvaluator;
  /** Fires when nobody needs it any more, whether it has started or not. */
  signal?: AbortSignal;
}

/** What the kit tests. */
export interface ConformanceTarget {
  readonly name: string;
  /** A fresh executor that shares nothing with the ones before it. */
  start(options?: StartOptions): Promise<RunningExecutor>;
}

/** The app that sessions of the kit belong to. */
const APP = 'conformance';

/** A target over whatever opens sessions: `make` is called once a check. */
export function targetOfSource(
  name: string,
  make: () => AgentSource | Promise<AgentSource>,
  models?: ModelServer,
): ConformanceTarget {
  kitInput.named(name, make);
  return {
    name,
    async start({ policy } = {}) {
      const source = await make();
      const context = { app: APP, ...(policy ? { policy } : {}) };
      return {
        open: (ref = {}) => source.open(ref, context),
        governed: policy !== undefined,
        ...(models ? { models } : {}),
      };
    },
  };
}

/** A target over a session factory, which opens new sessions only: what needs an old one cannot be tested. */
export function targetOfFactory(
  name: string,
  descriptor: AgentDescriptor,
  make: () => SessionFactory | Promise<SessionFactory>,
): ConformanceTarget {
  kitInput.named(name, make);
  return {
    name,
    async start({ policy } = {}) {
      const factory = await make();
      return {
        governed: policy !== undefined,
        async open(ref = {}) {
          if (ref.sessionId !== undefined) throw new Untestable('a session factory opens no session by its id');
          return factory.create(descriptor, { app: APP, ...(policy ? { policy } : {}) });
        },
      };
    },
  };
}

/**
 * The same executor for all checks, each with sessions of its own: faster where a start is dear, and weaker, since one
 * check may suffer from another. An executor that has gone is started anew. Dispose of it at the end.
 */
export function sharedTarget(target: ConformanceTarget): ConformanceTarget & AsyncDisposable {
  kitInput.target(target);
  let running: Promise<RunningExecutor> | undefined;
  let started: RunningExecutor | undefined;
  let over = new AbortController();
  const begin = async () => {
    over = new AbortController();
    started = await target.start({ signal: over.signal });
    return started;
  };
  const close = async () => {
    const last = started;
    running = started = undefined;
    await last?.close?.();
    over.abort();
  };
  return {
    name: target.name,
    async start() {
      if (started?.lost?.()) await close();
      running ??= begin();
      try {
        return inPart(await running);
      } catch (error) {
        running = undefined;
        throw error;
      }
    },
    [Symbol.asyncDispose]: close,
  };
}

/** What of an executor may be had by several checks. */
function inPart(executor: RunningExecutor): RunningExecutor {
  const { models } = executor;
  const before = executor.stray?.().length;
  return {
    open: (ref) => executor.open(ref),
    stray: () => executor.stray?.().slice(before) ?? [],
    ...(models ? { models } : {}),
  };
}
