import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, PostgresDialect, SqliteDialect, sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../../src/adapters/stores/open-store.ts';
import { mysql } from '../../src/adapters/stores/sql/databases/mysql-dialect.ts';
import { postgres } from '../../src/adapters/stores/sql/databases/postgres-dialect.ts';
import { sqlite } from '../../src/adapters/stores/sql/databases/sqlite-dialect.ts';
import { nodeSqlite, openSql } from '../../src/adapters/stores/sql/index.ts';
import { orAbsence } from '../../src/adapters/stores/sql/kysely/peers.ts';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { InMemorySessionService } from '../../src/runtime/index.ts';
import { event, key, other, refusalOf } from '../suites/session-service.ts';
import { mariadbServer, openKyselySqlite, postgresServer, sqliteFile } from './databases.ts';

const closing: (() => unknown)[] = [];
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coxswain-'));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true });
});

describe('what a database says', () => {
  const says = (error: object) => Object.assign(new Error('it said so'), error);
  test.each([
    ['sqlite', sqlite, { errcode: 13 }, 'E_STORE_FULL', false],
    ['sqlite', sqlite, { code: 'SQLITE_FULL' }, 'E_STORE_FULL', false],
    ['sqlite', sqlite, { code: 'SQLITE_READONLY_DBMOVED' }, 'E_STORE_READ_ONLY', false],
    ['sqlite', sqlite, { errcode: 778 }, 'E_STORE', false],
    ['sqlite', sqlite, { errcode: 5 }, 'E_STORE', true],
    ['postgres', postgres, { code: '53100' }, 'E_STORE_FULL', false],
    ['postgres', postgres, { code: '25006' }, 'E_STORE_READ_ONLY', false],
    ['postgres', postgres, { code: '57P01' }, 'E_STORE', true],
    ['postgres', postgres, { code: '25P03' }, 'E_STORE', true],
    ['postgres', postgres, { code: '42P01' }, 'E_STORE', false],
    ['mysql', mysql, { errno: 1146 }, 'E_STORE', false],
    ['postgres', postgres, { code: '53300' }, 'E_STORE', true],
    ['postgres', postgres, { code: 'ECONNREFUSED' }, 'E_STORE', true],
    ['postgres', postgres, { code: '28P01' }, 'E_STORE', false],
    ['postgres', postgres, { code: '22P02' }, 'E_STORE', false],
    ['mysql', mysql, { errno: 1114, code: 'ER_RECORD_FILE_FULL' }, 'E_STORE_FULL', false],
    ['mysql', mysql, { errno: 1021 }, 'E_STORE_FULL', false],
    ['mysql', mysql, { errno: 1290 }, 'E_STORE_READ_ONLY', false],
    ['mysql', mysql, { errno: 1205 }, 'E_STORE', true],
    ['mysql', mysql, { code: 'PROTOCOL_CONNECTION_LOST' }, 'E_STORE', true],
    ['mysql', mysql, { errno: 1153 }, 'E_TOO_LARGE', false],
    ['mysql', mysql, { errno: 1045 }, 'E_STORE', false],
  ] as const)('%s: error %# is told by its type', (_, dialect, error, code, retryable) => {
    const told = dialect.error(says(error), 'the store') as { code: string; retryable: boolean; message: string };
    expect(told).toMatchObject({ code, retryable });
    expect(told.message).toContain('it said so');
  });
});

