import type { SQLInputValue, StatementSync } from 'node:sqlite';
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { messageOf } from '../../../contracts/index.ts';
import type { SqliteConnectionOptions } from './sqlite-file/index.ts';
import { openAlone } from './sqlite-file/index.ts';
import { checkSqlite } from './store-shape.ts';

/** Statements that stay prepared. */
const KEPT = 200;
const reads = /^\s*(?:select|with|values|pragma|explain)\b|\breturning\b/i;

/**
 * Node's own SQLite for Kysely: `new SqliteDialect({ database: nodeSqlite('app.db') })`. The tables of the session
 * store are made or brought up to date; others may stand beside them. Nobody else in this process may have the file
 * open.
 */
export function nodeSqlite(path: string, options: SqliteConnectionOptions = {}): SqliteDatabase {
  checkSqlite(path, options);
  const connection = openAlone(path, options);
  const { database } = connection;
  database.exec('PRAGMA synchronous = FULL');
  const kept = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    let found = kept.get(sql);
    if (!found) {
      if (kept.size === KEPT) kept.clear();
      found = database.prepare(sql);
      kept.set(sql, found);
    }
    return found;
  };
  const rollback: SqliteStatement = {
    reader: false,
    // A full disk, or a trigger, has undone the transaction already: that error is the one to know, not this one.
    run: () => {
      try {
        database.exec('ROLLBACK');
      } catch (error) {
        if (!/no transaction is active/.test(messageOf(error))) throw error;
      }
      return { changes: 0, lastInsertRowid: 0 };
    },
    all: () => [],
    iterate: () => [][Symbol.iterator](),
  };
  return {
    prepare(sql) {
      if (/^\s*rollback\s*;?\s*$/i.test(sql)) return rollback;
      return {
        reader: reads.test(sql),
        all: (given) =>
          statement(sql)
            .all(...given.map(toInput))
            .map(plain),
        run: (given) => statement(sql).run(...given.map(toInput)),
        *iterate(given) {
          for (const row of database.prepare(sql).iterate(...given.map(toInput))) yield plain(row);
        },
      };
    },
    close: () => {
      kept.clear();
      // Here no thread but this one has it open.
      void connection.close();
    },
  };
}

function toInput(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return Number(value);
  if (value === undefined) return null;
  return value instanceof Date ? value.toISOString() : (value as SQLInputValue);
}

/** Rows of Node's SQLite have no prototype. */
function plain(row: Record<string, unknown>): Record<string, unknown> {
  return { ...row };
}
