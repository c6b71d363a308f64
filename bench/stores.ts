import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import mysql2 from 'mysql2/promise';
import pg from 'pg';
import { openSql } from '../src/adapters/stores/sql/index.ts';
import { openSqlite } from '../src/adapters/stores/sql/open-sqlite.ts';
import { createHost, LlmAgent } from '../src/index.ts';
import type { Model, SessionService, StoredEvent } from '../src/runtime/index.ts';
import { createEvent, encodeEvent, InMemorySessionService } from '../src/runtime/index.ts';
import { inTurn, median, timed } from './measure.ts';

// node bench/stores.ts: what the session stores cost beside a bare driver that does the same transactions.

const key = { app: 'shop', userId: 'ann', id: 's1' };
const folder = mkdtempSync(join(tmpdir(), 'coxswain-bench-'));
const uuid = () => crypto.randomUUID();
const [turnId, invocationId, streamId] = [uuid(), uuid(), uuid()];

interface Line {
  measure: string;
  value: number;
  unit: string;
  limit?: number;
  beside?: string;
}
const results: Line[] = [];

function report(measure: string, value: number, unit: string, limit?: number, beside?: string): void {
  results.push({ measure, value, unit, ...(limit !== undefined && { limit }), ...(beside && { beside }) });
  const verdict = limit === undefined ? '    ' : value <= limit ? 'ok  ' : 'MISS';
  const target = limit === undefined ? '' : ` (at most ${limit})`;
  console.log(`${verdict} ${measure.padEnd(62)} ${value.toFixed(3).padStart(9)} ${unit}${target} ${beside ?? ''}`);
}

/** What a model says in one step. */
function small(): StoredEvent {
  return createEvent({
    turnId,
    invocationId,
    streamId,
    author: 'root',
    content: {
      role: 'model',
      parts: [{ type: 'text', text: 'Hello there, how can I help you with your boat today?' }],
    },
    usage: { inputTokens: 812, outputTokens: 14 },
    model: 'gpt-5',
  });
}

const columns = Object.keys(encodeEvent(small()));
const INSERT = `INSERT INTO adk_events (app_name, user_id, session_id, ${columns.join(', ')})`;
const UPDATE = 'UPDATE adk_sessions SET last_seq = last_seq + 1, updated_at = ?';
const WHERE = 'WHERE app_name = ? AND user_id = ? AND id = ?';
const names = [key.app, key.userId, key.id];
const time = () => new Date().toISOString().slice(0, -1);

type Cell = string | number | boolean | null;
type SqliteCell = Exclude<Cell, boolean>;

/** A row that is ready: the floor is the driver, not the making of rows. */
function rowOf(seq: number, booleans: boolean): Cell[] {
  const row = Object.values(encodeEvent({ ...small(), seq }));
  return booleans ? row : row.map((value) => (typeof value === 'boolean' ? Number(value) : value));
}

/** Appends, one event each, of the store and of a bare driver, in turn. */
async function compareAppends(
  name: string,
  limit: number | undefined,
  service: SessionService,
  bare: (row: Cell[]) => unknown,
  booleans = false,
  iterations = 2500,
): Promise<void> {
  await service.create(key);
  let seq = 0;
  const { store, floor } = await inTurn(
    { warmUp: 200, iterations },
    {
      store: () => {
        const event = small();
        return timed(() => service.append(key, [event]));
      },
      floor: async () => {
        seq += 1;
        const row = rowOf(seq, booleans);
        const start = performance.now();
        await bare(row);
        return performance.now() - start;
      },
    },
  );
  const beside = `${store.toFixed(3)} ms beside ${floor.toFixed(3)} ms bare`;
  report(`append, ${name}: times the bare driver`, store / floor, 'x', limit, beside);
}

