import type { DecidedPage, DecidedQuery, SessionSummary, StoredDecision } from '../../contracts/index.ts';
import type { StoredEvent } from '../log/index.ts';

/** Names one session. Each part is one safe segment. */
export interface SessionKey {
  app: string;
  userId: string;
  id: string;
}

export interface SessionRecord {
  readonly key: SessionKey;
  readonly title?: string;
  /** State that the session was created with (own keys only, no prefix): the fold starts from it. */
  readonly initialState: Readonly<Record<string, unknown>>;
  /** State now: session, `app:` and `user:` keys, prefixes kept. */
  readonly state: Readonly<Record<string, unknown>>;
  /** seq of the newest event; 0 for an empty log. */
  readonly lastSeq: number;
  readonly epoch: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Those that were asked for, in seq order, deep-frozen. */
  readonly events: readonly StoredEvent[];
}

/** The right to run a session. Whoever holds it appends with its `epoch`; all earlier epochs are fenced. */
export interface Lease {
  readonly epoch: number;
  readonly lastSeq: number;
  /** `app:` and `user:` state as it is now: other sessions may have changed it. */
  readonly shared: Readonly<Record<string, unknown>>;
  /** What was appended as it was taken; absent: nothing was, since the log stood elsewhere. */
  readonly stored?: readonly StoredEvent[];
  release(): Promise<void>;
  /**
   * Appends under the lease and gives it back, in one transaction. Absent: the store does one after the other.
   * @throws CoxswainError as `append`: nothing is stored then, and the lease is held still
   */
  releaseWith?(events: readonly StoredEvent[]): Promise<readonly StoredEvent[]>;
}

/** What is appended with the taking of a lease, in one transaction, where the log stands at `expectedSeq`. */
export interface LeaseAppend {
  events: readonly StoredEvent[];
  expectedSeq: number;
}

export interface AppendOptions {
  /** The writer's lease. Absent: an unfenced append (answers, steers, updates), allowed to any process at any time. */
  epoch?: number;
  /** Refuse unless this is the newest seq. */
  expectedSeq?: number;
}

/** What ends a copy of a session, given all of it. */
export interface Settle {
  (copy: SessionRecord): readonly StoredEvent[];
  /** The same for a copy page by page: what has this needs no more than a page of the log in memory. */
  inPages?(initialState: SessionRecord['initialState']): SettlePages;
}

export interface SettlePages {
  /** The next events of the log, and those of them that no later rewind has cut. */
  see(events: readonly StoredEvent[], counting: readonly StoredEvent[]): void;
  /** Once all are seen; again where the transaction had to be. */
  end(): readonly StoredEvent[];
}

export interface ForkOptions {
  id?: string;
  through?: number;
  /**
   * Called with the copy before anybody can see it, and again where the transaction had to be. Default: `settling`, which
   * ends what is open in the copy. One that says nothing leaves it open, with the answers that were given: by one yes
   * a call then runs in both.
   */
  settle?: Settle;
}

/** What a log has come to up to `seq`, in the words of whoever reads it. It may be thrown away at any time. */
export interface StoredCheckpoint {
  seq: number;
  /** Of the session's name and of `data`: one that does not fit is not read. */
  digest: string;
  data: string;
}

export interface CheckpointStore {
  /** Events that a log gains from one to the next. Default 500. */
  readonly every?: number;
  /** The newest of a session. */
  newest(key: SessionKey): Promise<StoredCheckpoint | undefined>;
  /** Takes the place of an older one. Nothing happens where the session is gone, or its log is shorter. */
  keep(key: SessionKey, checkpoint: StoredCheckpoint): Promise<void>;
}

export interface OpenCall {
  key: SessionKey;
  callId: string;
  /** Tool's name. */
  name: string;
  /** seq of the event that made the call. */
  seq: number;
  /** Epoch milliseconds: when it came into the index, which is in this order. */
  openedAt: number;
  /** seq of the newest event of its session, where the store says so. */
  lastSeq?: number;
}

