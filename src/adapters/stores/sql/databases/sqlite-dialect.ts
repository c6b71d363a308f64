import type { SqlDialect } from '../statements/index.ts';
import { one, runStatement } from '../statements/index.ts';
import { resultCode, storeError } from './sqlite-errors.ts';
import { SCHEMA_VERSION, sqliteSteps } from './sqlite-schema.ts';

const PRIMARY_KEY_TAKEN = 1555;

/** A write begins with the write lock, so that nothing is read that another process is about to change. */
export const sqlite: SqlDialect = {
  name: 'sqlite',
  returning: true,
  forUpdate: '',
  begin: { read: 'BEGIN', write: 'BEGIN IMMEDIATE' },
  // Statements are in this process: many small ones cost less than many big ones of every size.
  rowsPerInsert: 1,
  // They hold this thread as long as they take.
  rowsPerCopy: 64,
  listed: { from: 'json_each(?)', name: 'key', number: 'value' },
  timeValue: '?',
  textValue: '?',
  time: (column) => column,
  onConflict: (keys, changes) => `ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${changes.join(', ')}`,
  excluded: (column) => `excluded.${column}`,
  boolean: (value) => Number(value),
  contains: (column) => `instr(${column}, ?) > 0`,
  text: (sql) => sql,
  isDuplicate: (thrown) => resultCode(thrown) === PRIMARY_KEY_TAKEN,
  isCollision: () => false,
  isLost: () => false,
  error: storeError,
  schema: {
    steps: sqliteSteps,
    *version() {
      return Number((yield* one('PRAGMA user_version', []))?.user_version ?? 0);
    },
    *claim() {},
    *setVersion(version) {
      yield* runStatement(`PRAGMA user_version = ${Math.trunc(version)}`, []);
    },
    *stranger() {
      const sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'adk\\_%' ESCAPE '\\'";
      const name = (yield* one(sql, []))?.name;
      return name === undefined ? undefined : String(name);
    },
  },
};

export { SCHEMA_VERSION };