function bareSqlite(path: string): { database: DatabaseSync; append: (row: SqliteCell[]) => void } {
  // The store's own tables.
  void openSqlite(path).close();
  const database = new DatabaseSync(path);
  database.exec('PRAGMA synchronous = FULL');
  database.exec(
    `INSERT INTO adk_sessions (app_name, user_id, id, inserted_at, updated_at) VALUES ('shop', 'ann', 's1', '', '')`,
  );
  const begin = database.prepare('BEGIN IMMEDIATE');
  const update = database.prepare(`${UPDATE} ${WHERE} RETURNING last_seq`);
  const insert = database.prepare(`${INSERT} VALUES (${[...names, ...columns].map(() => '?').join(', ')})`);
  const commit = database.prepare('COMMIT');
  return {
    database,
    append: (row) => {
      begin.run();
      update.get(time(), ...names);
      insert.run(...names, ...row);
      commit.run();
    },
  };
}

async function sqliteAppends(): Promise<void> {
  const service = openSqlite(join(folder, 'append.db'));
  const bare = bareSqlite(join(folder, 'append-bare.db'));
  await compareAppends('SQLite, synchronous FULL', 1.5, service, (row) => bare.append(row as SqliteCell[]));
  await service.close();
  bare.database.close();

  const { Kysely, SqliteDialect } = await import('kysely');
  const { nodeSqlite } = await import('../src/adapters/stores/sql/index.ts');
  const database = new Kysely({ dialect: new SqliteDialect({ database: nodeSqlite(join(folder, 'kysely.db')) }) });
  const through = await openSql(database);
  const other = bareSqlite(join(folder, 'kysely-bare.db'));
  await compareAppends('SQLite through Kysely', undefined, through, (row) => other.append(row as SqliteCell[]));
  await through.close();
  await database.destroy();
  other.database.close();
}

async function postgresAppends(): Promise<void> {
  const base = process.env.COXSWAIN_TEST_POSTGRES ?? 'postgres://root@127.0.0.1:5432/test';
  const admin = new pg.Client({ connectionString: base, connectionTimeoutMillis: 3000 });
  try {
    await admin.connect();
  } catch (error) {
    console.log(`skipped: no PostgreSQL (${(error as Error).message})`);
    return;
  }
  const schemas = [`bench_store_${process.pid}`, `bench_bare_${process.pid}`];
  const urls = schemas.map((schema) => {
    const url = new URL(base);
    url.searchParams.set('options', `-csearch_path=${schema}`);
    return url.href;
  });
  for (const schema of schemas) await admin.query(`CREATE SCHEMA ${schema}`);
  const [service, maker] = [await openSql(urls[0]!), await openSql(urls[1]!)];
  await maker.create(key);
  await maker.close();
  const pool = new pg.Pool({ connectionString: urls[1] as string, max: 10 });
  const numbered = (sql: string) => {
    let n = 0;
    return sql.replaceAll('?', () => `$${++n}`);
  };
  const update = numbered(`${UPDATE} ${WHERE} RETURNING last_seq`);
  const insert = numbered(`${INSERT} VALUES (${[...names, ...columns].map(() => '?').join(', ')})`);
  await compareAppends(
    'PostgreSQL',
    1.3,
    service,
    async (row) => {
      const client = await pool.connect();
      await client.query('BEGIN');
      await client.query(update, [time(), ...names]);
      await client.query(insert, [...names, ...row]);
      await client.query('COMMIT');
      client.release();
    },
    true,
  );
  await service.close();
  await pool.end();
  for (const schema of schemas) await admin.query(`DROP SCHEMA ${schema} CASCADE`);
  await admin.end();
}

async function mariadbAppends(): Promise<void> {
  const base = process.env.COXSWAIN_TEST_MYSQL ?? 'mysql://root@127.0.0.1:3306/test';
  let admin: mysql2.Connection;
  try {
    admin = await mysql2.createConnection({ uri: base, connectTimeout: 3000 });
  } catch (error) {
    console.log(`skipped: no MariaDB (${(error as Error).message})`);
    return;
  }
  const databases = [`bench_store_${process.pid}`, `bench_bare_${process.pid}`];
  const urls = databases.map((name) => Object.assign(new URL(base), { pathname: `/${name}` }).href);
  for (const name of databases) await admin.query(`CREATE DATABASE ${name}`);
  const [service, maker] = [await openSql(urls[0]!), await openSql(urls[1]!)];
  await maker.create(key);
  await maker.close();
  const pool = mysql2.createPool({ uri: urls[1] as string });
  const insert = `${INSERT.replace('partial', '`partial`')} VALUES (${[...names, ...columns].map(() => '?').join(', ')})`;
  await compareAppends('MariaDB', undefined, service, async (row) => {
    const client = await pool.getConnection();
    await client.query('BEGIN');
    await client.query(`${UPDATE} ${WHERE}`, [time(), ...names]);
    await client.query(insert, [...names, ...row]);
    await client.query('COMMIT');
    client.release();
  });
  await service.close();
  await pool.end();
  for (const name of databases) await admin.query(`DROP DATABASE ${name}`);
  await admin.end();
}