/** A session whose newest turn has not ended. */
export interface OpenTurn {
  key: SessionKey;
  /** The root of the agents with which it has begun; '' where that is known by its log alone. */
  agent: string;
  /** Number of its session's open calls. */
  pending: number;
}

/** What is looked for among open turns. */
export interface UnattendedOptions {
  /**
   * Milliseconds after which a holder that the database has heard nothing of is cut off, by the database's clock: it is
   * frozen, or its machine is gone. Absent: nobody is.
   */
  silentMs?: number;
  /** Also those that nobody has taken and that were written to since then: epoch milliseconds. */
  changedSince?: number;
}

/** An open turn that nobody runs. */
export interface UnattendedTurn {
  key: SessionKey;
  /** At which it has begun; '' where that is known by its log alone. */
  agent: string;
  lastSeq: number;
  /** Somebody had taken its session, and is gone. */
  wasTaken: boolean;
  /** Programs that have died at it one after the other, with nothing stored since. */
  deaths: number;
}

/** A row of an event, and the column of it that is not as it was written. */
export interface AlteredRow {
  seq: number;
  column: string;
}

/** A session as it was elsewhere. */
export interface RestoredSession {
  title?: string;
  /** Own keys only, no prefix. */
  initialState: Readonly<Record<string, unknown>>;
  /** All of the log, from seq 1. */
  events: readonly StoredEvent[];
}

/**
 * The log: the system of record. Every implementation passes the same suite.
 *
 * Values are JSON; order is `seq`; events that were acknowledged are there after a crash, each once.
 */
