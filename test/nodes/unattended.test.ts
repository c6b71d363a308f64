import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { SqlSessionService } from '../../src/adapters/stores/sql/services/session-service.ts';
import { createEvent } from '../../src/runtime/index.ts';
import type { TestDatabase } from '../adapters/databases.ts';
import { shared } from '../adapters/databases.ts';
import type { Child } from '../adapters/processes.ts';
import { startChild } from '../adapters/processes.ts';
import { refusal } from '../host/kit.ts';

const scope = { app: 'shop' };
const of = (id: string) => ({ app: 'shop', userId: 'ann', id });
const begins = () => createEvent({ author: 'user', actions: { turn: { start: 'bot' } } });

for (const server of shared) {
  describe.skipIf(server.skip !== undefined)(`turns that nobody runs: ${server.name}`, () => {
    let database: TestDatabase;
    let store: SqlSessionService;
    const children: Child[] = [];
    beforeAll(async () => {
      database = await server.make();
      store = await database.open();
    });
    afterEach(async () => {
      for (const child of children.splice(0)) await child.kill();
      await database.empty();
    });
    afterAll(async () => {
      await store.close();
      await database.drop();
    });
    const start = async () => {
      const child = startChild('store-child.ts', database.url as string, 'holder');
      children.push(child);
      expect(await child.next()).toBe('ready');
      return child;
    };
    const names = async (options?: object) =>
      (await store.unattended(scope, options)).map(({ key, wasTaken }) => `${key.id} ${wasTaken}`).sort();

    test('UA-01 a turn is not told while its holder lives, and is when that has died; with the mark it is told no more', async () => {
      for (const id of ['s1', 's2', 'over']) await store.create(of(id));
      for (const id of ['s1', 's2']) await store.append(of(id), [begins()]);
      const child = await start();
      for (const id of ['s1', 'over']) {
        child.tell(`hold ${id}`);
        expect(await child.next()).toMatch(/^held /);
      }
      const lease = await store.acquire(of('s2'));
      expect(await names()).toEqual([]);
      await child.kill();
      await expect.poll(() => names(), { timeout: 20_000 }).toEqual(['s1 true']);
      await store.releaseDead(of('s2'));
      await store.releaseDead(of('s1'));
      expect(await names()).toEqual([]);
      await store.append(of('s2'), [createEvent({ author: 'bot' })], { epoch: lease.epoch });
      await lease.release();
    });

    test('UA-05 who dies at a turn is counted until something is stored, once by however many look, and forgotten with the session', async () => {
      const deaths = async () => (await store.unattended(scope)).map((turn) => turn.deaths);
      const dies = async () => {
        const child = await start();
        child.tell('hold s1');
        expect(await child.next()).toMatch(/^held /);
        await child.kill();
        await expect.poll(async () => (await store.holder(of('s1'))) === undefined, { timeout: 20_000 }).toBe(true);
      };
      const begin = async () => {
        await store.create(of('s1'));
        await store.append(of('s1'), [begins()]);
      };
      await begin();
      await dies();
      expect(await Promise.all([deaths(), deaths(), deaths()])).toEqual([[1], [1], [1]]);
      await dies();
      expect(await deaths()).toEqual([2]);
      await store.append(of('s1'), [createEvent({ author: 'bot' })]);
      expect(await deaths()).toEqual([1]);
      await dies();
      expect(await deaths()).toEqual([2]);
      await store.delete(of('s1'));
      await begin();
      await dies();
      expect(await deaths()).toEqual([1]);
    });

    test('UA-02 turns that rest are told where they were written to since a time', async () => {
      await store.create(of('s1'));
      await store.append(of('s1'), [begins()]);
      expect(await names()).toEqual([]);
      expect(await names({ changedSince: 0 })).toEqual(['s1 false']);
      expect(await names({ changedSince: Date.now() + 3_600_000 })).toEqual([]);
    });

    test('UA-06 turns that rest are read in pages: each is told once', async () => {
      const ids = Array.from({ length: 1101 }, (_, n) => `r${String(n).padStart(4, '0')}`);
      const time = server.name === 'sqlite' ? `'2026-01-01T00:00:00.000000'` : `'2026-01-01 00:00:00'`;
      for (const [table, columns, rest] of [
        [
          'adk_sessions',
          'app_name, user_id, id, inserted_at, updated_at, state, initial_state',
          `${time}, ${time}, '{}', '{}'`,
        ],
        ['adk_open_turns', 'app_name, user_id, session_id, agent, inserted_at', `'bot', ${time}`],
      ]) {
        const rows = ids.map((id, n) => `('shop', 'u${n % 3}', '${id}', ${rest})`);
        await database.query(`INSERT INTO ${table} (${columns}) VALUES ${rows.join(', ')}`);
      }
      expect((await names({ changedSince: 0 })).map((name) => name.split(' ')[0])).toEqual(ids);
      expect(await names()).toEqual([]);
      if (server.name !== 'postgres') return;
      const plan = await database.query(
        `EXPLAIN SELECT 1 FROM adk_sessions s JOIN adk_open_turns t ON t.app_name = s.app_name AND t.user_id = s.user_id
          AND t.session_id = s.id WHERE s.app_name = 'shop' AND s.owner IS NOT NULL`,
      );
      expect(JSON.stringify(plan)).toContain('adk_sessions_held_index');
    });

    test.skipIf(server.name !== 'postgres')(
      'UA-03 a holder that is frozen is cut off: its turn is taken over, and it can write no more when it thaws',
      async () => {
        await store.create(of('s1'));
        await store.append(of('s1'), [begins()]);
        const child = await start();
        child.tell('hold s1');
        const epoch = Number((await child.next())?.replace('held ', ''));
        process.kill(child.pid, 'SIGSTOP');
        try {
          expect(await refusal(store.acquire(of('s1')))).toMatchObject({ code: 'E_SESSION_BUSY' });
          await expect.poll(() => names({ silentMs: 2500 }), { timeout: 20_000 }).toEqual(['s1 true']);
          const lease = await store.acquire(of('s1'));
          expect(lease.epoch).toBe(epoch + 1);
          process.kill(child.pid, 'SIGCONT');
          child.tell('write s1');
          expect(await child.next()).toBe('E_FENCED');
          await store.append(of('s1'), [createEvent({ author: 'bot' })], { epoch: lease.epoch });
          await lease.release();
        } finally {
          process.kill(child.pid, 'SIGCONT');
        }
      },
    );

    test.skipIf(server.name !== 'postgres')(
      'UA-07 with a holder that is frozen its transaction ends, too: who takes its session waits for none of its rows',
      async () => {
        await store.create(of('s1'));
        await store.append(of('s1'), [begins()]);
        const child = await start();
        child.tell('hold s1');
        await child.next();
        const other = new pg.Client({ connectionString: database.url, application_name: 'coxswain' });
        const ended = new Promise((resolve) => other.on('error', resolve));
        await other.connect();
        process.kill(child.pid, 'SIGSTOP');
        try {
          // Begun a little later than the last word of the holder.
          await other.query('BEGIN');
          await other.query(`UPDATE adk_sessions SET title = 'under way' WHERE id = 's1'`);
          await expect.poll(() => names({ silentMs: 2500 }), { timeout: 20_000 }).toEqual(['s1 true']);
          await ended;
          await (await store.acquire(of('s1'))).release();
        } finally {
          process.kill(child.pid, 'SIGCONT');
          await other.end().catch(() => {});
        }
      },
    );

    test.skipIf(server.name !== 'postgres')('UA-04 a holder that only works for long is left alone', async () => {
      await store.create(of('s1'));
      await store.append(of('s1'), [begins()]);
      const child = await start();
      child.tell('hold s1');
      await child.next();
      const until = Date.now() + 4000;
      while (Date.now() < until) {
        expect(await names({ silentMs: 3000 })).toEqual([]);
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
      child.tell('write s1');
      expect(await child.next()).toBe('wrote');
    });
  });
}
