import type { Steps } from './steps.ts';

/** All that differs between databases. */
export interface SqlDialect {
  readonly name: 'sqlite' | 'postgres' | 'mysql';
  /** `UPDATE` and upserts give rows back. Otherwise `LAST_INSERT_ID(expression)` is there. */
  readonly returning: boolean;
  /** Appended to a read of rows that this transaction has locked already, so that it sees the newest version. */
  readonly forUpdate: '' | ' FOR UPDATE';
  /** Statements that begin a transaction; without one, reads of the kind stand for themselves. */
  readonly begin: { readonly read?: string; readonly write: string };
  /** Rows that one INSERT adds at most. */
  readonly rowsPerInsert: number;
  /** Events that one transaction copies from one session to another: some milliseconds of the database's time. */
  readonly rowsPerCopy: number;
  /** A table of one `?`, a JSON object of whole numbers, with expressions for name and number; absent: rows are values. */
  readonly listed?: { readonly from: string; readonly name: string; readonly number: string };
  /** Placeholder of a timestamp, and of a text in a select list. */
  readonly timeValue: string;
  readonly textValue: string;
  /** Epoch milliseconds by the clock of the database; absent: it has that of this machine. */
  readonly clock?: string;
  /** A timestamp column as ISO 8601 text with microseconds and without zone. */
  time(column: string): string;
  /** What is appended to an INSERT so that it changes the row that has the key already. */
  onConflict(keys: readonly string[], changes: readonly string[]): string;
  /** The value that the INSERT would have set; `table.column` is the one that is there. */
  excluded(column: string): string;
  boolean(value: boolean): boolean | number;
  /** Whether a text column holds a text, compared by its characters: a condition with one `?`. */
  contains(column: string): string;
  /** From `?` to the database's own placeholders. */
  text(sql: string): string;

  /** The primary key is taken. */
  isDuplicate(thrown: unknown): boolean;
  /** Two transactions were in each other's way, and this one was undone: it may be run again. */
  isCollision(thrown: unknown): boolean;
  /** The connection is gone, or could not be made. */
  isLost(thrown: unknown): boolean;
  /** What was thrown, as the error that callers of this package expect. */
  error(thrown: unknown, store: string): unknown;

  /** What is wrong with the settings of a connection that somebody else has opened. */
  fault?(): Steps<string | undefined>;

  readonly schema: Schema;
  /** Absent: sessions are held by an owner record. */
  readonly locks?: Locks;
}

/** A statement that is left out where `unless` finds a row. */
export type SchemaStatement = string | { readonly sql: string; readonly unless: string };

export interface SchemaStep {
  readonly up: readonly SchemaStatement[];
  readonly down: readonly SchemaStatement[];
}

/** Steps of the schema, oldest first; statements of a step can be repeated after a crash. */
export interface Schema {
  readonly steps: readonly SchemaStep[];
  /** 0: none yet. */
  version(): Steps<number>;
  /** Marks what comes next as ours, before the first table is made. */
  claim(): Steps<void>;
  setVersion(version: number): Steps<void>;
  /** Name of a table that a stranger has made. */
  stranger(): Steps<string | undefined>;
  /** One migration at a time; absent where beginning a write transaction sees to it. */
  readonly lock?: { readonly take: string; readonly free: string };
}

/** Locks of the database that live as long as the connection that took them. */
export interface Locks {
  /** Run once on the connection that holds the locks. */
  readonly prepare: readonly string[];
  /** One value, the lock's name; `taken` is 1 in the answer's row if it was free. */
  readonly take: string;
  readonly free: string;
  /** A look that takes nothing: one value, the lock's name; `taken` is 1 in the answer's row if somebody has it. */
  readonly held: string;
  /**
   * How it is told that whoever has locks is alive without a word: absent where the database cannot. `all`: every lock
   * that somebody has, as `name`, with its connection as `pid` and the milliseconds since that has said something as
   * `silent`. `cut` ends a connection that still is silent: its `pid` and the milliseconds. `free` ends those that sleep
   * within a transaction of this package for as many milliseconds.
   */
  readonly silent?: { readonly all: string; readonly cut: string; readonly free: string };
  /** Tells apart what shares the names of locks: database and schema. */
  readonly scope: string;
  name(digest: Uint8Array): string;
}