export interface SessionService {
  /** Whether audit events are linked to an audit chain as it is appended. Default true. */
  readonly chained?: boolean;
  /** `acquire` can append in the transaction that takes the lease. Default false. */
  readonly leasesWithEvents?: boolean;
  /** Nobody but this object can write here: nothing of other processes is looked for. Default false. */
  readonly isPrivate?: boolean;
  /** Goes with each session. Absent: opening a session reads all of its log. */
  readonly checkpoints?: CheckpointStore;
  /**
   * Without `id` one is made. `app:` and `user:` keys of `state` go to the shared state.
   * @throws CoxswainError `ALREADY_EXISTS / E_SESSION_EXISTS`, `INVALID_ARGUMENT / E_ID | E_NOT_JSON`
   */
  create(
    key: { app: string; userId: string; id?: string },
    options?: { state?: Record<string, unknown>; title?: string },
  ): Promise<SessionRecord>;
  /**
   * With all events, or those with `seq > after` (oldest first, at most `limit`), or the `recent` newest (ascending).
   * `{limit: 0}` reads none.
   */
  get(
    key: SessionKey,
    options?: { after?: number; limit?: number; recent?: number },
  ): Promise<SessionRecord | undefined>;
  /** Which of these sessions have events with a higher seq. Absent: each is read by itself. */
  grown?(known: readonly { key: SessionKey; seq: number }[]): Promise<SessionKey[]>;
  /**
   * For audits: events with a link whose rows say what they say in another way than they were written, and those that
   * stand behind the `last_seq` of their session. Absent where events are not kept as rows.
   */
  altered?(key: SessionKey): Promise<AlteredRow[]>;
  /** Newest first; `after` is the id of the last one seen. Without `userId`: of all users of the app. */
  list(
    scope: { app: string; userId?: string },
    options?: { limit?: number; after?: string; users?: readonly string[] },
  ): Promise<SessionSummary[]>;
  /**
   * Questions about calls that were answered, or that nobody has answered in time, over all users of the app, newest first:
   * as the events that count say, each from the append on that stores its answer, with the result of its call from the append
   * on that ends that. They go with their session. `agent` is '' where the store does not know yet with which the session
   * began. Absent: a host looks through the logs of the 500 sessions that have changed last.
   * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
   */
  decided?(scope: { app: string }, query: DecidedQuery): Promise<DecidedPage<StoredDecision>>;
  /**
   * Removes session, events and open calls, and the sessions of the sub-agents that it has called; shared state stays.
   * Nothing happens to an unknown one. Whether somebody runs the session itself is not asked: the caller
   * `acquire`s it before, or knows that nobody does.
   * @throws CoxswainError `ABORTED / E_SESSION_BUSY` where somebody alive runs the session of such a sub-agent; all of
   *   them stay
   */
  delete(key: SessionKey): Promise<void>;
  /**
   * Adds events in one transaction: assigns `seq`, applies their state deltas, keeps the indexes of open calls and of
   * decided questions.
   * Returns them as stored, deep-frozen (the given objects are taken over, do not touch them afterwards).
   * @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND`, `ABORTED / E_FENCED | E_SESSION_CONFLICT`,
   *   `ALREADY_EXISTS / E_EVENT_EXISTS` (details.id; nothing of the batch is stored)
   */
  append(key: SessionKey, events: readonly StoredEvent[], options?: AppendOptions): Promise<readonly StoredEvent[]>;
  /**
   * Adds a session with a whole log. Shared state stays as it is, whatever the log did to it. Absent: such a session
   * can be imported only if its log leaves shared state alone.
   * @throws CoxswainError `ALREADY_EXISTS / E_SESSION_EXISTS | E_EVENT_EXISTS`
   */
  restore?(key: SessionKey, session: RestoredSession): Promise<SessionRecord>;
  /**
   * Takes the session for one run; free again after release or when the holder's process is dead. With `first`, where
   * the store says `leasesWithEvents`: both or nothing, unless the log stands elsewhere: then the lease alone.
   * @throws CoxswainError `ABORTED / E_SESSION_BUSY`, `NOT_FOUND / E_SESSION_NOT_FOUND`, `ALREADY_EXISTS / E_EVENT_EXISTS`
   */
  acquire(key: SessionKey, first?: LeaseAppend): Promise<Lease>;
  /**
   * Epoch of the lease that somebody alive holds now; undefined if the session is free, its holder is dead, or there is
   * no such session. A look: it takes nothing, and may be out of date when it comes back.
   */
  holder(key: SessionKey): Promise<number | undefined>;
  /**
   * Copies the log up to and including seq `through` (default: all) into a new session of the same app and user. What
   * is appended to the source meanwhile is not in it. Nobody sees the copy before it is whole and what `settle` says is
   * appended to it. The record has the events that `settle` gave; those that were copied are read with `get`.
   * @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND`, `ALREADY_EXISTS / E_SESSION_EXISTS` (also where somebody
   *   else took the id meanwhile), `ABORTED / E_SESSION_CONFLICT` (source or copy was deleted meanwhile)
   */
  fork(source: SessionKey, options?: ForkOptions): Promise<SessionRecord>;
  /** Calls without a response, over all sessions in scope, oldest first. */
  openCalls(scope: { app: string; userId?: string; id?: string }): Promise<OpenCall[]>;
  /** Sessions in scope whose newest turn has not ended: it runs, waits or was cut off. Those that began first come first. */
  openTurns(scope: { app: string; userId?: string }): Promise<OpenTurn[]>;
  /** Open turns that somebody has to look after. Absent where no other process can write. */
  unattended?(scope: { app: string }, options?: UnattendedOptions): Promise<UnattendedTurn[]>;
  /** Takes the mark of a holder that is gone from a session in which there is nothing to do. */
  releaseDead?(key: SessionKey): Promise<void>;
  /**
   * Removes all that the store holds of a user, for good: sessions, state of the user, what a store keeps of memory
   * and artifacts in its own tables, and in its journal the schedules of the user and what receivers are owed of their turns. The number
   * of sessions. Repeat it where it was refused: nothing is left half erased
   * that another call would not remove.
   * @throws CoxswainError `ABORTED / E_SESSION_BUSY` where one of them runs
   */
  eraseUser?(scope: { app: string; userId: string }): Promise<number>;
  close(): Promise<void>;
}