const TURNS = 200;

/** Of this process, in milliseconds. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function hostOn(sessions: SessionService) {
  // A model that keeps no copy of what it is asked: that would grow with the session.
  const model: Model = {
    name: 'aye',
    async *generate() {
      yield { content: { role: 'model', parts: [{ type: 'text', text: 'Aye.' }] }, turnComplete: true };
    },
  };
  return createHost({ app: 'shop', agents: [new LlmAgent({ name: 'root', model })], store: sessions, userId: 'ann' });
}

async function turns(host: ReturnType<typeof hostOn>, count: number, id?: string): Promise<string> {
  const session = await host.open('root', id === undefined ? {} : { sessionId: id });
  for (let n = 0; n < count; n++) for await (const _ of session.stream('Ahoy.'));
  return session.id;
}

/** The transactions of these turns as SQL, run again on a bare driver. */
function replayTurns(
  path: string,
  log: readonly { kind: 'append' | 'lease'; events: readonly StoredEvent[] }[],
): number {
  const { database, append: _ } = bareSqlite(path);
  const update = database.prepare(`${UPDATE} ${WHERE} RETURNING last_seq`);
  const owner = database.prepare(`UPDATE adk_sessions SET owner = ? ${WHERE}`);
  const insert = database.prepare(`${INSERT} VALUES (${[...names, ...columns].map(() => '?').join(', ')})`);
  const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')];
  const rows = log.map(({ kind, events }) => ({
    kind,
    rows: events.map((event) =>
      Object.values(encodeEvent(event)).map((value) => (typeof value === 'boolean' ? Number(value) : value)),
    ),
  }));
  const start = performance.now();
  for (const entry of rows) {
    database.exec(`PRAGMA synchronous = ${entry.kind === 'lease' ? 'NORMAL' : 'FULL'}`);
    begin.run();
    if (entry.kind === 'lease') owner.run('x', ...names);
    else update.get(time(), ...names);
    for (const row of entry.rows) insert.run(...names, ...(row as SqliteCell[]));
    commit.run();
  }
  const spent = performance.now() - start;
  database.close();
  return spent;
}

async function wholeTurns(): Promise<void> {
  const extra: number[] = [];
  const extraCpu: number[] = [];
  const inMemory: number[] = [];
  const reopen: number[] = [];
  const whole: number[] = [];
  for (let round = 0; round < 5; round++) {
    const path = join(folder, `turns${round}.db`);
    const service = openSqlite(path);
    const log: { kind: 'append' | 'lease'; events: readonly StoredEvent[] }[] = [];
    const { append, acquire } = service;
    service.append = async (of, events, options) => {
      const stored = await append.call(service, of, events, options);
      log.push({ kind: 'append', events: stored });
      return stored;
    };
    service.acquire = async (of) => {
      const lease = await acquire.call(service, of);
      log.push({ kind: 'lease', events: [] });
      const { release } = lease;
      lease.release = async () => {
        log.push({ kind: 'lease', events: [] });
        await release();
      };
      return lease;
    };
    const host = hostOn(service);
    const id = await turns(host, 1);
    log.length = 0;
    let cpu = cpuTime();
    const spent = await timed(() => turns(host, TURNS, id));
    cpu = cpuTime() - cpu;
    let bareCpu = cpuTime();
    const bare = replayTurns(join(folder, `turns-bare${round}.db`), log);
    bareCpu = cpuTime() - bareCpu;
    const memory = hostOn(new InMemorySessionService());
    const memoryId = await turns(memory, 1);
    const withoutStore = await timed(() => turns(memory, TURNS, memoryId));
    await memory.close();
    if (round > 0) inMemory.push((spent - bare - withoutStore) / TURNS);
    if (round > 0) whole.push(spent / TURNS);
    if (round > 0) extra.push((spent - bare) / TURNS);
    if (round > 0) extraCpu.push((cpu - bareCpu) / TURNS);
    await host.close();
    await service.close();
    const again = await timed(async () => {
      const next = openSqlite(path);
      const nextHost = hostOn(next);
      await turns(nextHost, 1, id);
      await nextHost.close();
      await next.close();
    });
    if (round > 0) reopen.push(again);
    if (round === 4)
      console.log(
        `     ${log.length / TURNS} transactions a turn, ${(spent / TURNS).toFixed(3)} ms; bare ${(bare / TURNS).toFixed(3)} ms`,
      );
  }
  report(`${TURNS} whole turns of one session, each`, median(whole), 'ms', 0.9);
  report('  of that: more than its own transactions on a bare driver', median(extra), 'ms');
  report('  the same in CPU time, whatever else the machine does', median(extraCpu), 'ms');
  report('  of that: what is not the same turn in memory', median(inMemory), 'ms');
  report('open the file again and take one more turn', median(reopen), 'ms', 8);
}

