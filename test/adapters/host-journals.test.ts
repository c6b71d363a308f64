import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { SqlSessionService } from '../../src/adapters/stores/sql/services/session-service.ts';
import type { JournalKey } from '../../src/contracts/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { MemoryJournal } from '../../src/session/index.ts';
import { hostJournalSuite } from '../suites/host-journal.ts';
import { event, refusalOf } from '../suites/session-service.ts';
import type { TestDatabase } from './databases.ts';
import { kyselySqlite, mariadbServer, openKyselySqlite, postgresServer, sqliteFile } from './databases.ts';

const nothing = async () => {};
hostJournalSuite('memory', async () => ({ journal: new MemoryJournal(), close: nothing }));
hostJournalSuite('of a store in memory', async () => {
  const store = new InMemorySessionService();
  return { journal: store.journal, close: () => store.close() };
});
for (const open of [async () => openSqlite(':memory:'), () => openKyselySqlite(':memory:')]) {
  hostJournalSuite('sqlite :memory:', async () => {
    const store = await open();
    return { journal: store.journal, close: () => store.close() };
  });
}

const none = { id: '', length: 0 };
const scope = { app: 'shop', userId: 'ann' };
const of = (sessionId: string, more: Partial<JournalKey> = {}): JournalKey => ({
  ...scope,
  agent: 'bot',
  sessionId,
  ...more,
});

test('ATT-B1 memory keeps the notes of so many sessions, and of those in which something is open by themselves', async () => {
  const journal = new MemoryJournal();
  const note = (id: string, waits: boolean) => journal.append(of(id), [{ n: 1 }], none, { waits });
  await note('open', true);
  for (let n = 0; n <= 10_000; n++) await note(`s${n}`, false);
  const kept = async (id: string) => (await journal.read(of(id), none)).records.length;
  expect(await Promise.all(['open', 's0', 's1', 's10000'].map(kept))).toEqual([1, 0, 1, 1]);
  const mark = await journal.read(of('open'), none);
  await journal.append(of('open'), [{ n: 2 }], { id: mark.id, length: 1 }, { waits: false });
  expect(await Promise.all(['open', 's1', 's2'].map(kept))).toEqual([2, 0, 1]);
});

for (const server of [sqliteFile, kyselySqlite, postgresServer, mariadbServer]) {
  describe.skipIf(server.skip)(server.name, () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await server.make();
    });
    afterAll(() => database?.drop());

    hostJournalSuite(server.name, async () => {
      let store = await database.open();
      // A process may have a file open once through Kysely.
      const other = server === kyselySqlite ? undefined : await database.open();
      return {
        journal: store.journal,
        ...(other ? { other: other.journal } : {}),
        reopen: async () => {
          await store.close();
          store = await database.open();
          return store.journal;
        },
        close: async () => {
          await store.close();
          await other?.close();
          await database.empty();
        },
      };
    });

    describe('goes with the sessions of its store', () => {
      let store: SqlSessionService;
      beforeEach(async () => {
        store = await database.open();
      });
      afterEach(async () => {
        await store.close();
        await database.empty();
      });

      const rows = async () => {
        const [heads, records] = await Promise.all(
          ['adk_journals', 'adk_journal_records'].map((table) =>
            database.query(`SELECT DISTINCT session_id AS id FROM ${table} ORDER BY session_id`),
          ),
        );
        expect(records).toEqual(heads);
        return heads?.map(({ id }) => id);
      };
      const note = (key: JournalKey, waits = false) => store.journal.append(key, [{ n: 1 }, { n: 2 }], none, { waits });

      test('ATT-B1 notes go where their session is deleted, with those below it', async () => {
        for (const id of ['s1', 's2']) await store.create({ ...scope, id });
        for (const key of [of('s1'), of('s1.c1', { agent: 'sub', root: 's1' }), of('s2'), of('s3')]) await note(key);
        await store.delete({ ...scope, id: 's1' });
        expect(await rows()).toEqual(['s2', 's3']);
        // Of a session whose log is kept elsewhere, too.
        await store.delete({ ...scope, id: 's3' });
        expect(await rows()).toEqual(['s2']);
      });

      test('ATT-B1 notes go where their user is erased', async () => {
        await store.create({ ...scope, id: 's1' });
        for (const key of [of('s1'), of('s2'), of('s1', { userId: 'bob' })]) await note(key);
        await store.eraseUser(scope);
        expect(await database.query('SELECT user_id AS id FROM adk_journals')).toEqual([{ id: 'bob' }]);
        expect(await database.query('SELECT DISTINCT user_id AS id FROM adk_journal_records')).toEqual([{ id: 'bob' }]);
      });

      test('ATT-B1 old notes go with old sessions, and by their own age where the store has no log of them', async () => {
        await store.create({ ...scope, id: 'old' });
        await store.create({ ...scope, id: 'new' });
        await note(of('old'));
        await note(of('new'));
        for (let n = 0; n < 120; n++) await note(of(`far-${String(n).padStart(3, '0')}`));
        await note(of('far-open'), true);
        const before = "'2001-01-01 00:00:00'";
        const aged = server.name.includes('sqlite') ? "'2001-01-01T00:00:00.000000'" : before;
        await database.query(`UPDATE adk_sessions SET updated_at = ${aged} WHERE id = 'old'`);
        await database.query(`UPDATE adk_journals SET updated_at = ${aged}`);
        await note(of('far-new'));
        const time = Date.UTC(2002, 0, 1);
        expect(await store.deleteOlderThan({ app: 'elsewhere' }, time)).toBe(0);
        expect(await rows()).toHaveLength(124);
        expect(await store.deleteOlderThan(scope, time, { keepPending: true })).toBe(1);
        expect(await rows()).toEqual(['far-new', 'far-open', 'new']);
        await store.deleteOlderThan({ app: 'shop' }, time);
        expect(await rows()).toEqual(['far-new', 'new']);
      });

      test('ATT-B1 a record that is missing or damaged is told, not read past', async () => {
        await store.journal.append(of('s1'), [{ n: 1 }, { n: 2 }, { n: 3 }], none);
        const read = () => refusalOf(store.journal.read(of('s1'), none));
        await database.query("UPDATE adk_journal_records SET record = '[' WHERE seq = 2");
        expect(await read()).toMatchObject({ status: 'DATA_LOSS', code: 'E_STORE' });
        await database.query('DELETE FROM adk_journal_records WHERE seq = 2');
        expect(await read()).toMatchObject({ status: 'DATA_LOSS', code: 'E_STORE' });
        await database.query('DELETE FROM adk_journal_records WHERE seq = 3');
        expect(await read()).toMatchObject({ message: expect.stringContaining('s1 of bot') });
      });

      test('ATT-B1 a journal ends with its store', async () => {
        await store.create({ ...scope, id: 's1' });
        await store.append({ ...scope, id: 's1' }, [event('e1')]);
        const { journal } = store;
        await store.close();
        expect(await refusalOf(journal.read(of('s1'), none))).toMatchObject({ code: 'E_STORE' });
        store = await database.open();
      });
    });
  });
}
