import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openSql } from '../../src/adapters/stores/sql/index.ts';
import type { SqlSessionService } from '../../src/adapters/stores/sql/services/session-service.ts';
import { isCoxswainError } from '../../src/contracts/index.ts';
import { event, key, refusalOf } from '../suites/session-service.ts';
import type { TestDatabase } from './databases.ts';
import { mariadbServer, postgresServer } from './databases.ts';

/** Other tests have their tables in the same database of PostgreSQL: their connections are none of these. */
const application = `locks_${process.pid}_${Date.now()}`;

for (const server of [postgresServer, mariadbServer]) {
  describe.skipIf(server.skip)(`ATK-27 ${server.name}: the connection that holds the locks of a host`, () => {
    let database: TestDatabase;
    let here: SqlSessionService;
    let there: SqlSessionService;
    let url: URL;

    beforeEach(async () => {
      // Looks at the connection come when the test says so.
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      database = await server.make();
      url = new URL(database.url as string);
      if (server === postgresServer) url.searchParams.set('application_name', application);
      here = await openSql(url.href, { maxConnections: 6 });
      there = await openSql(url.href, { maxConnections: 6 });
      await here.create(key);
    });
    afterEach(async () => {
      vi.useRealTimers();
      await here.close();
      await there.close();
      await database.drop();
    });

    /** The server ends the connection that has the lock of the session. */
    async function cut() {
      if (server === postgresServer) {
        const cuts = await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = '${application}' AND pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')`);
        expect(cuts).toHaveLength(1);
      } else {
        const rows = await database.query(
          'SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()',
        );
        for (const { id, ID } of rows) await database.query(`KILL ${id ?? ID}`).catch(() => {});
      }
      // Without the clock, which would move on with each look of a wait.
      while ((await there.holder(key)) !== undefined);
    }

    /** Whoever had it may be faster: it hears of the cut, too. */
    async function takenOver() {
      for (;;) {
        await cut();
        const lease = await there.acquire(key).catch((error: unknown) => error);
        if (!isCoxswainError(lease)) return lease as Awaited<ReturnType<typeof there.acquire>>;
        expect(lease.code).toBe('E_SESSION_BUSY');
      }
    }

    /** A store of PostgreSQL whose questions for a lock the test hears of. */
    async function withLocks(heard: () => void) {
      const pool = new pg.Pool({ connectionString: url.href });
      pool.on('connect', (client) => {
        // Its end is none of the test's: it is what the store has to notice.
        client.on('error', () => {});
        const query = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>;
        const asked = async (sql: unknown, ...given: unknown[]) => {
          if (String(sql).includes('pg_try_advisory_lock')) heard();
          return await query(sql, ...given);
        };
        Object.assign(client, { query: asked });
      });
      const locks = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
      const store = await openSql(url.href, { locks });
      const close = async () => {
        await store.close();
        await locks.destroy();
      };
      return { store, close };
    }

    test('is noticed to be gone: the lock is taken again, and nobody else runs what is run here', async () => {
      const lease = await here.acquire(key);
      await cut();
      await vi.advanceTimersByTimeAsync(1000);
      await vi.waitFor(async () => expect(await there.holder(key)).toBe(lease.epoch));
      expect(await refusalOf(there.acquire(key))).toMatchObject({ code: 'E_SESSION_BUSY' });
      await here.append(key, [event('e1')], { epoch: lease.epoch });
      await lease.release();
      expect(await here.holder(key)).toBeUndefined();
      await (await there.acquire(key)).release();
    });

    test('and somebody has taken over since: they keep it, or have it free again', async () => {
      const lease = await here.acquire(key);
      const theirs = await takenOver();
      await vi.advanceTimersByTimeAsync(1000);
      await vi.waitFor(async () => expect(await here.holder(key)).toBe(theirs.epoch));
      expect(await refusalOf(here.append(key, [event('e1')], { epoch: lease.epoch }))).toMatchObject({
        code: 'E_FENCED',
      });
      await theirs.release();
      await vi.advanceTimersByTimeAsync(1000);
      expect(await there.holder(key)).toBeUndefined();
      // That the old lease is none any more is noticed by a look, which may still be on its way.
      await (await vi.waitFor(() => here.acquire(key))).release();
    });

    test('and somebody has run it since, and runs it no more: it is not taken again', async () => {
      await here.acquire(key);
      await (await takenOver()).release();
      await vi.advanceTimersByTimeAsync(1000);
      await vi.waitFor(async () => expect(await here.holder(key)).toBeUndefined());
      await (await there.acquire(key)).release();
    });

    test.skipIf(server !== postgresServer)(
      'and somebody has run it since: its lock is not had for a moment either, in which others were refused',
      async () => {
        let asked = 0;
        const { store, close } = await withLocks(() => asked++);
        await store.acquire(key);
        await (await takenOver()).release();
        asked = 0;
        await vi.advanceTimersByTimeAsync(1000);
        // Refused without a question until the look is over.
        await (await vi.waitFor(() => store.acquire(key))).release();
        expect(asked).toBe(1);
        await close();
      },
    );

    test('ATK2-13 a lease that had lost its lock leaves that of a newer lease of its store alone', async () => {
      const late = await here.acquire(key);
      await (await takenOver()).release();
      await vi.advanceTimersByTimeAsync(1000);
      const newer = await vi.waitFor(() => here.acquire(key));
      await late.release();
      expect(await there.holder(key)).toBe(newer.epoch);
      expect(await refusalOf(there.acquire(key))).toMatchObject({ code: 'E_SESSION_BUSY' });
      await newer.release();
      await (await there.acquire(key)).release();
    });

    test('ATK2-13 sibling: while many are taken again, one is given back and taken anew: it is had once', async () => {
      const others = Array.from({ length: 20 }, (_, index) => ({ ...key, id: `other${index}` }));
      for (const other of others) {
        await here.create(other);
        await here.acquire(other);
      }
      const last = await here.acquire(key);
      await cut();
      // The look comes to the last when that is another lease's already.
      const looked = vi.advanceTimersByTimeAsync(1000);
      while ((await there.holder(others[0] as typeof key)) === undefined);
      await last.release();
      const newer = await here.acquire(key);
      await looked;
      await vi.waitFor(async () => {
        for (const other of others) expect(await there.holder(other)).toBeDefined();
      });
      await newer.release();
      await (await there.acquire(key)).release();
    });

    test.skipIf(server !== postgresServer)(
      'ATK2-13 sibling: a question that fails by itself leaves the connection its locks, and its sessions come free',
      async () => {
        let fails = false;
        const { store: full, close } = await withLocks(() => {
          if (fails) throw Object.assign(new Error('out of shared memory'), { code: '53200' });
        });
        const lease = await full.acquire(key);
        await full.create({ ...key, id: 'other' });
        fails = true;
        expect(await refusalOf(full.acquire({ ...key, id: 'other' }))).toMatchObject({ code: 'E_STORE' });
        fails = false;
        await full.append(key, [event('e1')], { epoch: lease.epoch });
        await lease.release();
        await (await there.acquire(key)).release();
        await close();
      },
    );
  });
}
