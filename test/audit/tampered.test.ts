import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exportAudit, verifyExport, verifySession } from '../../src/adapters/audit/index.ts';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { ChainHead, StoredEvent } from '../../src/runtime/index.ts';
import { createEvent, LiveSession } from '../../src/runtime/index.ts';
import { all } from '../host/kit.ts';
import { folder, tamperable } from './kit.ts';

let place: ReturnType<typeof folder>;
let log: Awaited<ReturnType<typeof tamperable>>;
let store: ReturnType<typeof openSqlite>;
let anchor: ChainHead | undefined;
let events: readonly StoredEvent[];

beforeAll(async () => {
  place = folder();
  log = await tamperable(place.path);
  store = openSqlite(log.file);
  events = (await store.get(log.key))?.events ?? [];
  anchor = (await verifySession(store, log.key)).head;
});
afterAll(async () => {
  await store.close();
  place.remove();
});

const faults = async () => {
  const { faults: found } = await verifySession(store, log.key, anchor ? { anchor } : {});
  return found.map(({ seq, fault, message }) => ({ seq, fault, message }));
};
const ordinary = (text: string | null) => text === null || text === '';

/** Changes bytes of a column of a row, one at a time: whether verifying finds each of them. */
async function isFound(seq: number, column: string, text: string): Promise<boolean> {
  const set = (value: string) => log.sql(`UPDATE adk_events SET ${column} = ? WHERE seq = ?`, value, seq);
  let found = true;
  for (const part of [0.25, 0.5, 0.75]) {
    const at = Math.floor(text.length * part);
    set(`${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`);
    found &&= (await faults()).length > 0;
  }
  set(text);
  return found;
}

describe('ATT-B13 what a changed byte of each column of each row is found by', () => {
  test('events: of evidence all is seen; of other rows what makes them unreadable, or moves them', async () => {
    const unseen = new Map<string, Set<string>>();
    let evidence = 0;
    for (const row of log.rows() as unknown as Record<string, string | number | null>[]) {
      const event = events[Number(row.seq) - 1];
      if (event?.chain) evidence++;
      for (const [column, value] of Object.entries(row)) {
        if (typeof value !== 'string' || ordinary(value) || ['app_name', 'user_id', 'session_id'].includes(column))
          continue;
        if (await isFound(Number(row.seq), column, value)) continue;
        const kind = event?.chain ? 'evidence' : 'other';
        unseen.set(kind, (unseen.get(kind) ?? new Set()).add(column));
      }
    }
    expect(evidence).toBeGreaterThan(7);
    expect(Object.fromEntries([...unseen].map(([kind, columns]) => [kind, [...columns].sort()]))).toEqual({
      other: ['actions', 'author', 'content', 'custom_metadata', 'id', 'invocation_id', 'timestamp'],
    });
    expect(await faults()).toEqual([]);
  });

  test('the terms of a turn are evidence: who asked, with which roles', async () => {
    const begun = events.find(({ actions }) => actions.terms);
    expect(begun?.actions.terms).toMatchObject({ principal: { id: 'ann', roles: ['clerk'] } });
    const row = log.rows()[(begun?.seq ?? 0) - 1];
    const text = row?.custom_metadata ?? '';
    const set = (value: string) =>
      log.sql('UPDATE adk_events SET custom_metadata = ? WHERE seq = ?', value, begun?.seq ?? 0);
    set(text.replace('"clerk"', '"boss!"'));
    expect(await faults()).toContainEqual(expect.objectContaining({ seq: begun?.seq, fault: 'changed' }));
    // Made to look as one of an older version.
    const { chain, ...custom } = JSON.parse(text).coxswain;
    set(JSON.stringify({ coxswain: custom }));
    expect(chain).toBeDefined();
    expect(await faults()).toContainEqual(
      expect.objectContaining({ seq: begun?.seq, message: expect.stringContaining('it was an audit event when') }),
    );
    set(text);
    expect(await faults()).toEqual([]);
  });

  test('the session: its state, and a title that its log has set, are what the log comes to; the rest is not bound', async () => {
    await store.append(log.key, [
      createEvent({ author: 'user', actions: { stateDelta: { plan: 'a' }, config: { title: 'Refunds' } } }),
    ]);
    const whose = `id = '${log.key.id}'`;
    const seen: Record<string, boolean> = {};
    for (const [column, value] of [
      ['state', '{"plan":"b"}'],
      ['title', 'Funds'],
      ['initial_state', '{"plan":"a"}'],
      ['initial_state', '{"other":"a"}'],
      ['last_seq', 3],
    ] as const) {
      const [before] = log.sessions();
      log.sql(`UPDATE adk_sessions SET ${column} = ? WHERE ${whose}`, value);
      seen[`${column} ${value}`] = (await faults()).length > 0;
      log.sql(`UPDATE adk_sessions SET ${column} = ? WHERE ${whose}`, before?.[column] as string | number);
    }
    expect(seen).toEqual({
      'state {"plan":"b"}': true,
      'title Funds': true,
      // Written over by the log, so that the state comes to the same.
      'initial_state {"plan":"a"}': false,
      'initial_state {"other":"a"}': true,
      'last_seq 3': true,
    });
    expect(await faults()).toEqual([]);
  });

  test('a copy of a row that is no evidence, at the end, is not seen: the limit', async () => {
    const { lastSeq } = (await store.get(log.key, { limit: 0 })) ?? { lastSeq: 0 };
    const columns = Object.keys(log.rows()[0] ?? {});
    const copied = columns.map((name) => (name === 'seq' ? lastSeq + 1 : name === 'id' ? `'copy'` : `"${name}"`));
    const names = columns.map((name) => `"${name}"`).join(', ');
    log.sql(`INSERT INTO adk_events (${names}) SELECT ${copied.join(', ')} FROM adk_events WHERE seq = ${lastSeq}`);
    expect(await faults()).toContainEqual(expect.objectContaining({ seq: lastSeq + 1, fault: 'changed' }));
    log.sql('UPDATE adk_sessions SET last_seq = last_seq + 1 WHERE id = ?', log.key.id);
    const { faults: found } = await verifySession(store, log.key);
    expect(found).toEqual([]);
  });
});

