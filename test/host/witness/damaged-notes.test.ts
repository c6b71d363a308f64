import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { openSqlite } from '../../../src/adapters/stores/sql/open-sqlite.ts';
import type { AgentSession, CoxswainError, JournalRecord } from '../../../src/contracts/index.ts';
import type { AgentHost } from '../../../src/index.ts';
import { createHost, rulePolicy } from '../../../src/index.ts';
import { lyingExecutor } from '../../../src/testing/index.ts';
import { all, endOf, notingTool, only } from '../kit.ts';

const boss = { id: 'boss', roles: ['boss'] };
const policy = rulePolicy([
  { tool: 'pay', outcome: 'ask', approvers: { roles: ['boss'] } },
  { tool: 'free', outcome: 'allow' },
]);

interface NotedRow {
  seq: number;
  record: JournalRecord;
}

/** A store in a file, one executor, and hosts one after the other. The file's rows are read and written by hand. */
function shop(others = 1) {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-'));
  const path = join(folder, 'notes.db');
  const pay = notingTool('pay');
  const free = notingTool('free');
  const source = lyingExecutor({
    calls: [
      ...Array.from({ length: others }, (_, n) => ({ id: `f${n}`, name: 'free', args: { n } })),
      { id: 'c2', name: 'pay', args: { eur: 10 } },
    ],
  });
  const withHost = async <T>(work: (host: Host) => Promise<T>): Promise<T> => {
    const store = openSqlite(path);
    const host = createHost({
      app: 'shop',
      agents: [source],
      tools: [pay.tool, free.tool],
      policy,
      store,
      warn: () => {},
    });
    try {
      return await work(host);
    } finally {
      await host.close();
      await store.close();
    }
  };
  const sql = <T>(work: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(path);
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    runs: pay.runs,
    free: free.runs,
    withHost,
    sql,
    rows: (sessionId = 's'): NotedRow[] =>
      sql((database) =>
        database
          .prepare('SELECT seq, record FROM adk_journal_records WHERE session_id = ? ORDER BY seq')
          .all(sessionId)
          .map(({ seq, record }) => ({ seq: Number(seq), record: JSON.parse(String(record)) as JournalRecord })),
      ),
    write: (seq: number, record: unknown, sessionId = 's') =>
      sql((database) =>
        database
          .prepare('UPDATE adk_journal_records SET record = ? WHERE session_id = ? AND seq = ?')
          .run(JSON.stringify(record), sessionId, seq),
      ),
    /** A call has run, and somebody has said yes to another one that has not run yet. */
    answered: (sessionId = 's') =>
      withHost(async (host) => {
        const session = await host.open('liar', { sessionId });
        await all(session.stream('go'));
        await session.respond((await only(session)).requestId, { kind: 'approve', by: boss });
      }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

type Host = Pick<AgentHost, 'open'>;
const opened = (host: Host): Promise<AgentSession> => host.open('liar', { sessionId: 's' });

const refusal = (work: Promise<unknown>): Promise<CoxswainError> =>
  work.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: CoxswainError) => error,
  );

const without = (record: JournalRecord, member: string) =>
  Object.fromEntries(Object.entries(record).filter(([key]) => key !== member));

const lost = (seq: number) => ({
  status: 'DATA_LOSS',
  code: 'E_STORE',
  message: expect.stringMatching(new RegExp(`session shop/local/s of liar is damaged: record ${seq} `)),
  details: { key: { app: 'shop', userId: 'local', sessionId: 's', agent: 'liar' }, seq },
});

describe('ATK-10 a note that cannot be read', () => {
  test('names session and record, whichever of its members is missing, and no call runs by the other notes', async () => {
    using at = shop();
    await at.answered();
    const rows = at.rows();
    expect(new Set(rows.map(({ record }) => record.kind))).toEqual(
      new Set(['terms', 'go', 'settled', 'question', 'answer']),
    );
    let tried = 0;
    for (const { seq, record } of rows) {
      for (const member of Object.keys(record)) {
        at.write(seq, without(record, member));
        await at.withHost(async (host) => {
          expect(await refusal(opened(host)), `${record.kind} without ${member}`).toMatchObject(lost(seq));
        });
        tried++;
      }
      at.write(seq, record);
    }
    expect(tried).toBeGreaterThan(20);
    expect(at.runs).toEqual([]);
    expect(at.free).toHaveLength(1);
  });

  const changed: [string, (record: JournalRecord) => unknown, RegExp][] = [
    [
      'of a kind of a later version',
      (record) => ({ ...record, kind: 'pardon' }),
      /is of kind "pardon", .*later version/,
    ],
    ['of a later version', (record) => ({ ...record, v: 2 }), /is of version 2, .*later version/],
    ['of a version that is none', (record) => ({ ...record, v: 'one' }), /is of version "one"/],
    ['with a member of a later version', (record) => ({ ...record, onlyUntil: 5 }), /has "onlyUntil", .*later version/],
    ['whose kind is inherited', (record) => ({ ...record, kind: 'constructor' }), /is of kind "constructor"/],
    ['whose kind is no text', (record) => ({ ...record, kind: 3 }), /has no kind/],
    ['that is another kind', () => ({ kind: 'back', callId: 'c2', digest: 'd' }), /its id is not text/],
  ];
  test.each(changed)('%s is refused, in each place', async (_, change, words) => {
    using at = shop();
    await at.answered();
    for (const { seq, record } of at.rows()) {
      at.write(seq, change(record));
      await at.withHost(async (host) => {
        const refused = await refusal(opened(host));
        expect(refused).toMatchObject(lost(seq));
        expect(refused.message).toMatch(words);
      });
      at.write(seq, record);
    }
    expect(at.runs).toEqual([]);
  });

  const nested: [string, string, (record: Record<string, Record<string, unknown>>) => void][] = [
    ['an action that is no word', 'answer', ({ answer }) => Object.assign(answer ?? {}, { action: true })],
    ['a person without an id', 'answer', ({ answer }) => Object.assign(answer ?? {}, { by: { roles: ['boss'] } })],
    [
      'roles that are no list',
      'answer',
      ({ answer }) => Object.assign(answer ?? {}, { by: { id: 'x', roles: 'boss' } }),
    ],
    [
      'a quorum that is a text',
      'question',
      ({ question }) => Object.assign(question?.approvers ?? {}, { quorum: '2' }),
    ],
    ['obligations that are a text', 'question', ({ question }) => Object.assign(question ?? {}, { approvers: 'boss' })],
    ['a mode that is a list', 'terms', ({ terms }) => Object.assign(terms ?? {}, { permissionMode: ['plan'] })],
    ['a decision that is no word', 'go', ({ decision }) => Object.assign(decision ?? {}, { outcome: 1 })],
  ];
  test.each(nested)('so is %s in a note (%s)', async (_, kind, change) => {
    using at = shop();
    await at.answered();
    const row = at.rows().find(({ record }) => record.kind === kind);
    if (!row) throw new Error(`no ${kind} was noted`);
    const record = structuredClone(row.record) as Record<string, Record<string, unknown>>;
    change(record);
    at.write(row.seq, record);
    await at.withHost(async (host) => {
      expect(await refusal(opened(host))).toMatchObject(lost(row.seq));
    });
  });

  test('of one session stops that session alone, and once it is put right nothing has counted twice', async () => {
    using at = shop();
    await at.answered();
    const [first, ...others] = at.rows();
    const last = others.at(-1);
    if (!first || !last) throw new Error('nothing was noted');
    at.write(last.seq, { ...last.record, kind: 'x' });
    await at.withHost(async (host) => {
      for (let looks = 0; looks < 3; looks++) expect(await refusal(opened(host))).toMatchObject(lost(last.seq));
      const other = await host.open('liar', { sessionId: 'other' });
      expect(endOf(await all(other.stream('go'))).reason).toBe('input_required');
      at.write(last.seq, last.record);
      const session = await opened(host);
      expect(endOf(await all(session.stream({ kind: 'continue' }))).reason).toBe('completed');
      expect(at.runs).toEqual([{ eur: 10 }]);
    });
  });

  test('that another host writes while a session is open is refused, too', async () => {
    using at = shop();
    await at.withHost(async (host) => {
      const session = await opened(host);
      await all(session.stream('go'));
      const { seq } = at.rows().at(-1) ?? { seq: 0 };
      at.sql((database) => {
        database.exec(`INSERT INTO adk_journal_records (app_name, user_id, session_id, agent, seq, record)
          SELECT app_name, user_id, session_id, agent, ${seq + 1}, '{"kind":"later"}' FROM adk_journals`);
        database.exec(`UPDATE adk_journals SET last_seq = ${seq + 1}`);
      });
      expect(await refusal(session.pending())).toMatchObject(lost(seq + 1));
      const [question] = at.rows().filter(({ record }) => record.kind === 'question');
      if (!question) throw new Error('no question was noted');
      const { requestId } = question.record.question as { requestId: string };
      expect(await refusal(all(session.stream({ kind: 'continue' })))).toMatchObject(lost(seq + 1));
      expect(await refusal(session.respond(requestId, { kind: 'approve', by: boss }))).toMatchObject(lost(seq + 1));
    });
    expect(at.runs).toEqual([]);
  });

  test('without the row that counts them, notes are not taken for none', async () => {
    using at = shop();
    await at.answered();
    at.sql((database) => database.exec('DELETE FROM adk_journals'));
    await at.withHost(async (host) => {
      expect(await refusal(opened(host))).toMatchObject({
        status: 'DATA_LOSS',
        code: 'E_STORE',
        message: expect.stringContaining('session shop/local/s of liar'),
      });
    });
    expect(at.runs).toEqual([]);
  });
});

test('ATK-10 what the state of a long session is shortened to is read as it was written, and refused where it was not', async () => {
  using at = shop(90);
  await at.withHost(async (host) => {
    const session = await opened(host);
    for (let turn = 0; turn < 6; turn++) await all(session.stream('go'));
  });
  const rows = at.rows();
  expect(rows.map(({ record }) => record.kind)).toEqual(expect.arrayContaining(['past', 'turns', 'call']));
  await at.withHost(async (host) => {
    const pending = await (await opened(host)).pending();
    expect(pending.map(({ name }) => name)).toEqual(Array.from({ length: 6 }, () => 'pay'));
  });
  for (const kind of ['past', 'turns', 'call']) {
    const row = rows.find(({ record }) => record.kind === kind);
    if (!row) throw new Error(`no ${kind}`);
    for (const member of Object.keys(row.record)) {
      at.write(row.seq, without(row.record, member));
      await at.withHost(async (host) => {
        expect(await refusal(opened(host))).toMatchObject(lost(row.seq));
      });
    }
    if (kind === 'call') {
      const { call } = row.record as { call: Record<string, unknown> };
      for (const member of Object.keys(call).filter((name) => name !== 'decision' && name !== 'last')) {
        at.write(row.seq, { kind, call: without(call, member) });
        await at.withHost(async (host) => {
          expect(await refusal(opened(host)), member).toMatchObject(lost(row.seq));
        });
      }
    }
    at.write(row.seq, row.record);
  }
});
