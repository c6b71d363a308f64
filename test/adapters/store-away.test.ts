import { Kysely, MysqlDialect, PostgresDialect } from 'kysely';
import mysql2 from 'mysql2';
import pg from 'pg';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openSql } from '../../src/adapters/stores/sql/index.ts';
import { InMemorySessionService } from '../../src/runtime/index.ts';
import { event, key, other, refusalOf } from '../suites/session-service.ts';
import { mariadbServer, postgresServer, sqliteFile } from './databases.ts';
import { lineTo } from './line.ts';

const closing: (() => unknown)[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

describe.each([postgresServer, mariadbServer])('$name', (server) => {
  test.skipIf(server.skip)('S0-57 S2-31 it goes away in an append and comes back', async () => {
    const database = await server.make();
    closing.push(() => database.drop());
    const line = await lineTo(database.url as string);
    closing.push(() => line.cut());
    const service = await openSql(line.url, { maxConnections: 3 });
    closing.push(() => service.close());
    await service.create(key);
    await service.create(other);
    const lease = await service.acquire(key);
    const { epoch } = lease;
    const away = { status: 'UNAVAILABLE', code: 'E_STORE' };
    let acknowledged = 0;
    const writing = (async () => {
      for (;;) {
        await service.append(key, [event(`e${acknowledged + 1}`)], { epoch });
        acknowledged += 1;
      }
    })();
    const written = refusalOf(writing);
    await vi.waitFor(() => expect(acknowledged).toBeGreaterThan(20));
    await line.cut();
    expect(await written).toMatchObject(away);
    // Whatever is asked of it is refused, soon; the lease cannot be given back now.
    const reads = () => [service.get(key), service.list({ app: 'shop' }), service.openCalls({ app: 'shop' })];
    const writes = [lease.release(), service.acquire(other), service.append(other, [event('e1')])];
    for (const refused of await Promise.all([...writes, ...reads()].map(refusalOf)))
      expect(refused).toMatchObject(away);
    await line.mend();
    const next = await service.acquire(key);
    expect(next.epoch).toBe(epoch + 1);
    const events = (await service.get(key))!.events;
    expect([0, 1]).toContain(events.length - acknowledged);
    expect(events.map(({ id }) => id)).toEqual(Array.from({ length: events.length }, (_, n) => `e${n + 1}`));
    const late = service.append(key, [event('late')], { epoch });
    expect(await refusalOf(late)).toMatchObject({ code: 'E_FENCED' });
    await service.append(key, [event('next')], { epoch: next.epoch });
    await next.release();
    const third = await database.open();
    closing.push(() => third.close());
    expect((await third.acquire(key)).epoch).toBe(epoch + 2);
  });

  test.skipIf(server.skip)('one connection does not do: whoever allows no more is told so', async () => {
    const database = await server.make();
    closing.push(() => database.drop());
    const url = database.url as string;
    const refused = { status: 'FAILED_PRECONDITION', code: 'E_STORE' };
    for (const maxConnections of [0, 1]) {
      expect(await refusalOf(openSql(url, { maxConnections }))).toMatchObject(refused);
    }
    expect(await refusalOf(openSql(url, { maxConnections: -1 }))).toMatchObject({ code: 'E_BAD_INPUT' });
    const own = kyselyOf(server.name, url);
    closing.push(() => own.destroy());
    const service = await openSql(own);
    await service.create(key);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const refusal = refusalOf(service.acquire(key));
    let told: unknown;
    void refusal.then((error) => {
      told = error;
    });
    const later = () => {
      vi.advanceTimersByTime(500);
      expect(told).toMatchObject(refused);
    };
    await vi.waitFor(later, { timeout: 60_000, interval: 5 });
    vi.useRealTimers();
    await service.append(key, [event('e1')]);
    const apart = await openSql(own, { locks: url });
    await (await apart.acquire(key)).release();
    await apart.close();
    await service.close();
  });
});

/** With one connection. */
function kyselyOf(name: string, url: string, sqlMode?: string): Kysely<unknown> {
  if (name === 'postgres') {
    return new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }) });
  }
  const pool = mysql2.createPool({ uri: url, connectionLimit: 1 });
  if (sqlMode !== undefined) pool.on('connection', (connection) => connection.query('SET sql_mode = ?', [sqlMode]));
  return new Kysely({ dialect: new MysqlDialect({ pool }) });
}

test.skipIf(mariadbServer.skip)('connections that would spoil what is written are refused', async () => {
  const database = await mariadbServer.make();
  closing.push(() => database.drop());
  const opened = (mode: string) => {
    const own = kyselyOf('mariadb', database.url as string, mode);
    closing.push(() => own.destroy());
    return openSql(own);
  };
  for (const mode of ['', 'NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES']) {
    const refused = await refusalOf(opened(mode));
    expect(refused).toMatchObject({ status: 'FAILED_PRECONDITION', code: 'E_STORE' });
    expect(refused.message).toContain('sql_mode');
  }
  const service = await opened('ANSI_QUOTES,PIPES_AS_CONCAT,TRADITIONAL');
  const memory = new InMemorySessionService();
  const text = `'; DROP TABLE adk_events; -- \\' " \` ? \\0 %_`;
  for (const store of [service, memory]) {
    await store.create(key, { state: { [text]: text }, title: text });
    await store.append(key, [event('e1', { author: text, errorMessage: text })]);
  }
  const read = async (store: typeof service | typeof memory) => {
    const { state, title, events } = (await store.get(key))!;
    return { state, title, events };
  };
  expect(await read(service)).toEqual(await read(memory));
});

test('a lease that SQLite could not take back is taken back before the next one', async () => {
  const database = await sqliteFile.make();
  closing.push(() => database.drop());
  const service = await database.open();
  closing.push(() => service.close());
  await service.create(key);
  const lease = await service.acquire(key);
  await database.query(`CREATE TRIGGER stuck BEFORE UPDATE OF owner ON adk_sessions WHEN NEW.owner IS NULL
    BEGIN SELECT RAISE(ABORT, 'the disk hiccups'); END`);
  expect(await refusalOf(lease.release())).toMatchObject({ code: 'E_STORE' });
  expect(await refusalOf(service.acquire(key))).toMatchObject({ code: 'E_SESSION_BUSY' });
  await database.query('DROP TRIGGER stuck');
  expect((await service.acquire(key)).epoch).toBe(lease.epoch + 1);
});
