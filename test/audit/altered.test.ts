import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifySession } from '../../src/adapters/audit/index.ts';
import type { SqlSessionService } from '../../src/adapters/stores/sql/services/session-service.ts';
import type { SessionKey } from '../../src/runtime/index.ts';
import type { TestDatabase } from '../adapters/databases.ts';
import { shared } from '../adapters/databases.ts';
import { folder, paidSession, tamperable } from './kit.ts';

const texts = [
  'content',
  'actions',
  'custom_metadata',
  'long_running_tool_ids',
  'timestamp',
  'invocation_id',
  'author',
];

test('one byte of any column of any evidence: its event is named', async () => {
  const place = folder();
  const log = await tamperable(place.path);
  const store = log.store();
  const evidence = (await store.get(log.key))?.events.filter(({ chain }) => chain) ?? [];
  const rows = new Map(log.rows().map((row) => [row.seq, row as unknown as Record<string, string | null>]));
  const last = evidence.at(-1)?.seq;
  const missed: unknown[] = [];
  let tried = 0;
  for (const { seq } of evidence) {
    for (const column of texts) {
      const text = rows.get(seq)?.[column] ?? '';
      const set = (value: string) => log.sql(`UPDATE adk_events SET ${column} = ? WHERE seq = ?`, value, seq);
      // A step that does not go with the length of any member.
      for (let at = seq % 7; at < text.length; at += 19) {
        set(`${text.slice(0, at)}${text[at] === '~' ? '!' : '~'}${text.slice(at + 1)}`);
        const { faults } = await verifySession(store, log.key);
        if (!faults.some((fault) => fault.seq === seq)) missed.push([seq, column, at, faults]);
        tried++;
      }
      if (text !== '') set(text);
    }
  }
  expect([missed, tried > 200, last]).toEqual([[], true, expect.any(Number)]);
  expect((await verifySession(store, log.key)).ok).toBe(true);
  await store.close();
  place.remove();
});

describe.each(shared.filter(({ skip }) => skip === undefined))('evidence in the rows of $name', ({ make }) => {
  let database: TestDatabase;
  let store: SqlSessionService;
  let key: SessionKey;

  beforeAll(async () => {
    database = await make();
    store = await database.open();
    key = await paidSession(store);
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  const set = (seq: number, change: string) => database.query(`UPDATE adk_events SET ${change} WHERE seq = ${seq}`);
  const faults = async () => (await verifySession(store, key)).faults.map(({ seq, fault }) => `${seq} ${fault}`);

  test('is as it was written, also in a fork', async () => {
    const fork = await store.fork(key, { id: 'fork' });
    expect([await store.altered(key), await store.altered(fork.key), await faults()]).toEqual([[], [], []]);
    await store.delete(fork.key);
  });

  test('says the same in another way: the event is named, and with it the column', async () => {
    const events = (await store.get(key))?.events ?? [];
    const { seq } = events.find(({ actions }) => actions.answers) ?? { seq: 0 };
    const [row] = await database.query(`SELECT * FROM adk_events WHERE seq = ${seq}`);
    const partial = database.name === 'mariadb' ? '`partial`' : 'partial';
    const changes: [column: string, changed: string, back: string][] = [
      ['actions', `'${String(row?.actions).replace('state_delta', 'state_belta')}'`, `'${row?.actions}'`],
      ['branch', `''`, 'NULL'],
      ['error_code', `''`, 'NULL'],
      [partial, 'NULL', 'false'],
      ['interrupted', 'false', 'NULL'],
    ];
    for (const [column, changed, back] of changes) {
      await set(seq, `${column} = ${changed}`);
      expect([column, await faults()]).toEqual([column, [`${seq} changed`]]);
      await set(seq, `${column} = ${back}`);
    }
    await set(seq, `actions = ${changes[0]?.[1]}`);
    const [fault] = (await verifySession(store, key)).faults;
    expect(fault?.message).toBe(`the actions of event ${seq} is not as it was written`);
    await set(seq, `actions = ${changes[0]?.[2]}`);
    expect(await faults()).toEqual([]);
  });

  test('that the length of the log leaves out is named', async () => {
    const last = (await store.get(key))?.lastSeq ?? 0;
    const length = (n: number) => database.query(`UPDATE adk_sessions SET last_seq = ${n}`);
    await length(last - 2);
    expect(await faults()).toEqual([`${last - 1} changed`, `${last} changed`]);
    await length(last);
    expect(await faults()).toEqual([]);
  });

  test('whose link has another member, or that is no evidence any more, is named itself', async () => {
    const events = (await store.get(key))?.events ?? [];
    const batched = events.find(({ chain }) => chain?.batch)?.seq ?? 0;
    const answer = events.find(({ actions }) => actions.answers)?.seq ?? 0;
    const rename = (seq: number, from: string, to: string) =>
      set(seq, `custom_metadata = replace(custom_metadata, '${from}', '${to}')`);
    for (const [seq, from, to] of [
      [batched, '"batch"', '"match"'],
      [answer, '"coxswain"', '"boxswain"'],
    ] as const) {
      await rename(seq, from, to);
      expect([from, await faults()]).toEqual([from, [`${seq} changed`]]);
      await rename(seq, to, from);
    }
    expect(await faults()).toEqual([]);
  });
});
