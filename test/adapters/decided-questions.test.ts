import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, SqliteDialect } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { nodeSqlite, openSql } from '../../src/adapters/stores/sql/index.ts';
import type { SqlSessionService } from '../../src/adapters/stores/sql/services/session-service.ts';
import type { StoredEvent } from '../../src/runtime/index.ts';
import { createEvent } from '../../src/runtime/index.ts';
import { answered, called, decided, ended, listed, put, turned } from '../suites/decided-questions.ts';
import type { TestDatabase } from './databases.ts';
import { kyselySqlite, shared, sqliteFile } from './databases.ts';

const key = { app: 'shop', userId: 'anna', id: 's1' };
const said = (count: number): StoredEvent[] =>
  Array.from({ length: count }, () => createEvent({ author: 'clerk', turnId: 't1' }));

for (const server of [...shared, kyselySqlite]) {
  describe.skipIf(server.skip)(`decided questions of ${server.name}`, () => {
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

    /** As an older version leaves its tables. */
    async function asOlder(...ids: string[]) {
      const named = (column: string) => (ids.length > 0 ? ` WHERE ${column} IN ('${ids.join("', '")}')` : '');
      await database.query(`DELETE FROM adk_question_people${named('session_id')}`);
      await database.query(`DELETE FROM adk_questions${named('session_id')}`);
      await database.query(`UPDATE adk_sessions SET asked = -1${named('id')}`);
    }
    const asked = async () =>
      (await database.query('SELECT id, asked FROM adk_sessions ORDER BY id')).map(({ id, asked }) => `${id} ${asked}`);
    const look = async () => service.decided({ app: 'shop' }, { limit: 10 });
    const short = ({ sessionId, requestId, result }: { sessionId: string; requestId: string; result?: string }) =>
      `${sessionId} ${requestId} ${result}`;

    test('INS-19 logs of an older version are looked through when it is asked, the newest sessions first; what is appended before is among it', async () => {
      for (const id of ['s1', 's2', 's3', 's4']) await service.create({ ...key, id });
      await service.append(key, [
        turned(0),
        called(1, ['c1', 'pay'], ['c2', 'pay']),
        put(2, 'c1#policy', { ruleId: 'r' }),
      ]);
      await service.append(key, [answered(3, 'c1#policy'), decided(4, 'c1'), ended(5, 'c1')]);
      await service.append({ ...key, id: 's2' }, [turned(0), called(1, ['c3', 'pay']), answered(2, 'c3#policy')]);
      await service.append({ ...key, id: 's2' }, [
        createEvent({ author: 'user', actions: { rewound: { through: 2 } } }),
      ]);
      // One that is longer than what is read at a time, with a rewind in it.
      const long = { ...key, id: 's3' };
      await service.append(long, [turned(0), called(1, ['c4', 'pay'], ['c5', 'pay']), ...said(700)]);
      await service.append(long, [answered(8, 'c4#policy'), answered(9, 'c5#policy')]);
      await service.append(long, [createEvent({ author: 'user', actions: { rewound: { through: 703 } } })]);
      await service.append(long, [ended(10, 'c4'), put(10, 'c5#policy')]);
      const before = await look();
      expect(before.decided.map(short)).toEqual(['s3 c4#policy succeeded', 's1 c1#policy succeeded']);
      await asOlder();
      // It changes nothing of what was not looked through, and none of it is lost.
      await service.append(key, [answered(11, 'c2#policy')]);
      await service.append(key, [ended(12, 'c2', { isError: true })]);
      expect(await asked()).toEqual(['s1 -1', 's2 -1', 's3 -1', 's4 -1']);
      const [one, two] = await Promise.all([look(), look()]);
      expect(one).toEqual(two);
      expect(one.unread).toBeUndefined();
      expect(one.decided.map(short)).toEqual(['s1 c2#policy failed', ...before.decided.map(short)]);
      expect(one.decided.slice(1)).toEqual(before.decided);
      expect(await asked()).toEqual(['s1 0', 's2 0', 's3 1', 's4 0']);
      expect((await listed(service, { answeredBy: 'bert' })).map(short)).toEqual(one.decided.map(short));
    });

    test('INS-19 of what is left it is said how much; a damaged log hides no other; upkeep looks through all', async () => {
      for (const id of ['s1', 's2', 's3']) {
        await service.create({ ...key, id });
        await service.append({ ...key, id }, [turned(0), called(1, ['c1', 'pay']), ...said(10_500)]);
        await service.append({ ...key, id }, [answered(2, 'c1#policy')]);
      }
      const found = async () => {
        const { decided, unread } = await look();
        return [decided.map(({ sessionId }) => sessionId), unread];
      };
      await asOlder();
      expect(await found()).toEqual([['s3', 's2'], 1]);
      expect(await found()).toEqual([['s3', 's2', 's1'], undefined]);
      for (const id of ['s4', 's5']) {
        await service.create({ ...key, id });
        await service.append({ ...key, id }, [turned(0), answered(3, 'c1#policy')]);
      }
      await asOlder('s4', 's5');
      await database.query(
        "UPDATE adk_events SET custom_metadata = '{\"answers\":{' WHERE session_id = 's5' AND seq = 2",
      );
      expect(await found()).toEqual([['s4', 's3', 's2', 's1'], 1]);
      await service.delete({ ...key, id: 's5' });
      await asOlder();
      expect(await service.rebuildOpenCalls()).toBe(4);
      expect(await asked()).toEqual(['s1 1', 's2 1', 's3 1', 's4 1']);
      expect(await found()).toEqual([['s4', 's3', 's2', 's1'], undefined]);
    });

    test('INS-17 no row outlives its session', async () => {
      const rows = async () =>
        (await database.query('SELECT request_id FROM adk_questions')).length +
        (await database.query('SELECT request_id FROM adk_question_people')).length;
      await service.create(key);
      await service.append(key, [turned(0), called(1, ['c1', 'pay'], ['c2', 'pay']), put(2, 'c2#policy')]);
      await service.append(key, [answered(3, 'c1#policy'), answered(3, 'c1#policy', { by: 'carl' })]);
      expect(await rows()).toBe(4);
      await service.append(key, [ended(4, 'c2', { isError: true, errorType: 'cancelled' })]);
      expect(await rows()).toBe(3);
      await service.fork(key, { id: 'copy' });
      expect(await rows()).toBe(6);
      expect(await service.deleteOlderThan({}, Date.now() + 60_000)).toBe(2);
      expect(await rows()).toBe(0);
    });
  });
}

