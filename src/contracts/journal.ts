/** One session of one agent of a host. */
export interface JournalKey {
  app: string;
  userId: string;
  agent: string;
  sessionId: string;
}

/** What a host notes of a call, as JSON; its shape is the host's own. */
export type JournalRecord = Readonly<Record<string, unknown>>;

/**
 * Where a host keeps what it knows of calls whose executor it does not believe. Only grows, in one order for all hosts
 * over one store.
 */
export interface HostJournal {
  /** Records of a session behind the first `after`, oldest first. */
  read(key: JournalKey, after: number): Promise<readonly JournalRecord[]>;
  /** Adds records where the session has `length` of them. False: somebody else was faster, and nothing was added. */
  append(key: JournalKey, records: readonly JournalRecord[], length: number): Promise<boolean>;
}
