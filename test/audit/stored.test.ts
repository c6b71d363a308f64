import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AdkSession } from '../../src/adapters/adk/index.ts';
import { snapshotOf } from '../../src/adapters/adk/index.ts';
import { describeReport, exportAudit, verifySession } from '../../src/adapters/audit/index.ts';
import { rewind } from '../../src/adapters/stores/common/rewind.ts';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { rulePolicy } from '../../src/host/index.ts';
import type { ChainHead, SessionService } from '../../src/runtime/index.ts';
import { createEvent, digestOf, evidenceOf, extendChain } from '../../src/runtime/index.ts';
import { all, bot, hostOf, refusal, say, whole } from '../host/kit.ts';
import { folder, rules, tamperable, tools } from './kit.ts';

let place: ReturnType<typeof folder>;
let log: Awaited<ReturnType<typeof tamperable>>;
const open: SessionService[] = [];

beforeEach(async () => {
  place = folder();
  log = await tamperable(place.path);
});
afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
  place.remove();
});

const store = () => {
  const made = log.store();
  open.push(made);
  return made;
};
const verify = (anchor?: ChainHead) => verifySession(store(), log.key, anchor ? { anchor } : {});
const faults = async (anchor?: ChainHead) => (await verify(anchor)).faults.map(({ seq, fault }) => `${seq} ${fault}`);

/** The row that holds a decision about the approved payment. */
const decided = () => {
  const row = log.rows().find(({ custom_metadata: text }) => text?.includes('"user:bob"') && text.includes('approved'));
  if (!row?.custom_metadata) throw new Error('there is no such row');
  return { ...row, text: row.custom_metadata };
};
const write = (seq: number, text: string) =>
  log.sql('UPDATE adk_events SET custom_metadata = ? WHERE seq = ?', text, seq);

