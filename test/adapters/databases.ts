import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, SqliteDialect } from 'kysely';
import mysql2 from 'mysql2/promise';
import pg from 'pg';
import { nodeSqlite, openSql } from '../../src/adapters/stores/sql/index.ts';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { SqlSessionService } from '../../src/adapters/stores/sql/services/session-service.ts';
import type { Recipe } from './servers.ts';
import { mariadb, ownServer, postgres } from './servers.ts';

/** A database that is there for one test file. */
export interface TestDatabase {
  readonly name: string;
  /** Absent where only one process at a time can use it. */
  readonly url?: string;
  open(): Promise<SqlSessionService>;
  /** Rows of a statement, past the store. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  empty(): Promise<void>;
  drop(): Promise<void>;
}

export interface Server {
  readonly name: string;
  /** Why it cannot be used. */
  readonly skip?: string;
  make(): Promise<TestDatabase>;
}

const tables = [
  ...['adk_open_calls', 'adk_open_turns', 'adk_events', 'adk_sessions', 'adk_app_states', 'adk_user_states'],
  ...[
    'adk_memories',
    'adk_memory_vectors',
    'adk_artifacts',
    'adk_artifact_versions',
    'adk_journals',
    'adk_journal_records',
    'adk_checkpoints',
    'adk_dead_holders',
    'adk_session_facts',
    'adk_question_people',
    'adk_questions',
  ],
];
let made = 0;
const unique = () => `coxswain_${process.pid}_${Date.now().toString(36)}_${++made}`;

/**
 * The server of a URL that was given, or that is at its usual place; where none is there, one of the run's own.
 * @throws if the one that was given does not answer: nobody who names a server wants its tests skipped
 */
async function serverAt(
  recipe: Recipe,
  given: string | undefined,
  usual: string,
  connect: (url: string) => Promise<unknown>,
): Promise<{ url: string; skip?: string }> {
  const url = given ?? usual;
  try {
    await connect(url);
    return { url };
  } catch (error) {
    if (given !== undefined) throw error;
    const why = (error as Error).message || (error as NodeJS.ErrnoException).code;
    const own = await ownServer(recipe, connect);
    if ('url' in own) return own;
    const skip = `no ${recipe.name} at ${new URL(url).host} (${why}), ${own.skip}`;
    console.warn(`skipped: ${skip}`);
    return { url, skip };
  }
}

async function makePostgres(): Promise<TestDatabase> {
  const schema = unique();
  const admin = new pg.Client({ connectionString: postgresAt.url });
  await admin.connect();
  await admin.query(`CREATE SCHEMA ${schema}`);
  const url = new URL(postgresAt.url);
  // Nobody kills this server: what is committed is there, and none of the tests needs it on the disk.
  url.searchParams.set('options', `-csearch_path=${schema} -csynchronous_commit=off`);
  // Whoever asks while another question is under way waits for no answer but its own.
  const pool = new pg.Pool({ connectionString: url.href, max: 4 });
  pool.on('error', () => {});
  return {
    name: 'postgres',
    url: url.href,
    open: () => openSql(url.href, { maxConnections: 6 }),
    query: async (sql) => (await pool.query(sql)).rows,
    empty: async () => {
      // Much faster than TRUNCATE on tables of a few rows.
      await pool.query(tables.map((table) => `DELETE FROM ${table};`).join(''));
    },
    drop: async () => {
      await pool.end();
      await admin.query(`DROP SCHEMA ${schema} CASCADE`);
      await admin.end();
    },
  };
}

async function makeMysql(): Promise<TestDatabase> {
  const name = unique();
  const admin = await mysql2.createConnection({ uri: mariadbAt.url });
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.query(`USE ${name}`);
  const url = new URL(mariadbAt.url);
  url.pathname = `/${name}`;
  return {
    name: 'mariadb',
    url: url.href,
    open: () => openSql(url.href, { maxConnections: 6 }),
    query: async (sql) => (await admin.query(sql))[0] as Record<string, unknown>[],
    empty: async () => {
      for (const table of tables) await admin.query(`DELETE FROM ${table}`);
    },
    drop: async () => {
      await admin.query(`DROP DATABASE ${name}`);
      await admin.end();
    },
  };
}

async function makeSqliteFile(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-'));
  const path = join(folder, 'sessions.db');
  const { DatabaseSync } = await import('node:sqlite');
  const raw = <T>(work: (database: InstanceType<typeof DatabaseSync>) => T): T => {
    const database = new DatabaseSync(path);
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    name: 'sqlite',
    url: `sqlite:${path}`,
    open: async () => openSqlite(path),
    query: async (sql) => raw((database) => database.prepare(sql).all()),
    empty: async () => raw((database) => database.exec(tables.map((table) => `DELETE FROM ${table};`).join(''))),
    drop: async () => rmSync(folder, { recursive: true }),
  };
}

/** The same file through Kysely's own SQLite dialect. */
async function makeKyselySqlite(): Promise<TestDatabase> {
  const file = await makeSqliteFile();
  const path = (file.url as string).slice('sqlite:'.length);
  const { url: _, ...rest } = file;
  return { ...rest, name: 'kysely sqlite', open: () => openKyselySqlite(path) };
}

/** Closes the file with the service. */
export async function openKyselySqlite(path: string): Promise<SqlSessionService> {
  const database = new Kysely<unknown>({ dialect: new SqliteDialect({ database: nodeSqlite(path) }) });
  const service = await openSql(database);
  const close = service.close.bind(service);
  service.close = async () => {
    await close();
    await database.destroy();
  };
  return service;
}

/** Long: a busy machine is no reason to leave anything out. */
const PROBE = 20_000;
const [postgresAt, mariadbAt] = await Promise.all([
  serverAt(postgres, process.env.COXSWAIN_TEST_POSTGRES, 'postgres://root@127.0.0.1:5432/test', async (url) => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: PROBE });
    await client.connect();
    await client.end();
  }),
  serverAt(mariadb, process.env.COXSWAIN_TEST_MYSQL, 'mysql://root@127.0.0.1:3306/test', async (url) => {
    const connection = await mysql2.createConnection({ uri: url, connectTimeout: PROBE });
    await connection.end();
  }),
]);

const skipped = (skip: string | undefined) => (skip === undefined ? {} : { skip });

export const sqliteFile: Server = { name: 'sqlite', make: makeSqliteFile };
export const kyselySqlite: Server = { name: 'kysely sqlite', make: makeKyselySqlite };
/** Of the server, not of a database that a test has made there. */
export const postgresUrl = postgresAt.url;
export const postgresServer: Server = { name: 'postgres', make: makePostgres, ...skipped(postgresAt.skip) };
export const mariadbServer: Server = { name: 'mariadb', make: makeMysql, ...skipped(mariadbAt.skip) };
/** Databases that several processes share. */
export const shared: readonly Server[] = [sqliteFile, postgresServer, mariadbServer];