test('INS-20 an append that neither asks nor answers nor ends a call that was asked about takes no statement more', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'decided-'));
  const queries: string[] = [];
  const database = new Kysely<unknown>({
    dialect: new SqliteDialect({ database: nodeSqlite(join(folder, 'log.db')) }),
    log: ({ query }) => void queries.push(query.sql),
  });
  try {
    const service = await openSql(database);
    await service.create(key);
    const statements = async (...events: StoredEvent[]) => {
      queries.length = 0;
      await service.append(key, events);
      return queries.filter((sql) => /question|SELECT/i.test(sql)).length;
    };
    expect(await statements(turned(0))).toBe(0);
    expect(await statements(called(1, ['c1', 'pay']))).toBe(0);
    expect(await statements(decided(2, 'c1', { by: 'policy' }))).toBe(0);
    expect(await statements(ended(3, 'c1'))).toBe(0);
    expect(await statements(called(4, ['c2', 'pay']))).toBe(0);
    // What was asked and its tool are read, and it is written; once it is answered, so is whose answer it was.
    expect(await statements(put(5, 'c2#policy'))).toBe(3);
    expect(await statements(answered(6, 'c2#policy'))).toBe(5);
    expect(await statements(ended(7, 'c2'))).toBe(5);
    expect(await statements(called(8, ['c3', 'pay']))).toBe(0);
    expect(await statements(decided(9, 'c3', { by: 'policy' }), ended(9, 'c3'))).toBe(0);
  } finally {
    await database.destroy();
    rmSync(folder, { recursive: true });
  }
});

test('INS-22 a search that finds little ends after so many rows, and the next page continues it', async () => {
  const database = await sqliteFile.make();
  const service = await database.open();
  try {
    await service.create(key);
    await service.append(key, [turned(0), called(1, ['c1', 'rare']), answered(2, 'c1#policy')]);
    await database.query(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
      INSERT INTO adk_questions (app_name, user_id, session_id, request_id, call_id, tool, action, edited, decided_at, people, answerers)
      SELECT 'shop', 'anna', 's1', 'x' || i, 'x', 'pay', 'accept', 0, 4000000000000 + i, '[]', '[]' FROM n`);
    const first = await service.decided({ app: 'shop' }, { limit: 5, tool: 'rare' });
    expect([first.decided, typeof first.after]).toEqual([[], 'string']);
    const { after = '' } = first;
    const next = await service.decided({ app: 'shop' }, { limit: 5, tool: 'rare', after });
    expect(next.decided.map(({ requestId }) => requestId)).toEqual(['c1#policy']);
    expect(next.after).toBeUndefined();
  } finally {
    await service.close();
    await database.drop();
  }
});