describe('a stored log', () => {
  test('that nobody touched is whole: every audited event is linked', async () => {
    const report = await verify();
    expect(report).toMatchObject({ ok: true, faults: [], head: { seq: expect.any(Number) } });
    expect(report.linked).toBe(report.audited);
    expect(report.audited).toBeGreaterThan(6);
    expect(describeReport(report).at(-1)).toMatch(/^ok: \d+ audited events, \d+ linked; head \d+:\S{43}$/);
  });

  test('one byte of a stored decision: the event is named, and no other', async () => {
    const { seq, text } = decided();
    write(seq, text.replace('"user:bob"', '"user:bab"'));
    expect(await faults()).toEqual([`${seq} changed`]);
    write(seq, text.replace('Fine.', 'Fine,'));
    expect(await faults()).toEqual([`${seq} changed`]);
    write(seq, text);
    expect(await faults()).toEqual([]);
  });

  test('a byte that makes it unreadable: the event is named, the rest is read', async () => {
    const { seq, text } = decided();
    write(seq, text.replace('{', '('));
    const [first, ...others] = await faults();
    expect([first, others.every((fault) => fault.endsWith('missing'))]).toEqual([`${seq} unreadable`, true]);
  });

  test('columns that hold what no event has: a typed error with session, row and column, in reading and in verifying', async () => {
    const { seq } = decided();
    const rubbish: [column: string, value: string | null, says: RegExp][] = [
      ['long_running_tool_ids', null, /long_running_tool_ids/],
      ['long_running_tool_ids', '{}', /long_running_tool_ids/],
      ['timestamp', 'yesterday', /timestamp/],
      ['timestamp', null, /event \d+ cannot be read/],
      ['actions', '5', /stateDelta|actions|cannot be read/],
      ['actions', null, /cannot be read/],
      ['content', '{"parts":[null]}', /cannot be read/],
      ['content', 'null', /cannot be read/],
      ['custom_metadata', '{"coxswain":{"actions":{"decisions":{"x":null}}}}', /actions\.decisions/],
      [
        'custom_metadata',
        '{"coxswain":{"actions":{"decisions":{"x":{"outcome":"approved","by":"p","redact":5}}}}}',
        /decisions/,
      ],
      ['custom_metadata', '{"coxswain":{"actions":{"started":5}}}', /actions\.started/],
      ['custom_metadata', '{"coxswain":{"chain":5}}', /chain/],
      ['custom_metadata', '[]', /custom_metadata/],
    ];
    const set = (column: string, value: string | null) =>
      log.sql(
        `UPDATE adk_events SET ${column} = ${value === null ? 'NULL' : '?'} WHERE seq = ${seq}`,
        ...(value === null ? [] : [value]),
      );
    const [was] = log.rows().filter((row) => row.seq === seq) as unknown as Record<string, string>[];
    for (const [column, value, says] of rubbish) {
      set(column, value);
      const report = await verify();
      expect([column, value, report.faults[0]?.seq, report.ok]).toEqual([column, value, seq, false]);
      expect(['unreadable', 'changed', 'unlinked']).toContain(report.faults[0]?.fault);
      if (report.faults[0]?.fault === 'unreadable') {
        expect(report.faults[0]?.message).toMatch(says);
        const refused = await refusal(store().get(log.key));
        expect([refused.status, refused.code]).toEqual(['DATA_LOSS', 'E_STORE']);
        expect(refused.message).toMatch(
          new RegExp(`session shop/local/${log.key.id} is damaged: event ${seq} .*restore`),
        );
        expect((await refusal(all(exportAudit(store(), log.key)))).code).toBe('E_STORE');
      }
      set(column, was?.[column] ?? null);
    }
    expect(await faults()).toEqual([]);
  });

  test('its link is part of it: a decision without one, or with another, is named', async () => {
    const { seq, text } = decided();
    const value = JSON.parse(text);
    const { chain } = value.coxswain;
    write(seq, JSON.stringify({ ...value, coxswain: { ...value.coxswain, chain: { ...chain, after: 'nobody' } } }));
    expect((await faults())[0]).toBe(`${seq} missing`);
    const { chain: _, ...rest } = value.coxswain;
    write(seq, JSON.stringify({ ...value, coxswain: rest }));
    expect((await faults())[0]).toBe(`${seq} unlinked`);
  });

  test('a decision that was deleted, in the middle or at the end', async () => {
    const { seq } = decided();
    log.sql('DELETE FROM adk_events WHERE seq = ?', seq);
    expect(await faults()).toEqual([`${seq} missing`]);
    const last = log.rows().at(-1)?.seq ?? 0;
    log.sql('DELETE FROM adk_events WHERE seq > ?', last - 2);
    expect(await faults()).toEqual([`${seq} missing`, `${last - 1} missing`]);
  });

  test('a decision that was deleted and the rest moved up: the place is named all the same', async () => {
    const { seq } = decided();
    log.sql('DELETE FROM adk_events WHERE seq = ?', seq);
    for (const row of log.rows().filter((one) => one.seq > seq)) {
      log.sql('UPDATE adk_events SET seq = ? WHERE seq = ?', row.seq - 1, row.seq);
    }
    log.sql('UPDATE adk_sessions SET last_seq = last_seq - 1');
    expect(await faults()).toEqual([`${seq} missing`]);
  });

  test('two decisions that were swapped', async () => {
    const { seq } = decided();
    log.sql('UPDATE adk_events SET seq = -1 WHERE seq = ?', seq);
    log.sql('UPDATE adk_events SET seq = ? WHERE seq = ?', seq, seq + 1);
    log.sql('UPDATE adk_events SET seq = ? WHERE seq = -1', seq + 1);
    expect(await faults()).toEqual([`${seq} reordered`]);
  });

  test('a decision that somebody else wrote in', async () => {
    const made = store();
    const decisions = { x: { outcome: 'approved' as const, by: 'user:bob' } };
    const [forged] = await made.append(log.key, [createEvent({ author: 'user', actions: { decisions } })]);
    expect(await faults()).toEqual([`${forged?.seq} unlinked`]);
  });

  test('a log that was cut or written anew as a whole fits itself, but not the head that was kept elsewhere', async () => {
    const { head } = await verify();
    expect(await faults(head)).toEqual([]);
    const { seq, text } = decided();
    write(seq, text.replace('"user:bob"', '"user:bab"'));
    let before = '';
    const record = await store().get(log.key);
    for (const event of evidenceOf(record?.events ?? [])) {
      before = extendChain(before, digestOf(event));
      const value = JSON.parse(log.rows().find(({ id }) => id === event.id)?.custom_metadata ?? '{}');
      value.coxswain.chain.hash = before;
      write(event.seq, JSON.stringify(value));
    }
    expect(await faults()).toEqual([]);
    expect(await faults(head)).toEqual([`${head?.seq} anchor`]);
  });

  test('an older head still fits after the session went on', async () => {
    const { head } = await verify();
    const made = store();
    const { host } = hostOf(bot([{ calls: [['look']] }, 'done']), {
      store: made,
      tools: tools(),
      policy: rulePolicy(rules),
    });
    await say(await host.open('bot', { sessionId: log.key.id }), 'again');
    const report = await verify(head);
    expect([report.ok, (report.head?.seq ?? 0) > (head?.seq ?? 0)]).toEqual([true, true]);
  });

  test('of an older version has no chain; it reads as before, and the next link binds what was there', async () => {
    for (const { seq, custom_metadata: text } of log.rows()) {
      if (!text?.includes('"chain"')) continue;
      const { chain: _, ...rest } = JSON.parse(text).coxswain;
      write(seq, JSON.stringify({ coxswain: rest }));
    }
    const old = await verify();
    expect([old.ok, old.linked, old.faults]).toEqual([false, 0, []]);
    expect(describeReport(old)[0]).toMatch(/no chain/);
    const { host } = hostOf(bot([{ calls: [['look']] }, 'done']), {
      store: store(),
      tools: tools(),
      policy: rulePolicy(rules),
    });
    await say(await host.open('bot', { sessionId: log.key.id }), 'again');
    expect(await faults()).toEqual([]);
    const { seq, text } = decided();
    write(seq, text.replace('"user:bob"', '"user:bab"'));
    expect(await faults()).toEqual([expect.stringMatching(/changed$/)]);
  });

  test('of a session that is not there', async () => {
    expect((await refusal(verifySession(store(), { ...log.key, id: 'none' }))).code).toBe('E_SESSION_NOT_FOUND');
  });
});