describe('ATK-05 what a question was put with', () => {
  const approvers = { roles: ['boss'] };

  /** A call, what its question was put with, and the start of the call. */
  async function asked(service: ReturnType<typeof openSqlite>, key: typeof log.key, isLinked: boolean) {
    await service.create(key);
    const live = await LiveSession.open(service, key);
    const call = createEvent({
      id: 'call',
      author: 'bot',
      content: { role: 'model', parts: [{ type: 'function_call', id: 'c', name: 'pay', args: {} }] },
    });
    const questions = [{ requestId: 'c#policy', callId: 'c', approvers }] as never;
    const put = createEvent({ id: 'put', author: 'host', actions: { questions } });
    const started = createEvent({ id: 'start', author: 'bot', actions: { started: ['c'] } });
    if (isLinked) await service.append(key, live.link([call, put, started]));
    else {
      const [first, last] = live.link([call, started]);
      await service.append(key, [first, put, last] as StoredEvent[]);
    }
  }

  test('is evidence: whoever takes an approver out of it is found, and so is whoever takes the link with it', async () => {
    const file = join(place.path, 'put.db');
    const service = openSqlite(file);
    const key = { app: 'shop', userId: 'ann', id: 'put' };
    await asked(service, key, true);
    expect(await verifySession(service, key)).toMatchObject({ ok: true, audited: 3 });
    const other = new DatabaseSync(file);
    const [row] = other.prepare(`SELECT * FROM adk_events WHERE id = 'put'`).all() as Record<string, string>[];
    const column = Object.keys(row ?? {}).find((name) => String(row?.[name]).includes('"boss"')) ?? '';
    const set = (value: string) => other.prepare(`UPDATE adk_events SET ${column} = ? WHERE id = 'put'`).run(value);
    const text = row?.[column] ?? '';
    set(text.replace('["boss"]', '["clerk"]'));
    expect((await verifySession(service, key)).faults).toContainEqual(expect.objectContaining({ fault: 'changed' }));
    const { chain: _, ...custom } = JSON.parse(text).coxswain;
    set(JSON.stringify({ coxswain: custom }));
    expect((await verifySession(service, key)).ok).toBe(false);
    set(text);
    expect((await verifySession(service, key)).ok).toBe(true);
    other.close();
    await service.close();
  });

  test('was none in older versions, whose logs verify as they did', async () => {
    const service = openSqlite(':memory:');
    const key = { app: 'shop', userId: 'ann', id: 'old' };
    await asked(service, key, false);
    expect(await verifySession(service, key)).toMatchObject({ ok: true, audited: 2 });
    await service.close();
  });
});

describe('logs whose turns were begun by an older version', () => {
  /** A turn with terms and evidence; `linked`: as this version writes it. */
  async function turn(service: ReturnType<typeof openSqlite>, key: typeof log.key, n: number, linked: boolean) {
    const live = await LiveSession.open(service, key);
    const begun = createEvent({
      id: `t${n}`,
      author: 'user',
      content: { role: 'user', parts: [{ type: 'text', text: 'a secret word' }] },
      actions: { turn: { start: 'bot' }, terms: { principal: { id: 'ann' } } },
    });
    const started = createEvent({ id: `s${n}`, author: 'bot', actions: { started: [`c${n}`] } });
    if (linked) await service.append(key, live.link([begun, started]));
    else await service.append(key, [begun, ...live.link([started])]);
  }

  test('verify as they did; from the first linked terms on, terms without a link are named', async () => {
    const service = openSqlite(':memory:');
    const key = { app: 'shop', userId: 'ann', id: 'old' };
    await service.create(key);
    const report = async () => {
      const { ok, audited, faults: found } = await verifySession(service, key);
      return { ok, audited, faults: found.map(({ seq, fault }) => `${seq} ${fault}`) };
    };
    await turn(service, key, 1, false);
    expect(await report()).toEqual({ ok: true, audited: 1, faults: [] });
    await turn(service, key, 2, true);
    expect(await report()).toEqual({ ok: true, audited: 3, faults: [] });
    await turn(service, key, 3, false);
    expect(await report()).toEqual({ ok: false, audited: 5, faults: ['5 unlinked'] });
    await service.close();
  });

  test('an export has the terms, and not the words that were said with them', async () => {
    const service = openSqlite(':memory:');
    const key = { app: 'shop', userId: 'ann', id: 'new' };
    await service.create(key);
    await turn(service, key, 1, true);
    const lines = await all(exportAudit(service, key));
    expect(lines.join('')).toContain('"principal":{"id":"ann"}');
    expect(lines.join('')).not.toContain('secret');
    expect(await verifyExport(lines)).toMatchObject({ ok: true, audited: 2, redacted: 1 });
    const copy = await verifyExport(lines);
    expect((await verifySession(service, key, copy.head ? { anchor: copy.head } : {})).ok).toBe(true);
    await service.close();
  });
});
