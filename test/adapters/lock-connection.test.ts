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

    beforeEach(async () => {
      // Looks at the connection come when the test says so.
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      database = await server.make();
      const url = new URL(database.url as string);
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
        const cuts = await database.query(`SELECT pg_terminate_backend(l.pid) FROM pg_locks l
          JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND a.application_name = '${application}'`);
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
      await (await here.acquire(key)).release();
    });

    test('and somebody has run it since, and runs it no more: it is not taken again', async () => {
      await here.acquire(key);
      await (await takenOver()).release();
      await vi.advanceTimersByTimeAsync(1000);
      await vi.waitFor(async () => expect(await here.holder(key)).toBeUndefined());
      await (await there.acquire(key)).release();
    });
  });
}