describe('the chain holds', () => {
  test('where answers come from elsewhere while a run writes', async () => {
    const [here, elsewhere] = [store(), store()];
    const calls = ['a', 'b', 'c'].map((n) => ['pay', { n }] as [string, object]);
    const options = { tools: tools(), policy: rulePolicy(rules) };
    const { host } = hostOf(bot([{ calls }, 'done']), { store: here, ...options });
    const session = await host.open('bot');
    await say(session, 'go');
    // Two views of one log, both of which know nothing of the other's answers.
    const other = hostOf(bot([]), { store: elsewhere, ...options });
    const there = await other.host.open('bot', { sessionId: session.id });
    const [first, second] = (await session.pending()).filter(({ kind }) => kind !== 'tool');
    if (!first || !second) throw new Error('there are no questions');
    const yes = (question: typeof first) => ({
      kind: 'approve' as const,
      previewDigest: question.approval?.previewDigest ?? '',
    });
    await Promise.all([session.respond(first.requestId, yes(first)), there.respond(second.requestId, yes(second))]);
    await say(session, { kind: 'continue' });
    const report = await verifySession(here, { ...log.key, id: session.id });
    expect(report.faults).toEqual([]);
    expect(report.ok).toBe(true);
  });

  test('in a fork, in a session that was taken back, and in a copy from a snapshot', async () => {
    const made = store();
    const fork = await made.fork(log.key, { id: 'fork' });
    expect(await verifySession(made, fork.key)).toMatchObject({ ok: true, linked: expect.any(Number) });
    expect((await rewind(made, log.key, 0))?.chain).toBeDefined();
    expect(await faults()).toEqual([]);
    const { host } = hostOf(bot([]), { store: made, tools: tools(), policy: rulePolicy(rules) });
    const session = await host.open('bot', { sessionId: fork.key.id });
    const snapshot = await snapshotOf(whole(session).inner as AdkSession);
    const copies = openSqlite(join(place.path, 'copy.db'));
    open.push(copies);
    const other = hostOf(bot([]), { store: copies, tools: tools(), policy: rulePolicy(rules) });
    await other.host.open('bot', { snapshot });
    const copied = await verifySession(copies, { ...log.key, id: snapshot.id });
    expect([copied.ok, copied.linked, copied.linked === copied.audited]).toEqual([true, expect.any(Number), true]);
  });
});
