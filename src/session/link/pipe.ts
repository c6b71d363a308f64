import type {
  AbortTarget,
  AgentEvent,
  AgentSession,
  ExecutorSession,
  ExecutorStreamOptions,
  PermissionMode,
  ReportedRequest,
  SessionInput,
  StreamEndEvent,
  ToolApprovalInput,
} from '../../contracts/index.ts';
import { callIdOf } from '../../contracts/index.ts';
import type { StreamQueue } from '../stream/index.ts';

/** Key of {@link PipeableSession}'s method. */
export const pipe: unique symbol = Symbol.for('coxswain.pipe') as never;

/** Key of {@link PipeableSession}'s method. */
export const openNow: unique symbol = Symbol.for('coxswain.openNow') as never;

/** Key of {@link AnsweredSession}'s method. */
export const answeredNow: unique symbol = Symbol.for('coxswain.answeredNow') as never;

/** Key of {@link PipeableSession}'s method. */
export const hold: unique symbol = Symbol.for('coxswain.hold') as never;

/** Key of {@link PipeableSession}'s method. */
export const startCalls: unique symbol = Symbol.for('coxswain.startCalls') as never;

/** Key of {@link HeedfulSession}'s method. */
export const heed: unique symbol = Symbol.for('coxswain.heed') as never;

/** Key of {@link TextualSession}'s method. */
export const partialTexts: unique symbol = Symbol.for('coxswain.texts') as never;

/** Key of {@link StirringSession}'s method. */
export const stirs: unique symbol = Symbol.for('coxswain.stirs') as never;

/** Key of an option of a host: ids of answered calls whose turn a message joins, rather than to begin a new one. */
export const joined: unique symbol = Symbol.for('coxswain.joined') as never;

/** Key of an option of a host: the inputs are stored, and somebody else goes on with the turn. */
export const begins: unique symbol = Symbol.for('coxswain.begins') as never;

/**
 * Key of an option of a host: the seq up to which the log was read and holds nothing of the stream. A message is refused
 * (`E_SESSION_CONFLICT`) where somebody has stored it under this stream since: a client has sent it to two programs.
 */
export const unlessSince: unique symbol = Symbol.for('coxswain.unlessSince') as never;

/** Options of a stream, with a host's word on what its message joins. */
export interface JoiningOptions extends ExecutorStreamOptions {
  [joined]?: readonly string[];
  [begins]?: boolean;
  [unlessSince]?: number;
}

/** What another process has done to a session that runs here: something was answered, or is to be ended. */
export interface Heeded {
  abort?: AbortTarget;
}

/**
 * A session that can deliver into a queue of somebody else's: a host in the same process saves a queue and an
 * iterator for every frame. Optional; `stream()` is the contract.
 */
export interface PipeableSession extends ExecutorSession {
  /** What the session was updated to; survives restarts. */
  readonly permissionMode: PermissionMode | undefined;
  /** `CallInfo.sessionUid`, as far as this process has read. */
  readonly uid: string | undefined;
  /** Epoch milliseconds. One that is made again under its id has another one. */
  readonly createdAt: number;
  /** Something is open, as far as this process has read. */
  readonly hasOpen: boolean;
  /** Runs one stream into `queue` and resolves to its stream_end, which is not pushed. */
  [pipe](
    input: readonly SessionInput[],
    options: ExecutorStreamOptions,
    queue: StreamQueue<AgentEvent>,
  ): Promise<StreamEndEvent>;
  /** What `pending()` has of the call with this id, or of the one that a question with this id is about. */
  [openNow](requestId: string): Promise<ReportedRequest | undefined>;
  /**
   * Takes the session for a turn of several streams, over what happens between them. Returns what gives it back.
   * @throws CoxswainError `ABORTED / E_SESSION_BUSY` while anybody else runs it
   */
  [hold](options?: HoldOptions): Promise<() => Promise<void>>;
  /**
   * Stores the starts of calls that whoever holds the session runs, in one append, and shows them in the stream that the
   * last inner one was a part of. No agent runs.
   * @returns what is open then; `isNews`: others have written meanwhile, which an agent may have to go on with
   * @throws CoxswainError what a stream with these inputs is refused for: nothing was stored
   */
  [startCalls](
    starts: readonly ToolApprovalInput[],
    streamId: string,
    queue: StreamQueue<AgentEvent>,
  ): Promise<{ open: ReportedRequest[]; isNews: boolean }>;
}

