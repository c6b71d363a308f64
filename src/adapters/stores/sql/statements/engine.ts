import type { SqlDialect } from './dialect.ts';
import type { Query, StatementResult, Steps, TransactionKind } from './steps.ts';

/** Runs steps on a database. */
export interface SqlEngine {
  readonly dialect: SqlDialect;
  /** For messages; without secrets. */
  readonly store: string;
  /** Nobody else can reach it. Default false. */
  readonly isPrivate?: boolean;
  /**
   * All of the steps or nothing. They are begun again where another transaction was in the way.
   * @throws CoxswainError, whatever the database threw
   */
  transaction<T>(kind: TransactionKind, steps: () => Steps<T>): T | Promise<T>;
  /** Transactions that have ended so far: of those that wait, whether others are still answered. */
  readonly ended?: number;
  /** A connection of its own, until it is let go or lost. */
  hold?(): Promise<HeldConnection>;
  /** For somebody who is going to write much in drafts. Absent: drafts are brought to the disk as they come. */
  writeMuch?(): LongWrite | undefined;
  close(): void | Promise<void>;
}

/** What drafts have written goes to the disk beside the event loop. */
export interface LongWrite {
  /** Before each draft. Undefined: go on. */
  turn(): Promise<void> | undefined;
  /** All of it, before the write that they were made for. */
  flush(): Promise<void>;
  end(): void;
}

export interface HeldConnection {
  ask(query: Query): Promise<StatementResult>;
  release(): Promise<void>;
}
