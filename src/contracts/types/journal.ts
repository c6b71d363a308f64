/** One session of one agent of a host. */
export interface JournalKey {
  app: string;
  userId: string;
  agent: string;
  sessionId: string;
  /** The session that a person has opened, where this one is of a sub-agent: its notes go with those of that one. */
  root?: string;
}

/** What a host notes of a call, as JSON; its shape is the host's own. */
export type JournalRecord = Readonly<Record<string, unknown>>;

/** How far somebody has read. */
export interface JournalMark {
  /** Which notes: those of a session that is made again under an id are others. Empty: none were there. */
  readonly id: string;
  /** Number of records. */
  readonly length: number;
}

export interface JournalPage {
  /** Empty: nothing is noted. */
  id: string;
  /** Those behind the mark, oldest first; all of them where `id` is not that of the mark. */
  records: readonly JournalRecord[];
}

/**
 * Where a host keeps what it knows of calls whose executor it does not believe: in one order for all hosts over one
 * store. Notes go with their session, when it is deleted.
 */
export interface HostJournal {
  read(key: JournalKey, mark: JournalMark): Promise<JournalPage>;
  /**
   * Adds records where nobody else has added any since the mark: all of them or none. Undefined: somebody was faster,
   * and nothing was added. Where it rejects as `UNAVAILABLE` they may have been added.
   */
  append(
    key: JournalKey,
    records: readonly JournalRecord[],
    mark: JournalMark,
    options?: JournalAppend,
  ): Promise<JournalMark | undefined>;
  /**
   * Epoch milliseconds by the clock that all programs over the store have in common; absent: they are on one machine, and its
   * clock is that.
   */
  now?(): Promise<number>;
  /** Forgets what was noted of a session that a person has opened and of all below it, or of all sessions of a user. */
  forget(scope: { app: string; userId: string; sessionId?: string }): Promise<void>;
}

export interface JournalAppend {
  /** Something is open by these notes: they outlast what was settled. Default false. */
  waits?: boolean;
  /** They take the place of all that was noted behind the first `after` records; the notes are others from here on. */
  instead?: { after: number };
}