/** How a session is taken for a turn of several streams. */
export interface HoldOptions {
  /** The first of them begins a turn: the session may be taken with its message. */
  withEvents?: boolean;
  /** Asked when the turn ends: whether the session may be given back with that. */
  mayEnd?: () => boolean;
}

/** A session that says which answers its agent has yet to act upon. */
export interface AnsweredSession extends ExecutorSession {
  /**
   * Ids of the present turn's calls that the agent runs and that were answered, as long as it has not acted upon that:
   * `pending()` has nothing of them. As far as this process has read.
   */
  [answeredNow](): string[];
}

/** A session that can be taken for a turn of several streams: see {@link PipeableSession}. */
export interface HoldableSession extends ExecutorSession {
  /** Resolves to undefined where its executor keeps no lease. */
  [hold](options?: HoldOptions): Promise<(() => Promise<void>) | undefined>;
}

/** A session whose log other processes can write. */
export interface HeedfulSession extends ExecutorSession {
  /** Tells what they do to it, until the returned function is called; undefined: nobody else can write the log. */
  [heed](tell: (heard: Heeded) => void): (() => void) | undefined;
}

/**
 * What an executor that is held in memory needs of its host. `answers`: its stream goes on, and something of it waits.
 * `stream`: no stream drives it, and it has more to say than the last one saw.
 */
export type Stirred = 'answers' | 'stream';

/** A session whose executor goes on by itself, during a stream and between two. */
export interface StirringSession extends ExecutorSession {
  /** Tells what the executor needs, until the returned function is called. */
  [stirs](tell: (needs: Stirred) => void): () => void;
}

/** A session whose text other programs tell before it is stored. */
export interface TextualSession extends ExecutorSession {
  /** Shows partial messages of another program's run, until the returned function is called; undefined: nobody tells. */
  [partialTexts](show: (event: AgentEvent) => void): (() => void) | undefined;
}

export function isTextual(session: AgentSession): session is TextualSession {
  return partialTexts in session;
}

export function isStirring(session: AgentSession): session is StirringSession {
  return stirs in session;
}

export function keepsAnswers(session: AgentSession): session is AnsweredSession {
  return answeredNow in session;
}

export function isHeedful(session: AgentSession): session is HeedfulSession {
  return heed in session;
}

export function isHoldable(session: AgentSession): session is HoldableSession {
  return hold in session;
}

export function isPipeable(session: AgentSession): session is PipeableSession {
  return pipe in session;
}

/** What is open under an id of a request, of its call, or of any question about that call. */
export async function openRequest(session: AgentSession, id: string): Promise<ReportedRequest | undefined> {
  if (isPipeable(session)) return session[openNow](id);
  const call = callIdOf(id);
  return (await session.pending()).find(({ requestId, callId }) => requestId === id || callId === call);
}

/** Key of {@link EndedLog}'s method. */
export const fromEnd: unique symbol = Symbol.for('coxswain.fromEnd') as never;

/** Where a log ends, and what is stored from then on. */
export interface LogEnd {
  /** seq of its newest event; 0: it has none. */
  readonly seq: number;
  /** Of the newest event. */
  readonly cursor?: string;
  /** As `events({ after: cursor, live: true })`. */
  readonly events: AsyncIterable<AgentEvent>;
}

/** A session that knows where its log ends without a look at all of it. */
export interface EndedLog {
  /** Undefined: it has to be read. */
  [fromEnd](): Promise<LogEnd | undefined>;
}

export function knowsEnd(session: object): session is EndedLog {
  return fromEnd in session;
}
