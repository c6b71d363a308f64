/** SQL without a database: steps, rows, reads, versions of a schema. */
export { databaseTime } from './clock.ts';
export type { Locks, SchemaStep, SqlDialect } from './dialect.ts';
export { DuplicateEvent } from './duplicate.ts';
export type { HeldConnection, LongWrite, SqlEngine } from './engine.ts';
export { fillOpenTurns, fillSessionFacts } from './open-turns.ts';
export type { Uncounted } from './reads.ts';
export { OF_SESSION, Reads, values, WHERE_DRAFT, WHERE_SESSION } from './reads.ts';
export type { SessionRow, State } from './rows.ts';
export {
  columnTime,
  damaged,
  EVENT_VALUES,
  eventColumns,
  eventValues,
  now,
  parseState,
  sharedState,
  textOfColumn,
  uniqueNow,
  valuesAt,
  writeText,
} from './rows.ts';
export type { Migrated } from './schema.ts';
export { migrate, refuseNewer, refuseOlder, refuseSettings, versionTable } from './schema.ts';
export type { Query, Row, StatementResult, Steps, TransactionKind, Value } from './steps.ts';
export { all, one, repeat, runEach, runNow, runStatement } from './steps.ts';
export { codeOf, isNetwork, troubleError } from './store-errors.ts';
