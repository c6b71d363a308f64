import type { DecidedPage, DecidedQuery, StoredDecision } from './decided.ts';
import type { Bus } from './nodes.ts';
import type {
  AgentDescriptor,
  AgentEvent,
  AgentSession,
  AnswerLimits,
  AnyTool,
  Compaction,
  ExecutorSession,
  GivenAnswer,
  LifecycleInterceptor,
  OpenRequest,
  PolicyEvaluator,
  Principal,
  SessionStanding,
  SessionSummary,
  Settlement,
  StoreOption,
  Telemetry,
  WithOutput,
} from './types/index.ts';

/** A session as data: enough to open it elsewhere. */
export interface SessionSnapshot {
  id: string;
  /** The app; the documents' `agentName`. */
  agentName: string;
  userId?: string;
  events: readonly AgentEvent[];
  state: Record<string, unknown>;
  lastUpdateTime: number;
  /** The stored records, opaque; present where the executor keeps a log. */
  log?: readonly unknown[];
  /** State that the log starts from. */
  initialState?: Record<string, unknown>;
}

/** A loaded session, read only. */
export interface SessionHandle {
  readonly id: string;
  readonly agentName: string;
  readonly events: readonly AgentEvent[];
  readonly state: Record<string, unknown>;
  /** Epoch milliseconds. */
  readonly lastUpdateTime: number;
}

/** Which session to open: its id, or a snapshot to start from. Absent: a new one. */
export interface SessionRef {
  sessionId?: string;
  snapshot?: SessionSnapshot;
  /** Make it if it does not exist. Default: an unknown id is an error. */
  create?: boolean;
  /** Open a copy instead; the original stays as it is. */
  fork?: boolean | { after?: string };
  /** State that a new session starts with. */
  state?: Record<string, unknown>;
  /** Keep the log in memory only: the session is gone with its handle and cannot be resumed. */
  ephemeral?: boolean;
}

/** What a session is opened within. */
export interface HostContext extends StoreOption {
  /** Name space of sessions and state. */
  app: string;
  /** Default `local`. */
  userId?: string;
  principal?: Principal;
  policy?: PolicyEvaluator;
  hooks?: LifecycleInterceptor;
  /** Milliseconds that they may think about one point. Default 10,000; 0: no limit. */
  hookTimeoutMs?: number;
  /** Of each answer of a model. */
  answerLimits?: AnswerLimits;
  /** Bytes of JSON that a model is given of one result. */
  maxResultBytes?: number;
  /** Keeps what is larger and says under which name. */
  spill?: (name: string, body: string | Uint8Array) => Promise<string>;
  tools?: readonly AnyTool[];
  /** The program that opens the session knows its type. */
  store?: unknown;
  credentials?: unknown;
  models?: unknown;
  deps?: unknown;
  /** Reports to other programs over the same store at once what is written to a session. */
  bus?: Bus;
  signal?: AbortSignal;
  traceContext?: Record<string, string>;
  /** Where spans go, unless the agent has a tracing system of its own. */
  telemetry?: Telemetry;
  /** Gets what went wrong without consequence, unless the agent reports it elsewhere. */
  warn?: (message: string, error?: unknown) => void;
  /**
   * Milliseconds between two looks for what other processes write to a session, where its agent keeps a log that others
   * can write. Default 1,000.
   */
  followPollMs?: number;
  /** Which session a factory's creator is to open. Absent: a new one. */
  session?: SessionRef;
}

/**
 * A session of a host: the executor's, under its control.
 * @typeParam Out the structured output of its agent
 */
