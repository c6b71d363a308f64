import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { settling } from '../../src/adapters/adk/index.ts';
import {
  effectiveEvents,
  exportSession,
  hasMaintenance,
  importSession,
  rewind,
  rewoundBy,
} from '../../src/adapters/stores/common/maintenance.ts';
import { migrateSql, openSql } from '../../src/adapters/stores/sql/index.ts';
import type { SqlSessionService } from '../../src/adapters/stores/sql/services/session-service.ts';
import { createEvent, InMemorySessionService } from '../../src/runtime/index.ts';
import { collect } from '../runtime/kit.ts';
import { answer, call, change, event, fullEvent, key, other, refusalOf } from '../suites/session-service.ts';
import type { TestDatabase } from './databases.ts';
import { kyselySqlite, shared } from './databases.ts';

const turn = (id: string) => event(id, { author: 'user', actions: { turn: { start: 'bot' } } });

for (const server of [...shared, kyselySqlite]) {
  describe.skipIf(server.skip)(`upkeep of ${server.name}`, () => {
    let database: TestDatabase;
    let service: SqlSessionService;

    beforeAll(async () => {
      database = await server.make();
    });
    afterAll(() => database?.drop());
    beforeEach(async () => {
      service = await database.open();
    });
    afterEach(async () => {
      await service.close();
      await database.empty();
    });

    const callsOf = async (of = key) => (await service.openCalls(of)).map(({ callId }) => callId);

    describe('rewind', () => {
      beforeEach(async () => {
        await service.create(key, { state: { n: 0, kept: 1, 'app:x': 1 } });
        await service.append(key, [turn('e1'), change('e2', { n: 1, 'app:x': 2 }), call('e3', 'long')]);
        await service.append(key, [turn('e4'), change('e5', { n: 2, kept: null, extra: 1, 'app:x': 3 })]);
        await service.append(key, [answer('e6', 'long'), call('e7', 'c2')]);
      });

      test('S0-57 goes back to where a turn began: own state and open calls too; shared state stays', async () => {
        expect(await callsOf()).toEqual(['c2']);
        const marker = (await rewind(service, key, 3))!;
        expect(rewoundBy(marker)).toEqual({ through: 3 });
        const record = (await service.get(key))!;
        expect(record.state).toEqual({ n: 1, kept: 1, 'app:x': 3 });
        expect(await callsOf()).toEqual(['long']);
        expect(effectiveEvents(record.events).map(({ id }) => id)).toEqual(['e1', 'e2', 'e3', marker.id]);
        // What was open in the cut is settled, its turn is ended, then comes the marker: nothing is deleted.
        expect(record.events.map(({ id }) => id).slice(0, 8)).toEqual([
          ...['e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7'],
          'res:c2',
        ]);
        expect(record.events[8]?.actions.end).toEqual({ reason: 'aborted' });
        expect(record.events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        await service.append(key, [turn('e8'), change('e9', { n: 9 }), answer('e10', 'long')]);
        expect((await service.get(key))?.state).toEqual({ n: 9, kept: 1, 'app:x': 3 });
        expect(await callsOf()).toEqual([]);
        // And once more, past the first marker.
        await rewind(service, key, 0);
        expect((await service.get(key))?.state).toEqual({ n: 0, kept: 1, 'app:x': 3 });
        expect(await callsOf()).toEqual([]);
        expect(await rewind(service, key, (await service.get(key))!.lastSeq)).toBeUndefined();
      });

      test('the index of open calls is the same when it is made anew, in a fork and in a copy', async () => {
        await rewind(service, key, 3);
        await database.query('DELETE FROM adk_open_calls');
        expect(await callsOf()).toEqual([]);
        await service.rebuildOpenCalls(key);
        expect(await callsOf()).toEqual(['long']);
        await database.query('DELETE FROM adk_open_calls');
        await service.create(other);
        await service.checkpoints.keep(key, { seq: 3, digest: '', data: '' });
        expect(await service.rebuildOpenCalls()).toBe(2);
        expect(await callsOf()).toEqual(['long']);
        expect(await service.checkpoints.newest(key)).toBeUndefined();
        const fork = await service.fork(key, { settle: () => [] });
        expect(await callsOf(fork.key)).toEqual(['long']);
        expect(fork.state).toEqual((await service.get(key))?.state);
        const copy = await importSession(service, { app: 'shop', userId: 'ann' }, exportSession(service, key));
        expect(await callsOf(copy.key)).toEqual(['long']);
        expect((await service.get(copy.key))?.state).toEqual(fork.state);
      });

      test('only to the start of a turn, and only when nothing runs', async () => {
        const refused = await refusalOf(rewind(service, key, 2));
        expect(refused).toMatchObject({ status: 'INVALID_ARGUMENT', code: 'E_BAD_INPUT' });
        expect(refused.message).toContain('0, 3');
        expect(await refusalOf(rewind(service, key, 99))).toMatchObject({ code: 'E_BAD_INPUT' });
        expect(await refusalOf(rewind(service, other, 0))).toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
        const lease = await service.acquire(key);
        expect(await refusalOf(rewind(service, key, 3))).toMatchObject({ code: 'E_SESSION_BUSY' });
        await lease.release();
        await rewind(service, key, 3);
        // What was cut is no place to go to.
        expect(await refusalOf(rewind(service, key, 5))).toMatchObject({ code: 'E_BAD_INPUT' });
        expect((await service.get(key))?.lastSeq).toBe(10);
      });
    });

    test('S2-26 a session goes out and comes back as lines, to the byte; shared state does not travel', async () => {
      await service.create(key, { state: { n: 0, 'app:a': 'now' }, title: 'T \u0000' });
      const long = Array.from({ length: 1100 }, (_, n) => event(`long${n}`));
      await service.append(key, [fullEvent('e1'), change('e2', { n: 1, 'app:a': 'then' }), ...long]);
      await service.append(key, [change('e3', { n: 2 })]);
      await service.append(key, [change('e4', { 'app:a': 'last' })]);
      const out = await collect(exportSession(service, key));
      expect(out.join('')).not.toContain('\n');
      const copy = await importSession(service, { app: 'shop', userId: 'bob', id: 'copy' }, [...out, '']);
      expect(copy).toMatchObject({ lastSeq: 1104, initialState: { n: 0 } });
      const again = await collect(exportSession(service, copy.key));
      expect(again.slice(1)).toEqual(out.slice(1));
      const [source, target] = [(await service.get(key))!, (await service.get(copy.key))!];
      const own = (state: object) => Object.entries(state).filter(([name]) => !/^(app|user):/.test(name));
      expect(own(target.state)).toEqual(own(source.state));
      expect(target.state['app:a']).toBe('last');
      expect(target.title).toBe(source.title);
      const memory = new InMemorySessionService();
      expect(hasMaintenance(memory)).toBe(false);
      const elsewhere = await importSession(memory, { app: 'shop', userId: 'ann' }, out);
      expect((await collect(exportSession(memory, elsewhere.key))).slice(1)).toEqual(out.slice(1));
      const bad: [string[], string][] = [
        [[], 'it is empty'],
        [out.slice(0, 2), 'it has 1 of 1104 events'],
        [out.slice(1), 'its first line'],
        [[out[0]!, out[2]!], 'where 1 belongs'],
        [['{"format":"coxswain.session","version":3}'], 'version 3'],
        [[out[0]!, '{'], 'line 2 is no JSON'],
        [[out[0]!, '{}'], 'line 2 has no events'],
      ];
      for (const [given, why] of bad) {
        const refused = await refusalOf(importSession(service, { app: 'shop', userId: 'cleo' }, given));
        expect(refused).toMatchObject({ status: 'INVALID_ARGUMENT', code: 'E_BAD_INPUT' });
        expect(refused.message).toContain(why);
      }
      expect(await service.list({ app: 'shop', userId: 'cleo' })).toEqual([]);
      expect(await refusalOf(importSession(service, { ...key }, out))).toMatchObject({ code: 'E_SESSION_EXISTS' });
      expect(await refusalOf(collect(exportSession(service, other)))).toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
    });

    test('F19 no copy ever has an open call: fork and import settle in the transaction that makes it', async () => {
      await service.create(key);
      await service.append(key, [call('e1', 'c1', 'c2')]);
      const out = await collect(exportSession(service, key));
      service.append = () => Promise.reject(new Error('a second transaction'));
      const settle = settling(service);
      const fork = await service.fork(key, { settle });
      const copy = await importSession(service, { app: 'shop', userId: 'bob' }, out, { settle });
      const asCopy = await importSession(service, { app: 'shop', userId: 'dora' }, out, { as: 'copy' });
      const moved = await importSession(service, { app: 'shop', userId: 'emil' }, out, { as: 'move' });
      const openIn = async ({ key: { userId } }: { key: { userId: string } }) =>
        (await service.openCalls({ app: 'shop', userId })).length;
      expect([await openIn(asCopy), asCopy.lastSeq]).toEqual([0, copy.lastSeq]);
      expect(await openIn(moved)).toBeGreaterThan(0);
      const memory = new InMemorySessionService();
      const elsewhere = await importSession(memory, { app: 'shop', userId: 'ann' }, out, { settle });
      for (const [store, made] of [
        [service, fork],
        [service, copy],
        [memory, elsewhere],
      ] as const) {
        expect(made.lastSeq).toBe(3);
        expect(await store.openCalls(made.key)).toEqual([]);
      }
      expect(await service.openCalls(key)).toHaveLength(2);
      for (const wrong of [[event('e1')], [event('')]]) {
        const refused = importSession(service, { app: 'shop', userId: 'cleo' }, out, { settle: () => wrong });
        expect(['E_EVENT_EXISTS', 'E_ID']).toContain((await refusalOf(refused)).code);
      }
      expect(await service.list({ app: 'shop', userId: 'cleo' })).toEqual([]);
    });

    test('SOAK-6 deleteOlderThan takes the sessions of sub-agents along, also one that asks', async () => {
      await service.create(key);
      await service.append(key, [call('e1', 'c1')]);
      await service.append(key, [answer('e2', 'c1')]);
      await service.create({ ...key, id: 's1.c1' });
      await service.append({ ...key, id: 's1.c1' }, [call('e3', 'open')]);
      await service.create({ ...key, id: 's1.c9' });
      await service.append({ ...key, id: 's1.c9' }, [call('e4', 'open')]);
      const time = Date.now() + 60_000;
      expect(await service.deleteOlderThan({ app: 'shop' }, time, { keepPending: true })).toBe(2);
      // Nobody has called it: it is a session of its own, and asks.
      expect((await service.list({ app: 'shop' })).map(({ id }) => id)).toEqual(['s1.c9']);
    });

    test('S2-25 what is older than a time goes, with all its rows, a hundred at a time', async () => {
      for (let n = 0; n < 110; n++) await service.create({ ...key, id: `s${n}` });
      const running = await service.acquire({ ...key, id: 's9' });
      await service.create({ ...key, app: 'bank' });
      await service.append({ ...key, id: 's7' }, [call('e1', 'c1')]);
      expect(await service.deleteOlderThan({}, 0)).toBe(0);
      await new Promise((resolve) => setTimeout(resolve, 5));
      const time = new Date();
      await new Promise((resolve) => setTimeout(resolve, 5));
      await service.append({ ...key, id: 's8' }, [event('fresh')]);
      expect(await service.deleteOlderThan({ app: 'shop', userId: 'ann' }, time, { keepPending: true })).toBe(107);
      expect((await service.list({ app: 'shop' })).map(({ id }) => id).sort()).toEqual(['s7', 's8', 's9']);
      await running.release();
      expect(await service.deleteOlderThan({ app: 'shop' }, time)).toBe(2);
      expect(await service.openCalls({ app: 'shop' })).toEqual([]);
      expect(await service.list({ app: 'bank' })).toHaveLength(1);
      expect(await database.query('SELECT id FROM adk_events')).toHaveLength(1);
      expect(await refusalOf(service.deleteOlderThan({ app: '../x' }, time))).toMatchObject({ code: 'E_ID' });
      for (const none of [Number.NaN, new Date(Number.NaN)]) {
        expect(await refusalOf(service.deleteOlderThan({}, none))).toMatchObject({ code: 'E_BAD_INPUT' });
      }
      expect(await service.deleteOlderThan({}, new Date(-8.64e15))).toBe(0);
      for (const late of [Date.now() + 1e6 + 0.5, new Date(8.64e15), Number.POSITIVE_INFINITY]) {
        await service.create({ ...key, app: 'old' });
        expect(await service.deleteOlderThan({ app: 'old' }, late)).toBe(1);
      }
    });

    test('F27 damaged rows are told as such, with their place; what is whole beside them can be read', async () => {
      await service.create(key, { state: { n: 1 } });
      await service.append(key, [event('e1'), change('e2', { n: 2 }), event('e3')]);
      await service.create(other, { state: { n: 1 } });
      const told = async (work: Promise<unknown>, what: string) => {
        const refused = await refusalOf(work);
        expect(refused).toMatchObject({ status: 'DATA_LOSS', code: 'E_STORE' });
        expect(refused.message).toContain(`shop/ann/s1 is damaged: ${what}`);
      };
      // Whose turn it is is not guessed.
      const nobodys = JSON.stringify({ coxswain: { actions: { terms: { principal: { roles: ['boss'] } } } } });
      await database.query(`UPDATE adk_events SET custom_metadata = '${nobodys}' WHERE id = 'e3'`);
      await told(service.get(key), 'event 3');
      await database.query("UPDATE adk_events SET custom_metadata = NULL WHERE id = 'e3'");
      await database.query("UPDATE adk_events SET actions = '{\"state_del' WHERE id = 'e2'");
      await told(service.get(key), 'event 2 cannot be read');
      await told(collect(exportSession(service, key)), 'event 2');
      await told(service.rebuildOpenCalls(key), 'event 2');
      expect((await service.get(key, { after: 2 }))?.events).toHaveLength(1);
      await database.query("DELETE FROM adk_events WHERE id = 'e2'");
      await told(service.get(key), '2 of its events 1 to 3 are there');
      for (const text of ['nonsense', '[]', '3']) {
        await database.query(`UPDATE adk_sessions SET state = '${text}' WHERE id = 's1'`);
        await told((async () => (await service.get(key, { limit: 0 }))?.state)(), 'its state');
        await told(service.append(key, [change('e9', { n: 9 })]), 'its state');
      }
      expect((await service.get(other))?.state).toEqual({ n: 1 });
      await service.delete(key);
      expect(await service.get(key)).toBeUndefined();
    });

    test('S0-58 of a large batch the taken id is named, and nothing is stored', async () => {
      await service.create(key);
      await service.append(key, [event('taken')]);
      const many = Array.from({ length: 150 }, (_, n) => event(`e${n}`));
      const refused = service.append(key, [...many, event('taken'), event('last')]);
      await expect(refused).rejects.toMatchObject({ code: 'E_EVENT_EXISTS', details: { id: 'taken' } });
      const twice = service.append(key, [event('x1'), event('x2'), event('x1')]);
      await expect(twice).rejects.toMatchObject({ code: 'E_EVENT_EXISTS', details: { id: 'x1' } });
      expect((await service.get(key))?.lastSeq).toBe(1);
    });

    test('S0-58 times that no calendar has, and odd call ids, read back as they were', async () => {
      await service.create(key);
      const times = [-99_999_999_999_999, -31_000_000_000_000, 0, 0.5, 253_402_300_799_999, 9e15];
      await service.append(
        key,
        times.map((timestamp, n) => event(`e${n}`, { timestamp })),
      );
      const read = (await service.get(key))!.events.map(({ timestamp }) => timestamp);
      expect(read).toEqual(times);
      const odd = ['"quoted"', 'a\u0000b', 'trailing ', 'Case', 'case', 'émoji 🚣🏽'];
      await service.append(key, [call('calls', ...odd)]);
      expect(await callsOf()).toEqual(odd);
      await service.append(key, [answer('half', ...odd.slice(0, 4))]);
      expect(await callsOf()).toEqual(odd.slice(4));
    });

    test.skipIf(server.name === 'kysely sqlite')(
      'S2-09 one version down and up: what the first had stays',
      async () => {
        const own = await server.make();
        const url = own.url as string;
        try {
          const before = await own.open();
          await before.create(key, { state: { n: 1 } });
          await before.append(key, [fullEvent('e1'), call('e2', 'c9')]);
          await before.artifacts.save(key, 'a', { mimeType: 'text/plain', data: 'aGk=' });
          const place = { app: key.app, userId: key.userId, agent: 'bot', sessionId: key.id };
          await before.journal.append(place, [{ n: 1 }], { id: '', length: 0 });
          const out = await collect(exportSession(before, key));
          await before.close();
          const { to: newest } = await migrateSql(url);
          expect(await migrateSql(url, { target: 1 })).toEqual({ from: newest, to: 1 });
          await expect(own.query('SELECT * FROM adk_artifacts')).rejects.toThrow(/adk_artifacts/);
          expect(await migrateSql(url)).toEqual({ from: 1, to: newest });
          expect(await migrateSql(url)).toEqual({ from: newest, to: newest });
          const after = await own.open();
          expect(await collect(exportSession(after, key))).toEqual(out);
          expect((await after.openCalls({ app: 'shop' })).map(({ callId }) => callId)).toContain('c9');
          expect(await after.artifacts.save(key, 'a', { mimeType: 'text/plain', data: 'aGk=' })).toBe(1);
          expect(await after.journal.read(place, { id: '', length: 0 })).toEqual({ id: '', records: [] });
          await after.close();
          for (const target of [-1, 99, 0.5]) {
            expect(await refusalOf(migrateSql(url, { target }))).toMatchObject({ code: 'E_BAD_INPUT' });
          }
        } finally {
          await own.drop();
        }
      },
    );

    test.skipIf(server.name === 'kysely sqlite')(
      'APP-B2 turns that are open in the logs of an older version are found, and no others',
      async () => {
        const own = await server.make();
        const url = own.url as string;
        const turn = (id: string) =>
          createEvent({ id, turnId: id, author: 'user', actions: { turn: { start: 'clerk' } } });
        const end = (id: string) => createEvent({ id, author: 'clerk', actions: { end: { reason: 'completed' } } });
        const again = (id: string) => createEvent({ id, turnId: 't1', author: 'user', actions: { reopened: true } });
        const word = (id: string) => createEvent({ id, author: 'user', actions: { steer: true } });
        const logs = {
          waits: [turn('t1'), call('e2', 'c1')],
          over: [turn('t1'), end('e2')],
          spoken: [turn('t1'), end('e2'), word('e3')],
          again: [turn('t1'), end('e2'), again('e3')],
          second: [turn('t1'), end('e2'), turn('t2'), word('e4')],
          bare: [word('e1')],
          none: [],
        };
        try {
          const before = await own.open();
          for (const [id, events] of Object.entries(logs)) {
            await before.create({ ...key, id });
            await before.append({ ...key, id }, events);
          }
          const open = async (store: typeof before) =>
            (await store.openTurns({ app: key.app })).map(({ key: at, agent }) => `${at.id} ${agent}`).sort();
          expect(await open(before)).toEqual(['again clerk', 'second clerk', 'waits clerk']);
          await before.close();
          await migrateSql(url, { target: 2 });
          await migrateSql(url);
          const after = await own.open();
          expect(await open(after)).toEqual(['again ', 'second ', 'waits ']);
          await after.append({ ...key, id: 'waits' }, [end('e9')]);
          expect(await after.rebuildOpenCalls()).toBe(7);
          expect(await open(after)).toEqual(['again clerk', 'second clerk']);
          await after.close();
        } finally {
          await own.drop();
        }
      },
    );

    test.skipIf(server.name.includes('sqlite'))(
      'S2-09 migration up makes the tables, down drops them, with what is in them',
      async () => {
        const own = await server.make();
        const url = own.url as string;
        const tables = async () =>
          (
            await own.query(
              `SELECT table_name AS name FROM information_schema.tables
             WHERE table_schema = ${own.name === 'postgres' ? 'current_schema()' : 'database()'}`,
            )
          )
            .map(({ name }) => name)
            .sort();
        const first = ['adk_app_states', 'adk_events', 'adk_open_calls', 'adk_schema_version', 'adk_sessions'];
        const second = ['adk_memories', 'adk_artifacts', 'adk_artifact_versions'];
        const later = [
          ...['adk_open_turns', 'adk_journals', 'adk_journal_records', 'adk_checkpoints', 'adk_dead_holders'],
          ...['adk_memory_vectors', 'adk_session_facts', 'adk_questions', 'adk_question_people'],
        ];
        const all = [...first, ...second, ...later, 'adk_user_states'].sort();
        try {
          expect(await refusalOf(openSql(url, { migrate: false }))).toMatchObject({ status: 'FAILED_PRECONDITION' });
          await Promise.all([migrateSql(url), migrateSql(url), migrateSql(url)]);
          expect(await tables()).toEqual(all);
          await (await openSql(url, { migrate: false })).close();
          const { to } = await migrateSql(url);
          await migrateSql(url, { target: to - 1 });
          expect(await tables()).toEqual(all.filter((name) => !name.startsWith('adk_question')));
          await migrateSql(url);
          // Whoever has died in the midst of a step leaves it to the next, with what is done already.
          await own.query(`UPDATE adk_schema_version SET version = ${to - 1}`);
          expect(await migrateSql(url)).toEqual({ from: to - 1, to });
          expect(await tables()).toEqual(all);
          await migrateSql(url, { target: 0 });
          await migrateSql(url, { target: 0 });
          expect(await tables()).toEqual([]);
          await own.query('CREATE TABLE adk_sessions (id integer)');
          const stranger = await refusalOf(openSql(url));
          expect(stranger).toMatchObject({ status: 'FAILED_PRECONDITION', code: 'E_STORE' });
          expect(stranger.message).toContain('another program');
          await own.query('DROP TABLE adk_sessions');
          await migrateSql(url);
          await own.query('UPDATE adk_schema_version SET version = 99');
          expect((await refusalOf(openSql(url))).message).toContain('upgrade the package');
        } finally {
          await own.drop();
        }
      },
    );
  });
}
