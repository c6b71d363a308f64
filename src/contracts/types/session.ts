import type { z } from 'zod';
import type * as mode from '../schemas/permission-mode.ts';
import type * as schema from '../schemas/session.ts';
import type { Closed } from '../values/index.ts';
import type { Principal, ReportedRequest } from './approvals.ts';
import type { AgentDescriptor } from './descriptor.ts';
import type { AgentEvent } from './events.ts';
import type { ToolDescriptor } from './tools.ts';

export type PermissionMode = z.infer<typeof mode.permissionMode>;
export type SessionInput = Closed<z.infer<typeof schema.sessionInput>>;
export type MessageInput = Closed<z.infer<typeof schema.messageInput>>;
export type ToolResultInput = Closed<z.infer<typeof schema.toolResultInput>>;
export type ToolApprovalInput = Closed<z.infer<typeof schema.toolApprovalInput>>;
export type ElicitationResponseInput = Closed<z.infer<typeof schema.elicitationResponseInput>>;
/** What a host says to its executor of an open request: its caller's answer, and what only a host may add. */
export type HostAnswer = Closed<z.infer<typeof schema.requestAnswer>>;
/** What a caller answers to an open request. */
export type RequestAnswer = WithoutHostFacts<HostAnswer>;
/** The same as a caller writes it: a plain yes or no may be its word alone. */
export type GivenAnswer = RequestAnswer | 'approve' | 'deny';
type WithoutHostFacts<A> = A extends { kind: 'approve' } ? Omit<A, 'starts' | 'decision' | 'quorum'> : A;
export type ElicitationAction = z.infer<typeof schema.elicitationAction>;
export type Settlement = Closed<z.infer<typeof schema.settlement>>;
export type SteerData = Closed<z.infer<typeof schema.steerData>>;
export type SessionUpdate = Closed<z.infer<typeof schema.sessionUpdate>>;
export type Limits = Closed<z.infer<typeof schema.limits>>;
export type TurnTerms = Closed<z.infer<typeof schema.turnTerms>>;
export type SessionSummary = Closed<z.infer<typeof schema.sessionSummary>>;

export interface ExecutionOptions {
  /** Tools of the host for this stream, by description; the host runs them. */
  tools?: readonly ToolDescriptor[];
  /** Names of tools of any origin that are not offered in this stream. */
  excludeTools?: readonly string[];
  /** Model for the root agent and every agent without one of its own. */
  model?: string;
  /** Every tool call is announced and waits for the host. Default false; an AgentHost sets true. */
  hostToolExecution?: boolean;
  /** Default true; false hides partial messages. */
  streaming?: boolean;
  permissionMode?: PermissionMode;
  /**
   * What a new message does to open calls. `cancel` (default): each is settled, never started; `hold`: the message
   * is refused with `E_INPUT_REQUIRED`; `proceed`: the model sees a placeholder, the outcome is delivered later.
   * One beside an answer, or after it, whose call is open still joins that call's turn, and this is about the others.
   */
  whilePending?: 'cancel' | 'hold' | 'proceed';
  limits?: Limits;
  signal?: AbortSignal;
  traceContext?: Record<string, string>;
  /** Handed to tools, never logged. */
  deps?: unknown;
  /** Outer stream's id, where this stream is a part of one. */
  streamId?: string;
  /** On whose behalf, where it is not who opened the session; for hosts. */
  principal?: Principal;
}

/** Which stored events are read. */
export interface EventsOptions {
  /** Cursor behind which they start; absent: with the first. */
  after?: string;
  /** As many, at most. */
  limit?: number;
  /** Goes on with what happens next. */
  live?: boolean;
}

/** What a host says to its executor of a stream: its caller's options, and what only a host may add. */
export interface ExecutorStreamOptions extends ExecutionOptions {
  /** What the turn is begun with, to be kept in its log and given back by `standing`. */
  terms?: TurnTerms;
}

