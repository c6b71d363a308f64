import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SqlSessionService } from '../../src/adapters/stores/sql/services/session-service.ts';
import { call, change, event, key, refusalOf } from '../suites/session-service.ts';
import type { TestDatabase } from './databases.ts';
import { kyselySqlite, shared } from './databases.ts';
import { killForks, randomFrom } from './kill.ts';
import { startChild } from './processes.ts';

const MANY = 300;
const names = ['begun', 'made', 'gone', 'old', 'kept', 'erased'] as const;
const of = (id: string) => ({ ...key, id });

for (const server of [...shared, kyselySqlite]) {
  describe.skipIf(server.skip)(`copies on ${server.name}`, () => {
    let database: TestDatabase;
    let service: SqlSessionService;

    const rows = async (table: string, column: string, id: string) =>
      (await database.query(`SELECT 1 AS there FROM ${table} WHERE ${column} = '${id}'`)).length;
    const left = async (id: string) => [
      await rows('adk_sessions', 'id', id),
      await rows('adk_events', 'session_id', id),
    ];

    beforeAll(async () => {
      database = await server.make();
      service = await database.open();
      await service.create(key, { title: 'T', state: { n: 0 } });
      const many = Array.from({ length: MANY - 1 }, (_, n) => change(`n${n}`, { n }));
      await service.append(key, [call('c', 'c1'), ...many]);
      if (!database.url) return;
      // One process at a time may use some of them.
      await service.close();
      const child = startChild('store-child.ts', database.url, 'copier');
      expect(await child.next()).toBe('ready');
      child.tell(`halve ${key.id} ${names.join(' ')}`);
      expect(await child.next()).toBe('half');
      await child.kill();
      service = await database.open();
    });
    afterAll(async () => {
      await service?.close();
      await database?.drop();
    });

    describe.skipIf(server === kyselySqlite)('of a process that was killed', () => {
      test('are seen by nobody', async () => {
        for (const id of names) {
          const [session, events] = await left(id);
          expect([session, Number(events) > 0 && Number(events) < MANY]).toEqual([1, true]);
          expect(await service.get(of(id))).toBeUndefined();
          expect(await service.holder(of(id))).toBeUndefined();
          expect(await service.altered(of(id))).toEqual([]);
          await service.checkpoints.keep(of(id), { seq: 0, digest: 'd', data: '{}' });
          expect(await service.checkpoints.newest(of(id))).toBeUndefined();
          for (const work of [
            () => service.append(of(id), [event('e')]),
            () => service.append(of(id), [], { expectedSeq: -1 }),
            () => service.acquire(of(id)),
            () => service.fork(of(id)),
            () => service.rebuildOpenCalls(of(id)),
          ])
            expect(await refusalOf(work())).toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
        }
        expect((await service.list(key)).map(({ id }) => id)).toEqual([key.id]);
        expect(await service.rebuildOpenCalls()).toBe(1);
        expect(await service.openCalls(key)).toHaveLength(1);
        expect(await service.deleteOlderThan({ app: key.app }, 0)).toBe(0);
      });

      test('are in nobodys way: the next copy under the id is whole, so is a session that is made or brought', async () => {
        const copy = await service.fork(key, { id: 'begun' });
        const { events = [] } = (await service.get(copy.key)) ?? {};
        expect(events.slice(0, MANY)).toEqual((await service.get(key))?.events);
        expect([events.length, copy.lastSeq, copy.title, copy.state]).toEqual([
          MANY + 1,
          MANY + 1,
          'T',
          { n: MANY - 2 },
        ]);
        expect(await service.create(of('made'))).toMatchObject({ lastSeq: 0, state: {} });
        expect(await left('made')).toEqual([1, 0]);
        expect(await service.restore(of('kept'), { initialState: {}, events: [event('n1')] })).toMatchObject({
          lastSeq: 1,
        });
        expect(await left('kept')).toEqual([1, 1]);
      });

      test('go with what deletes, with what is old, and with their user', async () => {
        await service.delete(of('gone'));
        expect(await left('gone')).toEqual([0, 0]);
        expect(await service.deleteOlderThan({ app: 'another' }, Date.now() + 60_000)).toBe(0);
        expect(await left('old')).not.toEqual([0, 0]);
        await database.query(`UPDATE adk_sessions SET updated_at = '2001-01-01 00:00:00' WHERE id = 'old'`);
        expect(await service.deleteOlderThan({ app: key.app }, Date.now() - 60_000, { keepPending: true })).toBe(0);
        expect(await left('old')).toEqual([0, 0]);
        expect(await left('erased')).not.toEqual([0, 0]);
        expect(await service.eraseUser({ app: key.app, userId: key.userId })).toBe(4);
        expect(await left('erased')).toEqual([0, 0]);
        await service.create(key);
        const many = Array.from({ length: MANY }, (_, n) => change(`n${n}`, { n }));
        await service.append(key, many);
      });

      test('at any moment leave all of a copy or none', async () => {
        await service.close();
        await killForks(database, 2, randomFrom(MANY));
        service = await database.open();
      });
    });

    test('are taken away where they cannot be ended', async () => {
      const settle = () => {
        throw new Error('cannot be settled');
      };
      await expect(service.fork(key, { id: 'failed', settle })).rejects.toThrow('cannot be settled');
      expect(await left('failed')).toEqual([0, 0]);
    });

    test('give way to whoever deletes them while they are made', async () => {
      let deleted: Promise<void> | undefined;
      const see = () => {
        deleted ??= service.delete(of('copy'));
      };
      const settle = Object.assign(() => [], { inPages: () => ({ see, end: () => [] }) });
      const made = await service.fork(key, { id: 'copy', settle }).then(
        () => 'made',
        (error) => error.code,
      );
      await deleted;
      // A server may take its time: then the copy was whole before.
      expect(made).toMatch(/^(?:E_SESSION_CONFLICT|E_SESSION_EXISTS|made)$/);
      if (made !== 'made') expect(await left('copy')).toEqual([0, 0]);
    });

    test('are not made of a log that lacks an event', async () => {
      await service.fork(key, { id: 'torn' });
      await database.query(`DELETE FROM adk_events WHERE session_id = 'torn' AND seq = 70`);
      const refused = await refusalOf(service.fork(of('torn'), { id: 'copy of it' }));
      expect(refused).toMatchObject({ status: 'DATA_LOSS', code: 'E_STORE' });
      expect(refused.message).toMatch(/events (?:65 to 128|1 to 256) are there/);
      expect(await left('copy of it')).toEqual([0, 0]);
    });
  });
}