export interface Session<Out = unknown> extends AgentSession, WithOutput<Out> {
  /** Open calls and questions, derived from the log, as this session's caller may answer them. */
  pending(): Promise<OpenRequest[]>;
  /** As {@link AgentSession.respond}; a plain yes or no may be its word: `respond(requestId, 'deny')`. */
  respond(requestId: string, answer: GivenAnswer): Promise<Settlement>;
  /** @throws CoxswainError `UNIMPLEMENTED / E_UNSUPPORTED` where its executor cannot */
  compact(): Promise<Compaction>;
  /** What the session and its newest turn are held to, and whether that is over. */
  standing(): Promise<SessionStanding>;
  /**
   * `events()`, and after each call of a sub-agent what it did, on its thread. Those events are of other logs: they have
   * no cursor here.
   */
  history(): AsyncIterableIterator<AgentEvent>;
  /** Ends its live stream and gives the session back to its store. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** An agent that a host can open. */
export interface AgentSource {
  readonly descriptor: AgentDescriptor;
  open(ref: SessionRef, context: HostContext): Promise<ExecutorSession>;
  /** Sessions of the (app, user) in the source's store. */
  readonly sessions?: (context: HostContext) => SessionProvider;
}

/** Stored sessions of one (app, user). */
export interface SessionProvider {
  create(options?: { id?: string; state?: Record<string, unknown>; title?: string }): Promise<SessionHandle>;
  load(sessionId: string): Promise<SessionHandle | undefined>;
  list(options?: { limit?: number; after?: string }): Promise<SessionSummary[]>;
  /** Those of all users of the app, or of `users`, newest first; `after` is `userId/id` of the last one seen. */
  listAll?(options?: { limit?: number; after?: string; users?: readonly string[] }): Promise<SessionSummary[]>;
  /**
   * Questions that were answered in sessions of all users of the app, newest first, of an index that is kept as logs grow.
   * Absent: a host reads the logs of the 500 sessions that have changed last. What a host may not show it leaves out,
   * whatever it is given here.
   */
  decided?(query: DecidedQuery): Promise<DecidedPage<StoredDecision>>;
  /** @throws CoxswainError `ABORTED / E_SESSION_BUSY` while some process that is alive runs it */
  delete(sessionId: string): Promise<void>;
  /**
   * Sessions whose newest turn has not ended, over all users of the app, those that began first come first. `running`:
   * some process that is alive runs it now.
   */
  openTurns?(): Promise<{ userId: string; sessionId: string; running: boolean }[]>;
  /**
   * Open turns over all users of the app that nobody runs: whose process is gone (`wasTaken`), or that nobody has taken and
   * that were written to since `changedSince`. A process that has been silent for `silentMs` is cut off. `deaths`: how many
   * processes have died at the turn one after the other, with nothing stored since; absent: not known.
   */
  unattended?(options: {
    silentMs?: number;
    changedSince?: number;
  }): Promise<{ userId: string; sessionId: string; lastSeq: number; wasTaken: boolean; deaths?: number }[]>;
  /** Takes the mark of a process that is gone from a session in which there is nothing to do. */
  releaseDead?(userId: string, sessionId: string): Promise<void>;
  /**
   * Sessions with open requests, over all users of the app unless `userId` or `sessionId` is given, those that have
   * waited longest first: since when (epoch milliseconds), the ids of the calls, the names of their tools, and the number of
   * the session's newest event. With that number a host knows that nothing has changed since it has read what a session
   * asks; without it, it believes that for `approvalPollMs`.
   */
  open?(options?: {
    userId?: string;
    sessionId?: string;
  }): Promise<
    { userId: string; sessionId: string; calls?: string[]; tools?: string[]; since?: number; lastSeq?: number }[]
  >;
}

/** What of an artifact one answer carries to somebody who looks at a session. */
export interface ArtifactShown {
  name: string;
  /** Absent: there is no such artifact, or not this version of it. */
  version?: number;
  mimeType?: string;
  /** Bytes. */
  size?: number;
  /** Base64; absent where it is larger than 1 MiB or than a message may be, or withheld. */
  data?: string;
  /** Why somebody who is not its owner is not given it. */
  withheld?: string;
}

export type SessionCreator = (descriptor: AgentDescriptor, context: HostContext) => Promise<ExecutorSession>;

/** Picks the factory that can run a descriptor. */
export interface SessionFactory {
  register(executor: string, creator: SessionCreator): void;
  /** @throws CoxswainError `NOT_FOUND / E_NO_EXECUTOR` */
  create(descriptor: AgentDescriptor, context: HostContext): Promise<ExecutorSession>;
  has(executor: string): boolean;
}