/** What a session and its newest turn are held to, as the log says. */
export interface SessionStanding {
  /** What the session was updated to. */
  permissionMode?: PermissionMode;
  /** Of the newest turn. */
  terms?: TurnTerms;
  /** Where the newest turn was begun, as a W3C trace context: a process that continues it is shown together with that. */
  traceContext?: Record<string, string>;
  /** The newest turn has ended, or there is none, and no answer to what the agent has asked waits for `continue`. */
  isOver: boolean;
}

/** The events of one stream. Leaving a `for await` aborts it. */
export interface AgentStream extends AsyncIterableIterator<AgentEvent> {
  readonly streamId: string;
  abort(reason?: string): Promise<void>;
}

export interface AbortTarget {
  reason?: string;
  /** Only this thread: a branch ends as if it were done, an agent run as a tool with its call. */
  threadId?: string;
  /** Only this call. */
  requestId?: string;
}

/** What a compaction has come to. */
export interface Compaction {
  /** False: nothing is left out; `reason` says why. */
  compacted: boolean;
  /** Tokens of the next request, before and after, about. */
  tokensBefore: number;
  tokensAfter: number;
  reason?: string;
}

/** How an agent runs: the whole of what an executor implements. */
export interface AgentSession extends AsyncDisposable {
  readonly id: string;
  readonly descriptor: AgentDescriptor;
  /**
   * Starts or continues a turn. Lazy: nothing happens before the first `next()`, and a refused input fails there
   * with nothing stored. One live stream a session.
   * @throws CoxswainError (at the first `next()`) `ABORTED / E_SESSION_BUSY`, `FAILED_PRECONDITION / …`
   */
  stream(input: string | SessionInput | readonly SessionInput[], options?: ExecutionOptions): AgentStream;
  /**
   * Answers one open request. Resolves when the answer is durable; allowed at any time, also while a stream runs,
   * and needs no consumer.
   * @throws CoxswainError `FAILED_PRECONDITION / E_UNKNOWN_REQUEST | E_REQUEST_CLOSED | E_WRONG_ANSWER`
   */
  respond(requestId: string, answer: RequestAnswer): Promise<Settlement>;
  /**
   * Adds words to the running turn (or, if none runs, before the next message); says where they will land. With a
   * `threadId` they are for the agent that is shown in that thread; if it has ended, they stand before the next message.
   */
  steer(data: SteerData): Promise<{ steerId: string; disposition: 'current_turn' | 'next_turn' }>;
  /** Changes what the session is configured to do. Set keys replace, null resets, unknown keys are refused. */
  update(config: SessionUpdate): Promise<{ effective: 'next_step' }>;
  /**
   * Ends the running stream, one thread or one call of it; resolves when nothing more will be written. Idempotent. What
   * another process runs over the same store hears of it by the log.
   * @throws CoxswainError `ABORTED / E_SESSION_BUSY` where that process has not ended it in time: it was asked, no more
   */
  abort(target?: AbortTarget): Promise<void>;
  /**
   * Durable events after a cursor, oldest first; with `live` it continues with what happens next, in whichever process, until
   * the handle is closed.
   */
  events(options?: EventsOptions): AsyncIterable<AgentEvent>;
  /** Open tool requests and elicitations, derived from the log. */
  pending(): Promise<ReportedRequest[]>;
  /**
   * Replaces older messages of what the agent's model is sent by a summary, while no turn runs; the log stays whole. An
   * executor without it has a history that is its own affair.
   * @throws CoxswainError `ABORTED / E_SESSION_BUSY` while a stream runs; `FAILED_PRECONDITION / E_UNSUPPORTED`
   */
  compact?(): Promise<Compaction>;
  /** For hosts: the settings that a continued turn has. An executor without it keeps none: they are lost with the host. */
  standing?(): Promise<SessionStanding>;
}

/** An agent as its host drives it: what an executor gets beyond what callers say. */
export interface ExecutorSession extends AgentSession {
  stream(input: string | SessionInput | readonly SessionInput[], options?: ExecutorStreamOptions): AgentStream;
  respond(requestId: string, answer: HostAnswer): Promise<Settlement>;
}