async function growth(): Promise<void> {
  const path = join(folder, 'growth.db');
  const service = openSqlite(path);
  const young = { ...key, id: 'young' };
  await service.create(key);
  await service.create(young);
  for (let n = 0; n < 10_000; n += 100) await service.append(key, Array.from({ length: 100 }, small));
  // In turn: a disk is not as fast at one time as at another.
  const append = (of: typeof key) => () => {
    const event = small();
    return timed(() => service.append(of, [event]));
  };
  const counts = { warmUp: 10, iterations: 500 };
  const spent = await inTurn(counts, { old: append(key), young: append(young) });
  report('append at event 10,000: times that at event 10', spent.old / spent.young, 'x', 1.25);
  const events = (await service.list({ app: key.app })).reduce((sum, { length }) => sum + length, 0);
  await service.close();
  report('bytes of the file for each event, indexes included', statSync(path).size / events, 'B', 1024);
}

/** Milliseconds until a new process has appended one event, less those of a process that does nothing. */
function startUp(): void {
  const run = (code: string) => {
    const start = performance.now();
    const { status, stderr } = spawnSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', code], {
      cwd: join(import.meta.dirname, '..'),
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
    return performance.now() - start;
  };
  const src = existsSync(join(import.meta.dirname, '../dist/adapters/stores/sqlite.js')) ? 'dist' : 'src';
  const ext = src === 'dist' ? 'js' : 'ts';
  const use = `await s.create({app:'a',userId:'u'}); await s.close();`;
  const direct = `const {openSqlite} = await import('./${src}/adapters/stores/sqlite.${ext}'); const s = openSqlite(':memory:'); ${use}`;
  const kysely = `const {nodeSqlite, openSql} = await import('./${src}/adapters/stores/sql/index.${ext}');
    const {Kysely, SqliteDialect} = await import('kysely');
    const s = await openSql(new Kysely({dialect: new SqliteDialect({database: nodeSqlite(':memory:')})})); ${use}`;
  const times = { nothing: [] as number[], direct: [] as number[], kysely: [] as number[] };
  for (let n = 0; n < 9; n++) {
    times.nothing.push(run('0'));
    times.direct.push(run(direct));
    times.kysely.push(run(kysely));
  }
  const base = median(times.nothing);
  report(`start of a process until a session is made, embedded (${src})`, median(times.direct) - base, 'ms');
  report(`start of a process until a session is made, through Kysely (${src})`, median(times.kysely) - base, 'ms');
}

try {
  await sqliteAppends();
  await postgresAppends();
  await mariadbAppends();
  await wholeTurns();
  await growth();
  startUp();
} finally {
  rmSync(folder, { recursive: true });
}
process.exitCode = results.some(({ value, limit }) => limit !== undefined && value > limit) ? 1 : 0;