describe('real failures', () => {
  test('a full SQLite disk is told as such through Kysely too, and work goes on once there is room', async () => {
    const database = new Kysely<unknown>({
      dialect: new SqliteDialect({ database: nodeSqlite(join(folder, 'full.db')) }),
    });
    closing.push(() => database.destroy());
    const service = await openSql(database);
    await service.create(key);
    const { rows } = await sql<{ page_count: number }>`PRAGMA page_count`.execute(database);
    await sql`PRAGMA max_page_count = ${sql.lit(Number(rows[0]?.page_count) + 4)}`.execute(database);
    const text = 'x'.repeat(100_000);
    const big = () =>
      service.append(key, [event('big', { content: { role: 'user', parts: [{ type: 'text', text }] } })]);
    const full = { status: 'RESOURCE_EXHAUSTED', code: 'E_STORE_FULL' };
    expect(await refusalOf(big())).toMatchObject(full);
    expect(await refusalOf(big())).toMatchObject(full);
    expect(await service.get(key)).toMatchObject({ lastSeq: 0, events: [] });
    await sql`PRAGMA max_page_count = 100000`.execute(database);
    await big();
    expect((await service.get(key))?.lastSeq).toBe(1);
  });

  test.skipIf(postgresServer.skip)('a read-only PostgreSQL can be read, and says so when written', async () => {
    const database = await postgresServer.make();
    closing.push(() => database.drop());
    const writer = await database.open();
    await writer.create(key);
    await writer.close();
    const url = new URL(database.url as string);
    url.searchParams.set('options', `${url.searchParams.get('options')} -cdefault_transaction_read_only=on`);
    const reader = await openSql(url.href);
    closing.push(() => reader.close());
    expect(await reader.list({ app: 'shop' })).toHaveLength(1);
    const attempts = [() => reader.append(key, [event('e1')]), () => reader.create(other), () => reader.acquire(key)];
    for (const attempt of attempts) {
      expect(await refusalOf(attempt())).toMatchObject({ status: 'FAILED_PRECONDITION', code: 'E_STORE_READ_ONLY' });
    }
  });

  test.skipIf(mariadbServer.skip)('a MariaDB user who may only read is told so', async () => {
    const database = await mariadbServer.make();
    closing.push(() => database.drop());
    const service = await database.open();
    closing.push(() => service.close());
    await service.create(key);
    const url = new URL(database.url as string);
    const user = `reader_${process.pid}`;
    await database.query(`CREATE USER '${user}'@'%'`);
    closing.push(() => database.query(`DROP USER '${user}'@'%'`));
    await database.query(`GRANT SELECT ON ${url.pathname.slice(1)}.* TO '${user}'@'%'`);
    url.username = user;
    const reader = await openSql(url.href);
    closing.push(() => reader.close());
    expect(await reader.list({ app: 'shop' })).toHaveLength(1);
    const attempts = [() => reader.append(key, [event('e1')]), () => reader.create(other), () => reader.acquire(key)];
    for (const attempt of attempts) {
      expect(await refusalOf(attempt())).toMatchObject({ status: 'FAILED_PRECONDITION', code: 'E_STORE_READ_ONLY' });
    }
  });

  test('a server that is not there, a user who may not come in', async () => {
    for (const scheme of ['postgres', 'mysql']) {
      const away = await refusalOf(openSql(`${scheme}://nobody:secret@127.0.0.1:1/none`));
      expect(away).toMatchObject({ status: 'UNAVAILABLE', code: 'E_STORE' });
      expect(away.message).toContain('127.0.0.1:1');
      expect(away.message).not.toContain('secret');
    }
    for (const { skip, make } of [postgresServer, mariadbServer]) {
      if (skip) continue;
      const database = await make();
      closing.push(() => database.drop());
      const url = new URL(database.url as string);
      url.pathname = '/no_such_database';
      expect(await refusalOf(openSql(url.href))).toMatchObject({ status: 'FAILED_PRECONDITION', code: 'E_STORE' });
    }
  });

  test.skipIf(postgresServer.skip)('connections that a server cut are made anew, unnoticed', async () => {
    const database = await postgresServer.make();
    closing.push(() => database.drop());
    const url = new URL(database.url as string);
    const name = `cut_${process.pid}`;
    url.searchParams.set('application_name', name);
    const service = await openSql(url.href);
    closing.push(() => service.close());
    await service.create(key);
    const lease = await service.acquire(key);
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${name}'`;
    expect((await database.query(cut)).length).toBeGreaterThan(1);
    // Nobody has taken the session over: its holder may go on, and give it back.
    await service.append(key, [event('e1')], { epoch: lease.epoch });
    await lease.release();
    expect((await service.acquire(key)).epoch).toBe(lease.epoch + 1);
  });

  test.skipIf(postgresServer.skip)('a Kysely of the caller stays open; its plugins do not matter', async () => {
    const database = await postgresServer.make();
    closing.push(() => database.drop());
    const pool = new pg.Pool({ connectionString: database.url as string, max: 2 });
    const own = new Kysely<{ adk_sessions: { id: string } }>({ dialect: new PostgresDialect({ pool }) });
    closing.push(() => own.destroy());
    const service = await openSql(own);
    await service.create(key);
    await (await service.acquire(key)).release();
    await service.close();
    expect(await own.selectFrom('adk_sessions').select('id').execute()).toEqual([{ id: 's1' }]);
  });
});

describe('opening', () => {
  test('openStore takes every kind of URL', async () => {
    expect(await openStore('memory:')).toBeInstanceOf(InMemorySessionService);
    for (const server of [sqliteFile, postgresServer, mariadbServer]) {
      if (server.skip) continue;
      const database = await server.make();
      closing.push(() => database.drop());
      const service = await openStore(database.url as string);
      await service.create(key);
      await service.close();
      const again = await openStore(
        (database.url as string).replace('mysql:', 'mariadb:').replace('postgres:', 'postgresql:'),
      );
      expect(await again.list({ app: 'shop' })).toHaveLength(1);
      await again.close();
    }
    const url = `sqlite://${join(folder, 'a.db')}`;
    await (await openStore(url)).close();
    await (await openStore('sqlite::memory:')).close();
    for (const wrong of ['', 'app.db', 'redis://x:secret@y', 'sqlite:', 'sqlite://']) {
      const refused = await refusalOf(openStore(wrong));
      expect(refused).toMatchObject({ status: 'INVALID_ARGUMENT', code: 'E_STORE_URL' });
      expect(refused.message).not.toContain('secret');
    }
    expect(await refusalOf(openSql('redis://x'))).toMatchObject({ code: 'E_STORE_URL' });
  });

  test('a package that is missing is named with the command that installs it', async () => {
    const missing = import(String('no-such-package')).catch((error: unknown) => {
      throw orAbsence(error, ['kysely', 'pg']);
    });
    const refused = await refusalOf(missing);
    expect(refused).toMatchObject({ status: 'FAILED_PRECONDITION', code: 'E_STORE' });
    expect(refused.message).toContain('npm install kysely pg');
    const broken = new TypeError('broken');
    expect(orAbsence(broken, ['pg'])).toBe(broken);
  });

  test('S2-31 a file is the same store, with and without Kysely; in one process, one of them at a time', async () => {
    const path = join(folder, 'both.db');
    const direct = openSqlite(path);
    await direct.create(key, { state: { n: 1 } });
    await direct.append(key, [event('e1')]);
    expect(await refusalOf(openKyselySqlite(path))).toMatchObject({ code: 'E_STORE' });
    await direct.close();
    const through = await openKyselySqlite(path);
    closing.push(() => through.close());
    await through.append(key, [event('e2')]);
    const busy = (async () => openSqlite(path))();
    expect((await refusalOf(busy)).message).toContain('open already');
    const reading = (async () => openSqlite(path, { readOnly: true }))();
    expect((await refusalOf(reading)).message).toContain('open already');
    const record = await through.get(key);
    await through.close();
    const again = openSqlite(path);
    closing.push(() => again.close());
    expect(await again.get(key)).toEqual(record);
  });
});
