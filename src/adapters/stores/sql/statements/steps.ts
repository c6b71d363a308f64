/** What a column takes. */
export type Value = string | number | boolean | Uint8Array | null;

export type Row = Record<string, unknown>;

/** One statement: a `?` in its text for each value. */
export interface Query {
  readonly sql: string;
  readonly values: readonly Value[];
  /** It answers with rows; else with the number of rows it changed. */
  readonly rows: boolean;
}

export interface StatementResult {
  readonly rows: readonly Row[];
  readonly changes: number;
  /** What MySQL's `LAST_INSERT_ID(expression)` was given. */
  readonly insertId?: bigint | undefined;
}

/**
 * The statements of one transaction, written once for every database: an engine runs them one after the other, at
 * once where the database is in this process, awaiting each answer where it is not. A statement that fails is thrown
 * at the place that asked for it.
 */
export type Steps<T> = Generator<Query, T, StatementResult>;

export function* all(sql: string, values: readonly Value[]): Steps<readonly Row[]> {
  return (yield { sql, values, rows: true }).rows;
}

export function* one(sql: string, values: readonly Value[]): Steps<Row | undefined> {
  return (yield { sql, values, rows: true }).rows[0];
}

/** The number of rows that it changed. */
export function* runStatement(sql: string, values: readonly Value[]): Steps<number> {
  return (yield { sql, values, rows: false }).changes;
}

/** Runs steps in one go. */
export function runNow<T>(steps: Steps<T>, execute: (query: Query) => StatementResult): T {
  let step = steps.next();
  while (!step.done) {
    let answer: StatementResult;
    try {
      answer = execute(step.value);
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(answer);
  }
  return step.value;
}

/** Runs steps one by one. */
export async function runEach<T>(steps: Steps<T>, execute: (query: Query) => Promise<StatementResult>): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    let answer: StatementResult;
    try {
      answer = await execute(step.value);
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(answer);
  }
  return step.value;
}

/**
 * What a transaction needs: `read` that its reads fit together; `write` all or nothing; `lease` the same without
 * waiting for the disk where that is safe; `draft` the same for what nobody sees before a later `write`; `single`
 * nothing, each statement stands for itself.
 */
export type TransactionKind = 'read' | 'write' | 'lease' | 'draft' | 'single';

/** A row of places for values, so many times. */
export function repeat(row: string, count: number): string {
  return count === 1 ? row : Array.from({ length: count }, () => row).join(', ');
}
