import { CoxswainError } from '../../../../contracts/index.ts';
import type { Schema, SchemaStatement, SqlDialect } from './dialect.ts';
import type { Steps } from './steps.ts';
import { one, runStatement } from './steps.ts';

/** Keeps the schema's version in a table of its own, for databases that have no better place. */
export function versionTable(current: string): Pick<Schema, 'version' | 'claim' | 'setVersion' | 'stranger'> {
  function* exists(table: string): Steps<boolean> {
    const sql = 'SELECT table_name AS name FROM information_schema.tables WHERE table_name = ? AND table_schema =';
    return (yield* one(`${sql} ${current}`, [table])) !== undefined;
  }
  return {
    *version() {
      if (!(yield* exists('adk_schema_version'))) return 0;
      return Number((yield* one('SELECT version FROM adk_schema_version', []))?.version ?? 0);
    },
    *claim() {
      yield* runStatement('CREATE TABLE IF NOT EXISTS adk_schema_version (version integer NOT NULL)', []);
    },
    *setVersion(version) {
      if (version === 0) {
        yield* runStatement('DROP TABLE IF EXISTS adk_schema_version', []);
        return;
      }
      yield* runStatement('DELETE FROM adk_schema_version', []);
      yield* runStatement('INSERT INTO adk_schema_version (version) VALUES (?)', [version]);
    },
    *stranger() {
      // Where tables cannot be made in a transaction, a crash may have left some of ours: with this one beside them.
      if (yield* exists('adk_schema_version')) return undefined;
      for (const table of ['adk_sessions', 'adk_events']) if (yield* exists(table)) return table;
      return undefined;
    },
  };
}

export interface MigrateOptions {
  /** Default: the newest that this release knows. 0 drops all tables with all that is in them. */
  target?: number;
}

/** Versions of a store's tables: before and after, 0 for none. */
export interface Migrated {
  from: number;
  to: number;
}

/**
 * Within one transaction, and while no other process does the same.
 * @throws CoxswainError `FAILED_PRECONDITION / E_STORE` for tables of a newer release, or of another program,
 *   `INVALID_ARGUMENT / E_BAD_INPUT` for a version that this release does not know
 */
export function* migrate(
  { schema }: SqlDialect,
  { target = schema.steps.length }: MigrateOptions = {},
): Steps<Migrated> {
  const known = schema.steps.length;
  if (!Number.isInteger(target) || target < 0 || target > known) throw noSuchVersion(target, known);
  const from = yield* schema.version();
  refuseNewer(from, known);
  const migrated = { from, to: target };
  if (from === target) return migrated;
  let version = from;
  if (version === 0) refuseStranger(yield* schema.stranger());
  if (version === 0) yield* schema.claim();
  for (; version < target; version++) {
    for (const statement of schema.steps[version]?.up ?? []) yield* change(statement);
  }
  for (; version > target; version--) {
    for (const statement of schema.steps[version - 1]?.down ?? []) yield* change(statement);
  }
  yield* schema.setVersion(version);
  return migrated;
}

function* change(statement: SchemaStatement): Steps<void> {
  if (typeof statement === 'string') yield* runStatement(statement, []);
  else if (!(yield* one(statement.unless, []))) yield* runStatement(statement.sql, []);
}

function noSuchVersion(target: number, known: number): CoxswainError {
  const message = `there is no schema version ${target}: give a whole number from 0 (no tables) to ${known}`;
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message, { details: { target, known } });
}

/** @throws CoxswainError `FAILED_PRECONDITION / E_STORE` */
export function refuseNewer(version: number, known: number): void {
  if (version <= known) return;
  throw new CoxswainError(
    'FAILED_PRECONDITION',
    'E_STORE',
    `this database has schema version ${version}, this release knows ${known}: ` +
      'upgrade the package, or give another database if this one belongs to another program',
    { details: { version, known } },
  );
}

/** @throws CoxswainError `FAILED_PRECONDITION / E_STORE` */
export function refuseOlder(version: number, known: number): never {
  throw new CoxswainError(
    'FAILED_PRECONDITION',
    'E_STORE',
    `this database has schema version ${version}, not ${known}: open it once with the right to make tables`,
    { details: { version, known } },
  );
}

export function refuseSettings(store: string, fault: string): CoxswainError {
  return new CoxswainError('FAILED_PRECONDITION', 'E_STORE', `session store ${store}: ${fault}`);
}

function refuseStranger(table: string | undefined): void {
  if (table === undefined) return;
  throw new CoxswainError(
    'FAILED_PRECONDITION',
    'E_STORE',
    `this database has a table ${table} of another program already: give another file, database or schema`,
    { details: { table } },
  );
}
