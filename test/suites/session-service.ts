import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ContentPart } from '../../src/contracts/index.ts';
import { CoxswainError, canonicalJson, isCoxswainError } from '../../src/contracts/index.ts';
import type {
  EventActions,
  EventInit,
  SessionKey,
  SessionService,
  Settle,
  StoredEvent,
} from '../../src/runtime/index.ts';
import { createEvent, foldState, InMemorySessionService, joinState, LiveSession } from '../../src/runtime/index.ts';
import { decidedQuestions } from './decided-questions.ts';
import { sessionFacts } from './session-facts.ts';

export interface ServiceUnderTest {
  service: SessionService;
  /** The same store after a restart; absent if it keeps nothing. */
  reopen?: () => Promise<SessionService>;
  close: () => Promise<void>;
}

export const key: SessionKey = { app: 'shop', userId: 'ann', id: 's1' };
export const other: SessionKey = { ...key, id: 's2' };

export function event(id: string, init: Partial<EventInit> = {}): StoredEvent {
  return createEvent({ author: 'bot', timestamp: 1_700_000_000_000, ...init, id });
}

export function change(id: string, stateDelta: Record<string, unknown>): StoredEvent {
  return event(id, { actions: { stateDelta } });
}

export function call(id: string, ...callIds: string[]): StoredEvent {
  const parts = callIds.map((callId): ContentPart => ({ type: 'function_call', id: callId, name: 'pay', args: {} }));
  return event(id, { content: { role: 'model', parts } });
}

export function answer(id: string, ...callIds: string[]): StoredEvent {
  const parts = callIds.map(
    (callId): ContentPart => ({ type: 'function_response', id: callId, name: 'pay', response: { ok: true } }),
  );
  return event(id, { content: { role: 'user', parts } });
}

/** JSON text with a member that a literal cannot have. */
const parsed = (text: string) => JSON.parse(text) as Record<string, unknown>;

/** Every field in use, and every text that a database is known to spoil. */
export function fullEvent(id: string): StoredEvent {
  const odd = 'emoji 🚣🏽 nul \u0000 lone \ud800 kanji 太郎';
  const data = parsed('{"__proto__":{"polluted":true},"constructor":1,"toJSON":"x","z":[],"a":{"deep":null}}');
  const actions: Partial<EventActions> = {
    stateDelta: { text: odd, data, empty: {}, list: [1, -2.5e-9, 1e21, null, false, ''], 'app:a': data, 'user:u': odd },
    artifactDelta: { 'report.pdf': 3 },
    escalate: true,
    skipSummarization: true,
    transferToAgent: 'clerk',
    requestedToolConfirmations: { c1: { hint: odd, payload: null } },
    requestedAuthConfigs: { c2: { scheme: 'oauth2' } },
    turn: { start: 'root' },
    reopened: true,
    decisions: { c1: { outcome: 'approved', by: 'user:ann', args: data } },
    started: ['c1'],
    asks: [{ requestId: 'c1#1', callId: 'c1', kind: 'tool_confirmation', message: odd, expiresAt: 9 }],
    answers: { 'c1#1': { action: 'accept', by: 'ann', content: data } },
    interim: { c2: { state: 'queued' } },
    completed: [{ path: '/0', agent: 'clerk', outcome: { kind: 'done', escalate: true } }],
    entered: ['/0'],
    exited: [''],
    steer: false,
    delivered: ['x'],
    config: { model: 'm', title: null },
    end: { reason: 'completed', data },
    abort: { reason: odd, requestId: 'c1', threadId: 'a' },
  };
  const meta = { provider: { id: 'call_9' }, odd };
  return createEvent({
    id,
    turnId: 't1',
    invocationId: 'i1',
    streamId: 'x1',
    path: '/0/1~c9',
    author: `clerk ${odd}`,
    branch: 'root.clerk',
    timestamp: 1_700_000_000_123.5,
    content: {
      role: 'model',
      parts: [
        { type: 'text', text: odd },
        { type: 'text', text: '', _meta: meta },
        { type: 'thought', thought: 'hm', signature: 'sig' },
        { type: 'function_call', id: 'c1', name: 'pay', args: data, _meta: meta },
        {
          type: 'function_response',
          id: 'c0',
          name: 'look',
          response: { content: odd },
          content: [{ type: 'media', mimeType: 'image/png', data: 'AAEC' }],
          isError: false,
          errorType: 'timeout',
        },
        { type: 'media', mimeType: 'image/png', data: 'AAECAw==', _meta: meta },
        { type: 'media', mimeType: 'image/png', data: 'no base64!' },
        { type: 'media', mimeType: 'video/mp4', uri: 'https://example.com/v' },
        { type: 'reference', text: 'see', uri: 'file:///a' },
        { type: 'refusal', text: 'no' },
        { type: 'citation', title: 'T' },
        { type: 'code', language: 'js', code: '1' },
        { type: 'code_result', output: '1', exitCode: 0 },
        { type: 'hologram', text: 'new kind', function_call: 1, coxswain: { nested: true } } as unknown as ContentPart,
      ],
    },
    turnComplete: false,
    finishReason: 'stop',
    errorCode: 'E_MODEL',
    errorMessage: odd,
    error: { status: 'INTERNAL', fatal: false, retryable: true, details: data },
    interrupted: false,
    model: 'gpt',
    usage: { inputTokens: 1, outputTokens: 2 },
    citationMetadata: data,
    groundingMetadata: {},
    customMetadata: { mine: odd, coxswain: 'also mine' },
    longRunningToolIds: ['c2'],
    actions,
  });
}

/** The code of what was thrown; details where a test needs them. */
export async function refusalOf(work: Promise<unknown>): Promise<{ status: string; code: string; message: string }> {
  try {
    await work;
  } catch (error) {
    if (!isCoxswainError(error)) throw error;
    return { status: error.status, code: error.code, message: error.message };
  }
  throw new Error('was not refused');
}

const ids = (events: readonly StoredEvent[] = []) => events.map(({ id }) => id);
const seqs = (events: readonly StoredEvent[] = []) => events.map(({ seq }) => seq);

function frozenWithin(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(frozenWithin);
}

/** What a read gave, without the wall clock's part. */
async function read(service: SessionService, of: SessionKey): Promise<string> {
  const record = await service.get(of);
  return canonicalJson(record && { ...record, epoch: 0, createdAt: 0, updatedAt: 0 });
}

export function sessionServiceSuite(name: string, makeService: () => Promise<ServiceUnderTest>): void {
  describe(`session service: ${name}`, () => {
    let under: ServiceUnderTest;
    let service: SessionService;

    beforeEach(async () => {
      under = await makeService();
      service = under.service;
    });
    afterEach(() => under.close());

    describe('create, get, list, delete', () => {
      test('S2-33 S0-57 create, append, get: end to end', async () => {
        await service.create(key, { state: { n: 1 } });
        const [stored] = await service.append(key, [change('e1', { n: 2, 'user:seen': true })]);
        const record = await service.get(key);
        expect(record?.state).toEqual({ n: 2, 'user:seen': true });
        expect(record?.initialState).toEqual({ n: 1 });
        expect(record?.events).toEqual([stored]);
        expect(record?.lastSeq).toBe(1);
      });

      test('S2-11 an id is taken as given or made', async () => {
        expect((await service.create(key)).key).toEqual(key);
        const made = await service.create({ app: 'shop', userId: 'ann' });
        expect(made.key.id).toMatch(/^[0-9a-f-]{36}$/);
        expect(await service.get(made.key)).toMatchObject({ lastSeq: 0, events: [] });
      });

      test('S0-58 an id that is taken is refused, and shared state stays as it was', async () => {
        await service.create(key, { state: { 'app:x': 1 } });
        const again = service.create(key, { state: { 'app:x': 2 } });
        expect(await refusalOf(again)).toMatchObject({ status: 'ALREADY_EXISTS', code: 'E_SESSION_EXISTS' });
        expect((await service.get(key))?.state).toEqual({ 'app:x': 1 });
      });

      test('S2-12 S2-20 what does not exist', async () => {
        expect(await service.get(key)).toBeUndefined();
        const missing = { status: 'NOT_FOUND', code: 'E_SESSION_NOT_FOUND' };
        expect(await refusalOf(service.append(key, [event('e1')]))).toMatchObject(missing);
        expect(await refusalOf(service.append(key, [event('e1')], { epoch: 1, expectedSeq: 1 }))).toMatchObject(
          missing,
        );
        expect(await refusalOf(service.acquire(key))).toMatchObject(missing);
        expect(await refusalOf(service.fork(key))).toMatchObject(missing);
        await service.delete(key);
        expect(await service.list({ app: 'shop' })).toEqual([]);
        expect(await service.openCalls({ app: 'shop' })).toEqual([]);
      });

      test('S0-55 S2-10 S2-16 S2-29 prefixes: own, of the app, of the user, of the invocation', async () => {
        const state = { own: 1, 'app:model': 'm', 'user:name': 'Ann', 'temp:x': 1 };
        const record = await service.create(key, { state });
        expect(record.state).toEqual({ own: 1, 'app:model': 'm', 'user:name': 'Ann' });
        expect(record.initialState).toEqual({ own: 1 });
        await service.create(other);
        await service.append(other, [change('e1', { 'app:model': 'n' })]);
        expect((await service.get(key))?.state).toEqual({ own: 1, 'app:model': 'n', 'user:name': 'Ann' });
        expect((await service.get(other))?.state).toEqual({ 'app:model': 'n', 'user:name': 'Ann' });
        expect((await service.create({ ...key, userId: 'bob' })).state).toEqual({ 'app:model': 'n' });
        expect((await service.create({ ...key, app: 'bank' })).state).toEqual({});
      });

      test('S2-13 S2-14 which events are read', async () => {
        await service.create(key);
        await service.append(
          key,
          Array.from({ length: 9 }, (_, n) => event(`e${n + 1}`)),
        );
        const at = async (options: { after?: number; limit?: number; recent?: number }) =>
          seqs((await service.get(key, options))?.events);
        expect(await at({})).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
        expect(await at({ after: 7 })).toEqual([8, 9]);
        expect(await at({ after: 9 })).toEqual([]);
        expect(await at({ after: 99 })).toEqual([]);
        expect(await at({ after: 2, limit: 3 })).toEqual([3, 4, 5]);
        expect(await at({ limit: 2 })).toEqual([1, 2]);
        expect(await at({ limit: 0 })).toEqual([]);
        expect(await at({ recent: 3 })).toEqual([7, 8, 9]);
        expect(await at({ recent: 0 })).toEqual([]);
        expect(await at({ recent: 99 })).toHaveLength(9);
        expect(await at({ recent: 3, after: 7 })).toEqual([8, 9]);
        expect((await service.get(key, { limit: 0 }))?.lastSeq).toBe(9);
        for (const options of [{ after: -1 }, { limit: 0.5 }, { recent: Number.NaN }]) {
          expect(await refusalOf(service.get(key, options))).toMatchObject({ code: 'E_BAD_INPUT' });
        }
      });

      test('S2-24 S3-68 sessions of a user, newest first, page by page', async () => {
        for (const id of ['a', 'b', 'c', 'd', 'e']) await service.create({ ...key, id }, { title: `T${id}` });
        await service.create({ ...key, userId: 'bob', id: 'a' });
        await service.create({ ...key, app: 'bank', id: 'z' });
        await service.append({ ...key, id: 'b' }, [call('e1', 'c1', 'c2'), event('e2')]);
        const scope = { app: 'shop', userId: 'ann' };
        const listed = await service.list(scope);
        expect(listed.map(({ id }) => id)).toEqual(['e', 'd', 'c', 'b', 'a']);
        expect(listed[3]).toMatchObject({ app: 'shop', userId: 'ann', title: 'Tb', length: 2, pending: 2 });
        expect(new Date(listed[3]!.createdAt).toISOString()).toBe(listed[3]!.createdAt);
        expect(new Date(listed[3]!.updatedAt).toISOString()).toBe(listed[3]!.updatedAt);
        const page = async (after?: string) =>
          (await service.list(scope, { limit: 2, ...(after && { after }) })).map(({ id }) => id);
        expect([await page(), await page('d'), await page('b'), await page('a')]).toEqual([
          ['e', 'd'],
          ['c', 'b'],
          ['a'],
          [],
        ]);
        expect(await service.list({ app: 'shop', userId: 'cleo' })).toEqual([]);
        const all = (await service.list({ app: 'shop' })).map(({ userId, id }) => `${userId}/${id}`);
        expect(all).toEqual(['bob/a', 'ann/e', 'ann/d', 'ann/c', 'ann/b', 'ann/a']);
        const rest = await service.list({ app: 'shop' }, { after: 'bob/a', limit: 1 });
        expect(rest.map(({ userId, id }) => `${userId}/${id}`)).toEqual(['ann/e']);
        // Neither does what only looks like one that is there.
        for (const after of ['gone', 'a ', 'ann/a ', 'A', 'a\u0000', '\ud800', '']) {
          expect(await refusalOf(service.list(scope, { after }))).toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
        }
      });

      test('SOAK-6 delete takes the sessions of sub-agents along, at any depth, and none that is only named alike', async () => {
        const below = ['s1.c1', 's1.c1.d1', 's1.c2'];
        const others = ['s1.x', 's1.c3.d1', 's10', 's1-c1', 's2.c1'];
        for (const id of ['s1', ...below, ...others]) await service.create({ ...key, id });
        await service.create({ ...key, userId: 'bob', id: 's1.c1' });
        // One of them asks: nobody could answer it any more.
        await service.append(key, [call('e1', 'c1', 'c2')]);
        await service.append({ ...key, id: 's1.c1' }, [call('e2', 'd1')]);
        await service.append({ ...key, id: 's1.c1.d1' }, [call('e3', 'open')]);
        await service.delete(key);
        expect((await service.list(key)).map(({ id }) => id).toSorted()).toEqual(others.toSorted());
        expect(await service.get({ ...key, userId: 'bob', id: 's1.c1' })).toBeDefined();
        expect(await service.openCalls({ app: key.app })).toEqual([]);
      });

      test('ATK-23 delete takes nothing where a session of a sub-agent is run, at any depth; all of it when it no longer is', async () => {
        const ids = ['s1', 's1.c1', 's1.c1.d1'];
        for (const id of ids) await service.create({ ...key, id });
        await service.append(key, [call('e1', 'c1')]);
        await service.append({ ...key, id: 's1.c1' }, [call('e2', 'd1')]);
        const lease = await service.acquire({ ...key, id: 's1.c1.d1' });
        // With the caller's own lease in hand, too, as hosts delete.
        const own = await service.acquire(key);
        const refused = await refusalOf(service.delete(key));
        expect(refused).toMatchObject({ status: 'ABORTED', code: 'E_SESSION_BUSY' });
        expect(refused.message).toContain('s1.c1.d1');
        await own.release();
        const erased = service.eraseUser?.({ app: key.app, userId: key.userId });
        if (erased) expect(await refusalOf(erased)).toMatchObject({ code: 'E_SESSION_BUSY' });
        expect((await service.list(key)).map(({ id }) => id).toSorted()).toEqual(ids);
        await service.append({ ...key, id: 's1.c1.d1' }, [event('e3')], { epoch: lease.epoch });
        expect(await service.openCalls({ app: key.app })).toHaveLength(2);
        await lease.release();
        await service.delete(key);
        expect(await service.list(key)).toEqual([]);
      });

      test('SOAK-10 eraseUser removes sessions, open ones too, and the state of a user; others, and the app, keep theirs', async () => {
        const scope = { app: key.app, userId: key.userId };
        for (const one of [key, other, { ...key, userId: 'bob' }]) {
          await service.create(one, { state: { 'user:name': one.userId, 'app:n': 1 } });
        }
        await service.append(key, [call('e1', 'c1')]);
        const lease = await service.acquire(other);
        expect(await refusalOf(service.eraseUser?.(scope) ?? Promise.resolve())).toMatchObject({
          code: 'E_SESSION_BUSY',
        });
        await lease.release();
        expect(await service.eraseUser?.(scope)).toBeGreaterThan(0);
        expect(await service.list({ app: key.app })).toHaveLength(1);
        expect(await service.openCalls({ app: key.app })).toEqual([]);
        expect((await service.create(key)).state).toEqual({ 'app:n': 1 });
        expect((await service.get({ ...key, userId: 'bob' }))?.state).toMatchObject({ 'user:name': 'bob' });
        expect(await service.eraseUser?.({ ...scope, userId: 'nobody' })).toBe(0);
      });

      test('S2-25 S3-68 delete removes session, events and open calls; shared state stays', async () => {
        await service.create(key, { state: { own: 1, 'app:x': 1, 'user:y': 2 } });
        await service.append(key, [call('e1', 'c1')]);
        await service.delete(key);
        expect(await service.get(key)).toBeUndefined();
        expect(await service.list({ app: 'shop' })).toEqual([]);
        expect(await service.openCalls({ app: 'shop' })).toEqual([]);
        expect(await service.create(key)).toMatchObject({ state: { 'app:x': 1, 'user:y': 2 }, lastSeq: 0, events: [] });
        await service.append(key, [event('e1')]);
      });

      test.each([
        ['F45', '..'],
        ['F45', '.'],
        ['F45', '../b'],
        ['F45', 'a/../../x'],
        ['F45', 'C:\\x'],
        ['F45', 'a\u0000b'],
        ['F45', ''],
        ['F45', '%2e%2e'],
        ['F45', 'x '],
        ['F45', 'x'.repeat(129)],
        ['F45', '\ud800'],
        ['F47', 'u1/sessions/s2'],
      ])('%s ids are one safe segment each: %j', async (_, bad) => {
        for (const part of ['app', 'userId', 'id'] as const) {
          const unsafe = { ...key, [part]: bad };
          const attempts: Promise<unknown>[] = [
            service.create(unsafe),
            service.get(unsafe),
            service.delete(unsafe),
            service.append(unsafe, [event('e1')]),
            service.acquire(unsafe),
            service.holder(unsafe),
            service.fork(unsafe),
            service.openCalls(unsafe),
          ];
          if (part !== 'id') attempts.push(service.list(unsafe));
          for (const attempt of attempts) {
            expect(await refusalOf(attempt)).toMatchObject({ status: 'INVALID_ARGUMENT', code: 'E_ID' });
          }
        }
        await service.create(key);
        expect(await refusalOf(service.fork(key, { id: bad }))).toMatchObject({ code: 'E_ID' });
      });

      test('after close every call is refused; closing again does nothing', async () => {
        await service.create(key);
        const lease = await service.acquire(key);
        await service.close();
        await service.close();
        await lease.release();
        const attempts = [
          service.create(other),
          service.get(key),
          service.list(key),
          service.delete(key),
          service.append(key, [event('e1')]),
          service.acquire(key),
          service.holder(key),
          service.fork(key),
          service.openCalls(key),
        ];
        for (const attempt of attempts) {
          expect(await refusalOf(attempt)).toMatchObject({ status: 'FAILED_PRECONDITION', code: 'E_STORE' });
        }
      });
    });

    describe('append', () => {
      beforeEach(async () => {
        await service.create(key);
      });

      test('S2-15 S0-58 order is seq, however many share a millisecond', async () => {
        const expected: string[] = [];
        for (let n = 0; n < 40; n++) {
          const id = `e${(n * 7) % 40}`;
          expected.push(id);
          await service.append(key, [event(id, { timestamp: 1_700_000_000_000 - (n % 3) })]);
        }
        const events = (await service.get(key))?.events;
        expect(ids(events)).toEqual(expected);
        expect(seqs(events)).toEqual(expected.map((_, n) => n + 1));
      });

      test('S2-17 S2-26 S2-27 S2-30 an event reads back as it was stored, frozen at every depth', async () => {
        const expected = canonicalJson({ ...fullEvent('e1'), seq: 1 });
        const [stored] = await service.append(key, [fullEvent('e1')]);
        expect(canonicalJson(stored)).toBe(expected);
        await service.append(key, [event('e2')]);
        const record = await service.get(key);
        expect(canonicalJson(record?.events[0])).toBe(expected);
        expect(record?.events[0]).toEqual(stored);
        expect(record?.events[1]).toEqual({ ...event('e2'), seq: 2 });
        expect(record?.events[1]?.actions.stateDelta).toEqual({});
        expect(record?.state.empty).toEqual({});
        for (const value of [stored, record?.events, record?.state]) {
          if (value !== record?.events) expect(frozenWithin(value)).toBe(true);
          else expect(record?.events.every(frozenWithin)).toBe(true);
        }
        expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      });

      test('the given objects are taken over; frozen ones are copied', async () => {
        const mine = event('e1');
        expect((await service.append(key, [mine]))[0]).toBe(mine);
        await service.create(other);
        await service.append(other, [event('e0')]);
        const [copy] = await service.append(other, [mine]);
        expect(copy).toEqual({ ...mine, seq: 2 });
        expect(mine.seq).toBe(1);
      });

      test('S2-18 partial events are accepted and not stored', async () => {
        const stored = await service.append(key, [event('p1', { partial: true }), event('e1')]);
        expect(ids(stored)).toEqual(['e1']);
        expect(await service.append(key, [event('p2', { partial: true })])).toEqual([]);
        expect(await service.append(key, [])).toEqual([]);
        expect(ids((await service.get(key))?.events)).toEqual(['e1']);
      });

      test('S0-57 S2-19 deltas of a batch apply in order, with the time of the write', async () => {
        const before = (await service.get(key))!;
        await service.append(key, [
          change('e1', { a: 1, b: 1, 'user:n': 1 }),
          change('e2', { a: 2, b: null, 'user:n': 2 }),
          change('e3', { b: 3 }),
        ]);
        const after = (await service.get(key))!;
        expect(after.state).toEqual({ a: 2, b: 3, 'user:n': 2 });
        expect(after.updatedAt).toBeGreaterThanOrEqual(before.updatedAt);
        expect(after.createdAt).toBe(before.createdAt);
      });

      test('F28 S2-21 temp: keys are neither in the state nor in the log', async () => {
        const frozen = Object.freeze(change('e2', { 'temp:y': 1 }));
        const stored = await service.append(key, [change('e1', { keep: 1, 'temp:x': { deep: 1 } }), frozen]);
        const record = await service.get(key);
        expect(record?.state).toEqual({ keep: 1 });
        for (const events of [stored, record!.events]) {
          expect(events.map(({ actions }) => actions.stateDelta)).toEqual([{ keep: 1 }, {}]);
        }
      });

      test('F26 null deletes at the top, stays within a value; the log folds to the same state', async () => {
        await service.append(key, [change('e1', { k: 1, 'user:k': 1, 'app:k': 1, v: { deep: null } })]);
        await service.append(key, [change('e2', { k: null, 'user:k': null, 'app:k': null, never: null })]);
        const record = (await service.get(key))!;
        expect(record.state).toEqual({ v: { deep: null } });
        const folded = { ...record.initialState };
        foldState(folded, record.events);
        expect(folded).toEqual(record.state);
        await service.create(other, { state: { own: null, 'app:z': null } });
        expect((await service.get(other))?.state).toEqual({});
      });

      test.each([
        ['a date', new Date(0)],
        ['bytes', new Uint8Array(2)],
        ['a function', () => 1],
        ['a class object', new (class Money {})()],
        ['a map', new Map()],
        ['NaN', Number.NaN],
        ['a bigint', 1n],
        ['a list with a hole', [undefined]],
      ])('F27 what is no JSON is refused with its place named: %s', async (_, value) => {
        const created = await refusalOf(service.create(other, { state: { ok: 1, bad: value, 'app:x': 1 } }));
        expect(created).toMatchObject({ status: 'INVALID_ARGUMENT', code: 'E_NOT_JSON' });
        expect(created.message).toContain('bad');
        const batch = [change('e1', { 'app:x': 1 }), change('e2', { nested: { bad: value } })];
        const appended = await refusalOf(service.append(key, batch));
        expect(appended).toMatchObject({ status: 'INVALID_ARGUMENT', code: 'E_NOT_JSON' });
        expect(appended.message).toContain('nested.bad');
        expect(await service.get(other)).toBeUndefined();
        expect(await service.get(key)).toMatchObject({ lastSeq: 0, state: {}, events: [] });
      });

      test('F27 undefined is nothing at creation, refused as a delta; __proto__ is data; depth ends somewhere', async () => {
        const state = { u: undefined, ...parsed('{"__proto__":{"x":1}}') };
        const record = await service.create(other, { state });
        expect(canonicalJson(record.state)).toBe('{"__proto__":{"x":1}}');
        await service.append(other, [change('e1', parsed('{"app:__proto__":1,"__proto__":null,"user:__proto__":[]}'))]);
        expect(canonicalJson((await service.get(other))?.state)).toBe('{"app:__proto__":1,"user:__proto__":[]}');
        const undef = service.append(key, [change('e1', { u: undefined })]);
        expect(await refusalOf(undef)).toMatchObject({ code: 'E_NOT_JSON' });
        const cycle: Record<string, unknown> = {};
        cycle.self = cycle;
        expect(await refusalOf(service.append(key, [change('e1', { cycle })]))).toMatchObject({ code: 'E_TOO_DEEP' });
        expect((await service.get(key))?.lastSeq).toBe(0);
      });

      test('S0-59 a hundred appends at once are all kept, each once, deltas too', async () => {
        const work = Array.from({ length: 100 }, (_, n) =>
          service.append(key, [change(`e${n}`, { [`k${n}`]: n, 'app:last': n })]),
        );
        const reads = Promise.all(Array.from({ length: 20 }, () => service.get(key)));
        const stored = await Promise.all(work);
        for (const record of await reads) {
          expect(Object.keys(record!.state).filter((name) => name !== 'app:last')).toHaveLength(record!.lastSeq);
          expect(record!.events).toHaveLength(record!.lastSeq);
        }
        const record = (await service.get(key))!;
        expect(seqs(record.events)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
        expect(new Set(stored.flat().map(({ id }) => id)).size).toBe(100);
        expect(Object.keys(record.state)).toHaveLength(101);
        expect(record.state['app:last']).toBe(Number(record.events.at(-1)!.id.slice(1)));
      });

      test('S0-58 an event id is taken once a session; nothing of a refused batch is stored', async () => {
        await service.append(key, [event('e1')]);
        const exists = { status: 'ALREADY_EXISTS', code: 'E_EVENT_EXISTS' };
        const batch = [change('e2', { x: 1, 'app:x': 1 }), call('e3', 'c1'), event('e1')];
        expect(await refusalOf(service.append(key, batch))).toMatchObject(exists);
        expect(await refusalOf(service.append(key, [event('e4'), event('e4')]))).toMatchObject(exists);
        await expect(service.append(key, [event('e1')])).rejects.toMatchObject({ details: { id: 'e1' } });
        expect(await service.get(key)).toMatchObject({ lastSeq: 1, state: {} });
        expect(await service.openCalls({ app: 'shop' })).toEqual([]);
        // The refused ids are free, and so is the taken one in another session.
        await service.append(key, [event('e2'), event('e3'), event('e4')]);
        await service.create(other);
        await service.append(other, [event('e1')]);
      });

      // Stores that keep ids beside events do so from some length on.
      test.each([1, 15, 16, 17, 40])('so it is in a log of %i events, and in a copy of it', async (length) => {
        await service.append(
          key,
          Array.from({ length }, (_, n) => event(`e${n}`)),
        );
        const copy = (await service.fork(key, { id: 'copy' })).key;
        for (const place of [key, copy]) {
          for (const taken of ['e0', `e${length - 1}`, 'new 3']) {
            const batch = ['new 1', 'new 2', 'new 3', taken].map((id) => event(id));
            const refused = service.append(place, batch);
            await expect(refused).rejects.toMatchObject({ code: 'E_EVENT_EXISTS', details: { id: taken } });
          }
          const more = ['new 1', 'new 2', 'new 3'].map((id) => event(id));
          expect(seqs(await service.append(place, more))).toEqual([length + 1, length + 2, length + 3]);
          const again = service.append(place, [event('new 2')]);
          await expect(again).rejects.toMatchObject({ details: { id: 'new 2' } });
        }
      });

      test.each(['', ' ', 'a\u0000', '\ud800', 'x'.repeat(256)])('an event id is plain text: %j', async (id) => {
        expect(await refusalOf(service.append(key, [event(id)]))).toMatchObject({ code: 'E_ID' });
        expect((await service.get(key))?.lastSeq).toBe(0);
      });

      test('F27 ids of calls and invocations have a longest length, whatever it is that they hold', async () => {
        const longest = ['x'.repeat(253), '"'.repeat(126), '\u0000'.repeat(42), '太'.repeat(253)];
        await service.append(key, [call('e1', ...longest)]);
        expect((await service.openCalls(key)).map(({ callId }) => callId)).toEqual(longest);
        await service.append(key, [answer('e2', ...longest), event('e3', { invocationId: '太'.repeat(255) })]);
        expect(await service.openCalls(key)).toEqual([]);
        const refused = [...longest.map((id) => call('e4', `${id}${id[0]}`)), answer('e4', 'x'.repeat(254))];
        for (const each of [...refused, event('e4', { invocationId: 'x'.repeat(256) })]) {
          const { status, code } = await refusalOf(service.append(key, [event('e0'), each]));
          expect({ status, code }).toEqual({ status: 'INVALID_ARGUMENT', code: 'E_ID' });
        }
        expect((await service.get(key))?.lastSeq).toBe(3);
      });

      test('F27 a name with escapes is not read as one with a backslash that stood there before', async () => {
        const names = ['\\', '"', '\u0000', '\n', '\ud800', '\\n', '\nX', 'a\\', 'a"', '@0', '__proto__'];
        for (const [n, name] of names.entries()) {
          // Whoever came here first is what the engine expects behind a name that only these objects have.
          const held = Object.fromEntries([
            ['only here', []],
            [name, n],
          ]);
          await service.append(key, [event(`e${n}`, { customMetadata: { held }, actions: { stateDelta: { held } } })]);
          const record = (await service.get(key, { recent: 1 }))!;
          for (const value of [record.state.held, record.events[0]?.customMetadata?.held]) {
            expect(Object.keys(value as object)[1]).toBe(name);
          }
        }
      });

      test('F27 long texts and early times read back as they were', async () => {
        const long = 'a'.repeat(70_000);
        const texts = { author: long, branch: long, errorCode: long, actions: { config: { title: 't'.repeat(300) } } };
        const name = { type: 'function_call', id: 'c1', name: long, args: {} } as const;
        const times = [
          -62_135_596_800_000,
          -30_610_224_000_001,
          -30_610_224_000_000,
          253_402_300_799_999,
          2 ** 52,
          0.5,
        ];
        await service.append(key, [event('e1', { ...texts, content: { role: 'model', parts: [name] } })]);
        await service.append(
          key,
          times.map((timestamp, n) => event(`t${n}`, { timestamp })),
        );
        const { title, events } = (await service.get(key))!;
        expect(title).toBe('t'.repeat(300));
        expect(events[0]).toMatchObject({ author: long, branch: long, errorCode: long });
        expect(events.slice(1).map(({ timestamp }) => timestamp)).toEqual(times);
        expect(await service.openCalls(key)).toMatchObject([{ name: long }]);
      });

      test.each([2 ** 31, 2 ** 53, 1.5, -1, Number.NaN])('S2-28 no session stands at %d', async (place) => {
        const conflict = { status: 'ABORTED', code: 'E_SESSION_CONFLICT' };
        for (const events of [[], [event('e1')]]) {
          expect(await refusalOf(service.append(key, events, { expectedSeq: place }))).toMatchObject(conflict);
          const fenced = await refusalOf(service.append(key, events, { epoch: place }));
          expect(fenced).toMatchObject({ status: 'ABORTED', code: 'E_FENCED' });
        }
      });

      test('S2-28 a stale writer is refused where it asks to be, and may try again with the same events', async () => {
        await service.append(key, [event('e1')]);
        await service.append(key, [event('e2')]);
        await service.append(key, [event('e3')], { expectedSeq: 2 });
        const mine = event('e4');
        const stale = service.append(key, [mine], { expectedSeq: 2 });
        expect(await refusalOf(stale)).toMatchObject({ status: 'ABORTED', code: 'E_SESSION_CONFLICT' });
        mine.author = 'still mine';
        const [stored] = await service.append(key, [mine], { expectedSeq: 3 });
        expect(stored).toMatchObject({ id: 'e4', seq: 4, author: 'still mine' });
      });

      test('S0-57 what an agent run as a tool changes is its own: the session skips events with iso', async () => {
        await service.append(key, [
          event('e1', { iso: '/c1', actions: { stateDelta: { inner: 1, 'app:inner': 1 } } }),
          change('e2', { outer: 1 }),
        ]);
        expect((await service.get(key))?.state).toEqual({ outer: 1 });
        expect((await service.fork(key)).state).toEqual({ outer: 1 });
      });

      test('the title follows what the log says of it', async () => {
        const titled = (id: string, config: Record<string, unknown>) => event(id, { actions: { config } });
        await service.append(key, [titled('e1', { title: 'Boats' }), titled('e2', { model: 'm' })]);
        expect((await service.get(key))?.title).toBe('Boats');
        expect((await service.list(key))[0]?.title).toBe('Boats');
        await service.append(key, [titled('e3', { title: null })]);
        expect((await service.get(key))?.title).toBeUndefined();
      });

      test('F26 a record is a snapshot: later writes do not change it, and it cannot be changed', async () => {
        await service.append(key, [change('e1', { list: [1], 'app:a': { x: 1 } })]);
        const record = (await service.get(key))!;
        await service.append(key, [change('e2', { list: [2], more: 1, 'app:a': null })]);
        await service.delete(other);
        expect(record.state).toEqual({ list: [1], 'app:a': { x: 1 } });
        expect(record.events).toHaveLength(1);
        expect(() => (record.state.list as number[]).push(9)).toThrow(TypeError);
        expect(() => Object.assign(record.state, { x: 1 })).toThrow(TypeError);
        expect((await service.get(key))?.state).toEqual({ list: [2], more: 1 });
      });
    });

    describe('lease', () => {
      beforeEach(async () => {
        await service.create(key, { state: { own: 1, 'app:x': 1, 'user:y': 2 } });
      });

      test('F25 one run at a time; whoever comes second is refused before it writes anything', async () => {
        await service.append(key, [event('e1')]);
        const { epoch } = (await service.get(key))!;
        const lease = await service.acquire(key);
        expect(lease).toMatchObject({ epoch: epoch + 1, lastSeq: 1, shared: { 'app:x': 1, 'user:y': 2 } });
        expect(await refusalOf(service.acquire(key))).toMatchObject({ status: 'ABORTED', code: 'E_SESSION_BUSY' });
        await service.create(other);
        const elsewhere = await service.acquire(other);
        await service.append(key, [event('e2')], { epoch: lease.epoch });
        await elsewhere.release();
        await lease.release();
        expect((await service.acquire(key)).epoch).toBe(epoch + 2);
        expect((await service.get(key))?.epoch).toBe(epoch + 2);
      });

      test('F25 earlier epochs and given-back leases are fenced; others may append without one', async () => {
        const first = await service.acquire(key);
        await service.append(key, [event('e1')], { epoch: first.epoch, expectedSeq: 0 });
        await service.append(key, [event('answer')]);
        await first.release();
        const fenced = { status: 'ABORTED', code: 'E_FENCED' };
        expect(await refusalOf(service.append(key, [event('e2')], { epoch: first.epoch }))).toMatchObject(fenced);
        const second = await service.acquire(key);
        expect(second.lastSeq).toBe(2);
        const late = service.append(key, [event('e3')], { epoch: first.epoch, expectedSeq: 0 });
        expect(await refusalOf(late)).toMatchObject(fenced);
        await service.append(key, [event('e4')], { epoch: second.epoch });
        expect(await refusalOf(service.append(key, [event('e5')], { epoch: 9 }))).toMatchObject(fenced);
        expect(ids((await service.get(key))?.events)).toEqual(['e1', 'answer', 'e4']);
      });

      test('F25 an old holder cannot give back what is not its own', async () => {
        const first = await service.acquire(key);
        await first.release();
        const second = await service.acquire(key);
        await first.release();
        expect(await refusalOf(service.acquire(key))).toMatchObject({ code: 'E_SESSION_BUSY' });
        await service.append(key, [event('e1')], { epoch: second.epoch });
        await service.delete(key);
        await service.create(key);
        const third = await service.acquire(key);
        await second.release();
        expect(await refusalOf(service.acquire(key))).toMatchObject({ code: 'E_SESSION_BUSY' });
        // Nor can it write into the session that took the place of its own.
        const ghost = service.append(key, [event('ghost')], { epoch: second.epoch });
        expect(await refusalOf(ghost)).toMatchObject({ status: 'ABORTED', code: 'E_FENCED' });
        await service.append(key, [event('e2')], { epoch: third.epoch });
        await third.release();
      });

      test('ATT-B2 whether somebody holds a session now, and in which epoch', async () => {
        expect(await service.holder(key)).toBeUndefined();
        const lease = await service.acquire(key);
        await service.create(other);
        expect(await service.holder(key)).toBe(lease.epoch);
        expect(await service.holder(other)).toBeUndefined();
        expect(await service.holder({ ...key, id: 'nowhere' })).toBeUndefined();
        // A look takes nothing.
        await service.append(key, [event('e1')], { epoch: lease.epoch });
        expect(await refusalOf(service.acquire(key))).toMatchObject({ code: 'E_SESSION_BUSY' });
        await lease.release();
        expect(await service.holder(key)).toBeUndefined();
        const next = await service.acquire(key);
        expect(await service.holder(key)).toBe(next.epoch);
        await service.delete(key);
        expect(await service.holder(key)).toBeUndefined();
      });

      test('F25 a lease and the first events under it are one step, where the log stands as it is said to', async () => {
        const { leasesWithEvents = false } = service;
        await service.append(key, [event('e1')]);
        const lease = await service.acquire(key, { events: [event('e2')], expectedSeq: 1 });
        expect(ids(lease.stored)).toEqual(leasesWithEvents ? ['e2'] : []);
        expect(lease.lastSeq).toBe(leasesWithEvents ? 2 : 1);
        expect(ids((await service.get(key))?.events)).toEqual(leasesWithEvents ? ['e1', 'e2'] : ['e1']);
        expect(await refusalOf(service.acquire(key, { events: [event('e3')], expectedSeq: 2 }))).toMatchObject({
          code: 'E_SESSION_BUSY',
        });
        await service.append(key, [event('e4')], { epoch: lease.epoch });
        await lease.release();
        // Somebody has written meanwhile: the lease alone is taken.
        const late = await service.acquire(key, { events: [event('e5')], expectedSeq: 1 });
        expect(late.stored).toBeUndefined();
        const { lastSeq, events } = (await service.get(key))!;
        expect(late.lastSeq).toBe(lastSeq);
        expect(ids(events)).not.toContain('e5');
        await late.release();
        if (!leasesWithEvents) return;
        const twice = service.acquire(key, { events: [event('e1')], expectedSeq: lastSeq });
        expect(await refusalOf(twice)).toMatchObject({ code: 'E_EVENT_EXISTS' });
        // Nobody holds it: it is both or nothing.
        expect(await service.holder(key)).toBeUndefined();
        await (await service.acquire(key)).release();
      });

      test('F25 the last events under a lease give it back in the same step, or it is held still', async () => {
        const lease = await service.acquire(key);
        expect(lease.releaseWith !== undefined).toBe(service.leasesWithEvents ?? false);
        if (!lease.releaseWith) return;
        await service.append(key, [event('e1')], { epoch: lease.epoch });
        expect(await refusalOf(lease.releaseWith([event('e1')]))).toMatchObject({ code: 'E_EVENT_EXISTS' });
        expect(await service.holder(key)).toBe(lease.epoch);
        expect(ids(await lease.releaseWith([event('e2')]))).toEqual(['e2']);
        expect(await service.holder(key)).toBeUndefined();
        const fenced = { status: 'ABORTED', code: 'E_FENCED' };
        expect(await refusalOf(service.append(key, [event('e3')], { epoch: lease.epoch }))).toMatchObject(fenced);
        expect(await refusalOf(lease.releaseWith([event('e3')]))).toMatchObject(fenced);
        const next = await service.acquire(key);
        // Once it is given back it is somebody else's to hold.
        await lease.release();
        expect(await service.holder(key)).toBe(next.epoch);
        expect(ids((await service.get(key))?.events)).toEqual(['e1', 'e2']);
      });

      test('F25 of many at once exactly one gets it', async () => {
        const tries = await Promise.allSettled(Array.from({ length: 20 }, () => service.acquire(key)));
        expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      });

      test('shared state is as it is now', async () => {
        await service.create(other);
        await service.append(other, [change('e1', { 'app:x': 2, own: 5 })]);
        const lease = await service.acquire(key);
        await service.append(other, [change('e2', { 'app:x': 3 })]);
        expect(lease.shared).toEqual({ 'app:x': 2, 'user:y': 2 });
        expect(frozenWithin(lease.shared)).toBe(true);
      });
    });

    describe('open calls', () => {
      test('F19 calls without a response, over all sessions in scope, oldest first', async () => {
        const bob = { ...key, userId: 'bob' };
        for (const each of [key, other, bob, { ...key, app: 'bank' }]) await service.create(each);
        await service.append(key, [call('e1', 'c2', 'c1', 'c3')]);
        await service.append(key, [answer('e2', 'c1'), call('e3', 'c4'), answer('e4', 'c4'), answer('e5', 'stray')]);
        const openedAt = expect.any(Number);
        expect(await service.openCalls({ app: 'shop' })).toEqual([
          { key, callId: 'c2', name: 'pay', seq: 1, openedAt, lastSeq: 5 },
          { key, callId: 'c3', name: 'pay', seq: 1, openedAt, lastSeq: 5 },
        ]);
        await service.append(other, [call('e1', 'c1')]);
        await service.append(bob, [call('e1', 'c9')]);
        const found = async (scope: { app: string; userId?: string; id?: string }) =>
          (await service.openCalls(scope)).map((open) => `${open.key.userId}/${open.key.id}/${open.callId}`).sort();
        expect(await found({ app: 'shop' })).toEqual(['ann/s1/c2', 'ann/s1/c3', 'ann/s2/c1', 'bob/s1/c9']);
        expect(await found({ app: 'shop', userId: 'ann' })).toEqual(['ann/s1/c2', 'ann/s1/c3', 'ann/s2/c1']);
        expect(await found({ app: 'shop', userId: 'ann', id: 's2' })).toEqual(['ann/s2/c1']);
        expect(await found({ app: 'shop', id: 's1' })).toEqual(['ann/s1/c2', 'ann/s1/c3', 'bob/s1/c9']);
        expect(await found({ app: 'bank' })).toEqual([]);
        await service.append(key, [answer('e6', 'c2', 'c3')]);
        expect(await found(key)).toEqual([]);
        // A call that is made again takes its place among those of its event.
        await service.append(key, [call('e7', 'c7', 'c8')]);
        await service.append(key, [call('e8', 'c5', 'c8', 'c7')]);
        expect((await service.openCalls(key)).map(({ callId }) => callId)).toEqual(['c5', 'c8', 'c7']);
      });

      test('ATT-B6 of many calls of one event each is found, whatever its id is made of', async () => {
        await service.create(key);
        for (const odd of ['plain "1" \\', 'ünï', '\u0000', '\u{1f600}', 'c ']) {
          const ids = Array.from({ length: 200 }, (_, n) => (n % 50 === 0 ? `${n}${odd}` : `c${n}`));
          const { length } = (await service.get(key))?.events ?? [];
          await service.append(key, [call(`call ${length}`, ...ids)]);
          await service.append(key, [call(`again ${length}`, ...ids.slice(0, 100).toReversed())]);
          const open = await service.openCalls(key);
          expect(open.map(({ callId }) => callId)).toEqual([...ids.slice(100), ...ids.slice(0, 100).toReversed()]);
          expect(new Set(open.map(({ name, seq }) => `${name} ${seq}`)).size).toBe(2);
          await service.append(key, [answer(`answer ${length}`, ...ids)]);
          expect(await service.openCalls(key)).toEqual([]);
        }
      });
    });

    describe('an append of a large event', () => {
      const CALLS = 600;
      /** In no order, and of tools whose names are odd too. */
      const many = (id: string, init: Partial<EventInit> = {}) => {
        const parts = Array.from({ length: CALLS }, (_, n): ContentPart => {
          const name = ['pay', 'look "at" \\', 'zählen', 'pay ', '\u0000'][n % 5] ?? '';
          return { type: 'function_call', id: `${id}-${(n * 7919) % CALLS}`, name, args: { n } };
        });
        return event(id, { ...init, content: { role: 'model', parts } });
      };
      const callsOf = ({ seq, content }: StoredEvent) =>
        (content?.parts ?? []).map((part) => part.type === 'function_call' && `${part.id} ${part.name} ${seq}`);
      const open = async () =>
        (await service.openCalls(key)).map(({ callId, name: tool, seq }) => `${callId} ${tool} ${seq}`);

      test('is stored, returned and indexed as one of a small one', async () => {
        await service.create(key);
        await service.append(key, [event('e1')]);
        const batch = [
          change('e2', { n: 1, 'app:n': 2 }),
          event('p', { partial: true }),
          many('a', { customMetadata: { odd: '\u0000' } }),
          answer('e4', 'a-1', 'a-2'),
          many('b'),
        ];
        const stored = await service.append(key, batch, { expectedSeq: 1 });
        const record = await service.get(key);
        expect([ids(stored), seqs(stored)]).toEqual([
          ['e2', 'a', 'e4', 'b'],
          [2, 3, 4, 5],
        ]);
        expect(record?.events.slice(1)).toEqual(stored);
        expect(stored.every(frozenWithin)).toBe(true);
        expect(record).toMatchObject({ lastSeq: 5, state: { n: 1, 'app:n': 2 } });
        const isOpen = (one: string | false) => one !== false && !/^a-[12] /.test(one);
        expect(await open()).toEqual(stored.flatMap(callsOf).filter(isOpen));
        const last = stored.flatMap(callsOf).filter((one) => one !== false && one.startsWith('b-'));
        await service.append(key, [answer('e6', ...Array.from({ length: CALLS }, (_, n) => `a-${n}`))]);
        expect(await open()).toEqual(last);
      });

      test('takes its place behind what others append meanwhile', async () => {
        await service.create(key);
        const small = Array.from({ length: 9 }, (_, n) => event(`s${n}`));
        const all = await Promise.all([
          service.append(key, [many('a')]),
          ...small.map((one) => service.append(key, [one])),
          service.append(key, [many('b')]),
        ]);
        const { events = [] } = (await service.get(key)) ?? {};
        expect(seqs(events)).toEqual(Array.from({ length: 11 }, (_, n) => n + 1));
        expect(new Set(all.flat().map(({ id, seq }) => `${seq} ${id}`))).toEqual(
          new Set(events.map(({ id, seq }) => `${seq} ${id}`)),
        );
        expect((await open()).sort()).toEqual(events.flatMap(callsOf).sort());
      });

      test('is refused as that of a small one, and may be tried again', async () => {
        const fault = () => many('a', { actions: { stateDelta: { x: undefined } } });
        expect(await refusalOf(service.append(key, [fault()]))).toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
        await service.create(key);
        const [one] = await service.append(key, [event('e1')]);
        const stale = await service.acquire(key);
        await stale.release();
        const lease = await service.acquire(key);
        const given = [many('a')];
        const refusals = await Promise.all([
          refusalOf(service.append(key, given, { epoch: stale.epoch })),
          refusalOf(service.append(key, [many('a')], { expectedSeq: 0 })),
          refusalOf(service.append(key, [fault()], { epoch: stale.epoch })),
          refusalOf(service.append(key, [fault()])),
          refusalOf(service.append(key, [many('a'), event('e1')])),
        ]);
        expect(refusals.map(({ code }) => code)).toEqual([
          ...['E_FENCED', 'E_SESSION_CONFLICT', 'E_FENCED', 'E_NOT_JSON', 'E_EVENT_EXISTS'],
        ]);
        expect([(await service.get(key))?.events, await open()]).toEqual([[one], []]);
        const [stored] = await service.append(key, given, { epoch: lease.epoch });
        expect(stored).toMatchObject({ id: 'a', seq: 2 });
        expect(await open()).toHaveLength(CALLS);
      });

      test('is refused by a store that is closed meanwhile, or stored before', async () => {
        await service.create(key);
        const appended = service.append(key, [many('a')]).then(ids, ({ code }: CoxswainError) => code);
        const gone = under.reopen ? under.reopen() : undefined;
        const after = gone ? await gone : service;
        const outcome = await appended;
        const { events = [] } = (await after.get(key)) ?? {};
        const calls = await after.openCalls(key);
        expect(outcome).toEqual(events.length === 0 ? 'E_STORE' : ['a']);
        expect(calls).toHaveLength(events.length === 0 ? 0 : CALLS);
      });
    });

    sessionFacts(() => service);
    decidedQuestions(() => service);

    describe('open turns', () => {
      const turn = (id: string, start = 'clerk') =>
        createEvent({ id, turnId: id, author: 'user', actions: { turn: { start } } });
      const end = (id: string) => createEvent({ id, author: 'clerk', actions: { end: { reason: 'completed' } } });
      const open = async (scope: { app: string; userId?: string } = { app: 'shop' }) =>
        (await service.openTurns(scope)).map(
          ({ key: at, agent, pending }) => `${at.userId}/${at.id} ${agent} ${pending}`,
        );

      test('APP-B2 a turn is open from its first event to its end, also where both come at once', async () => {
        const bob = { ...key, userId: 'bob' };
        for (const each of [key, other, bob, { ...key, app: 'bank' }]) await service.create(each);
        expect(await open()).toEqual([]);
        await service.append(key, [turn('t1'), call('e1', 'c1', 'c2')]);
        await service.append(other, [turn('t1'), end('x1')]);
        await service.append(bob, [turn('t1', 'boss "1" ')]);
        expect((await open()).sort()).toEqual(['ann/s1 clerk 2', 'bob/s1 boss "1"  0']);
        expect(await open({ app: 'shop', userId: 'bob' })).toEqual(['bob/s1 boss "1"  0']);
        const listed = await service.list({ app: 'shop' });
        expect(listed.map(({ userId, id, unfinished }) => `${userId}/${id} ${unfinished}`).sort()).toEqual([
          'ann/s1 true',
          'ann/s2 false',
          'bob/s1 true',
        ]);
        await service.append(key, [end('x2'), turn('t2')]);
        await service.append(bob, [end('x1')]);
        expect(await open()).toEqual(['ann/s1 clerk 2']);
        await service.append(key, [end('x3')]);
        expect(await open()).toEqual([]);
      });

      test('APP-B2 one that is opened again is open; a rewind leaves what was open then', async () => {
        await service.create(key);
        await service.append(key, [turn('t1'), end('x1')]);
        await service.append(key, [
          createEvent({ id: 'r1', turnId: 't1', author: 'user', actions: { reopened: true } }),
        ]);
        expect(await open()).toEqual(['ann/s1 clerk 0']);
        await service.append(key, [createEvent({ id: 'b1', author: 'user', actions: { rewound: { through: 2 } } })]);
        expect(await open()).toEqual([]);
      });

      test('APP-B2 a copy has it as its log says, and what is deleted has none', async () => {
        await service.create(key);
        await service.append(key, [turn('t1'), end('x1'), turn('t2', 'boss')]);
        await service.fork(key, { id: 'copy' });
        await service.fork(key, { id: 'early', through: 2 });
        await service.fork(key, { id: 'settled', settle: () => [end('x9')] });
        expect((await open()).sort()).toEqual(['ann/copy boss 0', 'ann/s1 boss 0']);
        await service.delete(key);
        expect(await open()).toEqual(['ann/copy boss 0']);
      });

      test('APP-B4 which sessions have grown', async () => {
        if (!service.grown) return;
        for (const each of [key, other]) await service.create(each);
        await service.append(key, [turn('t1'), end('x1')]);
        const known = (mine: number) => [
          { key, seq: mine },
          { key: other, seq: 0 },
          { key: { ...key, id: 'gone' }, seq: 0 },
        ];
        expect(await service.grown(known(1))).toEqual([key]);
        expect(await service.grown(known(2))).toEqual([]);
        expect(await service.grown([])).toEqual([]);
      });
    });

    describe('checkpoints', () => {
      const checkpoint = (seq: number) => ({
        seq,
        digest: `d${seq}`,
        data: JSON.stringify({ seq, odd: '\u0000 \ud800 🚣' }),
      });
      const newest = async (of = key) => service.checkpoints?.newest(of);

      beforeEach(async () => {
        await service.create(key);
        await service.append(key, [event('e1'), event('e2')]);
      });

      test('the newest is kept, where its session is there and has as many events', async () => {
        expect(await newest()).toBeUndefined();
        await service.checkpoints?.keep(key, checkpoint(1));
        expect(await newest()).toEqual(checkpoint(1));
        await service.checkpoints?.keep(key, checkpoint(2));
        await service.checkpoints?.keep(key, checkpoint(1));
        await service.checkpoints?.keep(key, checkpoint(3));
        expect(await newest()).toEqual(checkpoint(2));
        await service.checkpoints?.keep(other, checkpoint(1));
        expect(await newest(other)).toBeUndefined();
        if (!under.reopen) return;
        service = await under.reopen();
        expect(await newest()).toEqual(checkpoint(2));
      });

      test('it goes with its session, deleted or erased, and is not of one that is made again', async () => {
        await service.checkpoints?.keep(key, checkpoint(2));
        await service.delete(key);
        expect(await newest()).toBeUndefined();
        await service.checkpoints?.keep(key, checkpoint(2));
        await service.create(key);
        expect(await newest()).toBeUndefined();
        await service.append(key, [event('e1'), event('e2')]);
        await service.checkpoints?.keep(key, checkpoint(2));
        const fork = await service.fork(key);
        expect(await newest(fork.key)).toBeUndefined();
        await service.eraseUser?.(key);
        await service.create(key);
        expect(await newest()).toBeUndefined();
      });

      test('a long log is opened at the newest one, and one that does not fit is passed by', async () => {
        const events = Array.from({ length: 1200 }, (_, n) =>
          event(`n${n}`, { author: 'user', actions: { turn: { start: 'bot' }, stateDelta: { n } } }),
        );
        await service.append(key, events);
        const read: number[] = [];
        /** As another process sees the store. */
        const elsewhere = () =>
          new Proxy(service, {
            get(target, name) {
              if (name !== 'get') {
                const member: unknown = Reflect.get(target, name);
                return typeof member === 'function' ? member.bind(target) : member;
              }
              return async (...asked: Parameters<SessionService['get']>) => {
                const record = await target.get(...asked);
                read.push(...(record?.events.map(({ seq }) => seq) ?? []));
                return record;
              };
            },
          });
        const first = await LiveSession.open(elsewhere(), key);
        await first.keepCheckpoint((message) => expect.fail(message));
        const opened = async () => {
          read.length = 0;
          const live = await LiveSession.open(elsewhere(), key);
          expect([live.at, live.fold.state, live.fold.turn?.seq]).toEqual([1202, { n: 1199 }, 1202]);
          return live;
        };
        const live = await opened();
        expect(live.from).toBe(1000);
        expect(Math.min(...read.filter((seq) => seq > 128))).toBe(1000);
        await live.whole();
        expect(live.log).toEqual((await service.get(key))?.events);
        const copy = await service.fork(key);
        read.length = 0;
        const copied = await LiveSession.copied(elsewhere(), key, copy);
        expect([copied.from, copied.at, copied.fold.state]).toEqual([1000, 1202, { n: 1199 }]);
        expect(Math.min(...read.filter((seq) => seq > 128))).toBe(1000);
        const early = await service.fork(key, { through: 900, settle: () => [event('own'), change('end', { n: 0 })] });
        const short = await LiveSession.copied(elsewhere(), key, early);
        expect([short.from, short.at, short.fold.state]).toEqual([0, 902, { n: 0 }]);
        const good = await newest();
        for (const change of [{ data: good?.data.replace('997', '998') }, { seq: 999 }, { digest: '' }, { data: '' }]) {
          const store = service.checkpoints;
          if (!store || !good) throw new Error('this store keeps none');
          const given = vi.spyOn(store, 'newest').mockResolvedValue({ ...good, ...change } as typeof good);
          expect((await opened()).from).toBe(0);
          given.mockRestore();
        }
      });
    });

    describe('fork', () => {
      const eventsOf = async (of: SessionKey) => (await service.get(of))?.events ?? [];
      beforeEach(async () => {
        await service.create(key, { state: { n: 0, kept: 1, 'app:x': 1 }, title: 'T' });
        await service.append(key, [change('e1', { n: 1 }), call('e2', 'c1', 'c2')]);
        await service.append(key, [answer('e3', 'c1'), change('e4', { n: 2, kept: null, 'app:x': 2 })]);
      });

      test('S0-58 all of the log, or what comes before a place in it', async () => {
        const settle = () => [];
        const whole = await service.fork(key, { id: 'f1', settle });
        const source = (await service.get(key))!;
        expect(whole).toMatchObject({ key: { ...key, id: 'f1' }, title: 'T', lastSeq: 4 });
        expect(await eventsOf(whole.key)).toEqual(source.events);
        expect(whole.state).toEqual(source.state);
        const part = await service.fork(key, { id: 'f2', through: 2, settle });
        expect(ids(await eventsOf(part.key))).toEqual(['e1', 'e2']);
        expect(part.state).toEqual({ n: 1, kept: 1, 'app:x': 2 });
        expect(part.initialState).toEqual({ n: 0, kept: 1 });
        expect([whole.events, part.events]).toEqual([[], []]);
        const events = await eventsOf(part.key);
        expect(await read(service, part.key)).toBe(
          canonicalJson({ ...part, events, epoch: 0, createdAt: 0, updatedAt: 0 }),
        );
        expect((await service.fork(key, { through: 0 })).state).toEqual({ n: 0, kept: 1, 'app:x': 2 });
        expect((await service.fork(key, { through: 99, settle })).lastSeq).toBe(4);
        expect((await service.openCalls({ ...key, id: 'f1' })).map(({ callId }) => callId)).toEqual(['c2']);
        expect((await service.openCalls({ ...key, id: 'f2' })).map(({ callId }) => callId)).toEqual(['c1', 'c2']);
      });

      test('the copy goes its own way', async () => {
        const lease = await service.acquire(key);
        const copy = await service.fork(key, { settle: () => [] });
        await service.append(copy.key, [change('own', { n: 9 }), answer('e9', 'c2')], { expectedSeq: 4 });
        await service.append(key, [event('own')], { epoch: lease.epoch, expectedSeq: 4 });
        expect((await service.get(key))?.state.n).toBe(2);
        expect((await service.openCalls(key)).map(({ callId }) => callId)).toEqual(['c2']);
        expect(await refusalOf(service.append(copy.key, [event('e1')]))).toMatchObject({ code: 'E_EVENT_EXISTS' });
        await service.delete(key);
        expect((await service.get(copy.key))?.events).toHaveLength(6);
        expect((await service.acquire(copy.key)).epoch).toBe(copy.epoch + 1);
      });

      test('ATT-B1 a copy asks nothing and carries no yes, unless whoever copies takes that upon himself', async () => {
        const yes = createEvent({
          id: 'e5',
          turnId: 't1',
          author: 'user',
          actions: { answers: { c2: { action: 'accept' } } },
        });
        await service.append(key, [yes]);
        for (const [id, through] of [['f1'], ['f2', 5], ['f3', 2]] as const) {
          const copy = await service.fork(key, { id, ...(through === undefined ? {} : { through }) });
          expect(await service.openCalls(copy.key)).toEqual([]);
          expect(copy.events).toEqual((await eventsOf(copy.key)).slice(through ?? 5));
          const ended = copy.events.flatMap(({ content }) => content?.parts ?? []);
          expect(ended.map((part) => part.type === 'function_response' && part.id)).toEqual(
            id === 'f3' ? ['c2', 'c1'] : ['c2'],
          );
          expect(JSON.stringify(ended)).toContain('the session was forked');
        }
        expect((await service.openCalls(key)).map(({ callId }) => callId)).toEqual(['c2']);
        const whole = await service.fork(key, { id: 'f4', settle: () => [] });
        expect((await service.openCalls(whole.key)).map(({ callId }) => callId)).toEqual(['c2']);
      });

      test('F19 what settles a copy is in it from its first moment, or there is no copy', async () => {
        const seen: unknown[] = [];
        const copy = await service.fork(key, {
          id: 'f1',
          settle: (made) => {
            seen.push(made.key.id, made.lastSeq, ids(made.events), made.state.n);
            return [answer('settled', 'c2'), change('last', { n: 7, 'app:x': 8 })];
          },
        });
        expect(seen).toEqual(['f1', 4, ['e1', 'e2', 'e3', 'e4'], 2]);
        expect(copy).toMatchObject({ lastSeq: 6, state: { n: 7, 'app:x': 8 } });
        expect(ids(copy.events)).toEqual(['settled', 'last']);
        const events = await eventsOf(copy.key);
        expect(ids(events)).toEqual(['e1', 'e2', 'e3', 'e4', 'settled', 'last']);
        expect(await read(service, copy.key)).toBe(
          canonicalJson({ ...copy, events, epoch: 0, createdAt: 0, updatedAt: 0 }),
        );
        expect(await service.openCalls(copy.key)).toEqual([]);
        expect((await service.openCalls(key)).map(({ callId }) => callId)).toEqual(['c2']);
        const failures: [() => StoredEvent[], string][] = [
          [() => [event('new'), event('e1')], 'E_EVENT_EXISTS'],
          [() => [event('')], 'E_ID'],
          [
            () => {
              throw new CoxswainError('INTERNAL', 'E_INTERNAL', 'cannot be settled');
            },
            'E_INTERNAL',
          ],
        ];
        for (const [settle, code] of failures) {
          expect(await refusalOf(service.fork(key, { id: 'f2', settle }))).toMatchObject({ code });
          expect(await service.get({ ...key, id: 'f2' })).toBeUndefined();
        }
        expect(await service.list(key)).toHaveLength(2);
      });

      describe('of many events', () => {
        const MANY = 900;
        const target = { ...key, id: 'copy' };
        beforeEach(async () => {
          const count = (n: number) => change(`n${n}`, { n });
          await service.append(
            key,
            Array.from({ length: MANY - 4 }, (_, n) => count(n + 4)),
          );
        });

        /** Settles nothing, and is told of each page. */
        const pages = (seen: (events: readonly StoredEvent[]) => void): Settle => {
          const see = (events: readonly StoredEvent[]) => seen(events);
          return Object.assign(() => [], { inPages: () => ({ see, end: () => [] }) });
        };

        test('is made in pages, and nobody sees it before it is whole', async () => {
          const looks: Promise<unknown>[] = [];
          const seen: string[] = [];
          const missing = (refused: Promise<unknown>) =>
            refusalOf(refused).then((error) => expect(error).toMatchObject({ code: 'E_SESSION_NOT_FOUND' }));
          // A few looks for each of the first pages, those that are over soon first: a store whose connections are all taken
          // would look too late.
          const steps = [
            () => [
              service.get(target).then((record) => expect(record).toBeUndefined()),
              service.list(key).then((all) => expect(all.map(({ id }) => id)).toEqual([key.id])),
              service.openCalls(target).then((calls) => expect(calls).toEqual([])),
            ],
            () => [
              service.openTurns({ app: key.app, userId: key.userId }).then((turns) => expect(turns).toEqual([])),
              service.holder(target).then((epoch) => expect(epoch).toBeUndefined()),
            ],
            () => [
              service.grown?.([{ key: target, seq: 0 }]).then((keys) => expect(keys).toEqual([])) ?? Promise.resolve(),
              service.altered?.(target).then((rows) => expect(rows).toEqual([])) ?? Promise.resolve(),
            ],
            () => [missing(service.append(target, [event('x')])), missing(service.append(target, [], { epoch: 1 }))],
            () => [missing(service.acquire(target)), missing(service.fork(target, { id: 'f1' }))],
          ];
          const settle = pages((events) => {
            looks.push(...(steps.shift()?.() ?? []));
            seen.push(...ids(events));
          });
          const copy = await service.fork(key, { id: 'copy', settle });
          await Promise.all(looks);
          expect(looks.length).toBe(11);
          const source = await service.get(key);
          expect(seen).toEqual(ids(source?.events));
          expect(await eventsOf(target)).toEqual(source?.events);
          expect([copy.lastSeq, copy.state]).toEqual([MANY, source?.state]);
          expect((await service.openCalls(target)).map(({ callId }) => callId)).toEqual(['c2']);
        });

        test('is what the source was at one moment, whatever is appended to it meanwhile', async () => {
          let appended = 0;
          const appends: Promise<unknown>[] = [];
          const settle = pages(() =>
            appends.push(service.append(key, [change(`late${appended++}`, { n: -1, late: 1 })])),
          );
          const copy = await service.fork(key, { id: 'copy', settle });
          await Promise.all(appends);
          expect(copy).toMatchObject({ lastSeq: MANY, state: { n: MANY - 1 } });
          expect(copy.state).not.toHaveProperty('late');
          const source = await eventsOf(key);
          expect(source).toHaveLength(MANY + appended);
          expect(await eventsOf(target)).toEqual(source.slice(0, MANY));
        });

        test('is whole, or not made, where its source is deleted meanwhile, or made again', async () => {
          const source = await eventsOf(key);
          for (const isMadeAgain of [false, true]) {
            let done: Promise<unknown> | undefined;
            const settle = pages(() => {
              const again = async () => {
                await service.create(key);
                const others = Array.from({ length: MANY }, (_, n) => event(`m${n}`));
                await service.append(key, others);
              };
              done ??= service.delete(key).then(isMadeAgain ? again : undefined);
            });
            const code = await service.fork(key, { id: 'copy', settle }).then(
              () => 'made',
              (error) => error.code,
            );
            expect(code).toMatch(/^(?:made|E_SESSION_CONFLICT|E_SESSION_NOT_FOUND)$/);
            await done;
            expect(await eventsOf(target)).toEqual(code === 'made' ? source : []);
            if (code === 'made') await service.delete(target);
            else expect(await service.get(target)).toBeUndefined();
            if (isMadeAgain) return;
            await service.create(key);
            await service.append(
              key,
              source.map((each) => ({ ...each })),
            );
          }
        });

        test('is one, also where two are made under one id', async () => {
          const both = await Promise.allSettled([
            service.fork(key, { id: 'copy', through: 300 }),
            service.fork(key, { id: 'copy', through: 200 }),
          ]);
          const made = both.filter(({ status }) => status === 'fulfilled');
          expect(made).toHaveLength(1);
          const refused = both.find(({ status }) => status === 'rejected');
          expect(refused).toMatchObject({ reason: { code: expect.stringMatching(/E_SESSION_(?:EXISTS|CONFLICT)/) } });
          const through = both[0].status === 'fulfilled' ? 300 : 200;
          const events = await eventsOf(target);
          expect(events.slice(0, through)).toEqual((await eventsOf(key)).slice(0, through));
          // What settles it comes behind.
          expect(ids(events.slice(through)).length).toBe(1);
          expect(await service.list(key)).toHaveLength(2);
        });

        test('or a session that is created under its id meanwhile, is there in the end', async () => {
          let created: Promise<unknown> | undefined;
          const settle = pages(() => {
            created ??= service.create(target, { title: 'mine' });
            created.catch(() => {});
          });
          const copy = await service.fork(key, { id: 'copy', settle }).then(
            () => 'made',
            (error) => error.code,
          );
          const session = await created?.then(
            () => 'made',
            (error) => error.code,
          );
          const left = await service.get(target);
          if (copy === 'made') {
            expect(session).toBe('E_SESSION_EXISTS');
            expect(left).toMatchObject({ title: 'T', lastSeq: MANY });
          } else {
            expect([copy, session]).toEqual([expect.stringMatching(/E_SESSION_(?:EXISTS|CONFLICT)/), 'made']);
            expect(left).toMatchObject({ title: 'mine', lastSeq: 0, events: [] });
            await service.append(target, [event('e1'), event('n99')]);
          }
        });

        test('is settled as what counts of it says, turns and rewinds within', async () => {
          const log = [
            event('t1', { turnId: 't1', author: 'user', actions: { turn: { start: 'bot' } } }),
            call('t2', 'lost', 'kept'),
            event('t3', { author: 'user', actions: { rewound: { through: MANY } } }),
            event('t4', { turnId: 't4', author: 'user', actions: { turn: { start: 'bot' } } }),
            call('t5', 'again'),
          ];
          await service.append(key, log);
          const copy = await service.fork(key, { id: 'copy' });
          const responses = copy.events.flatMap(({ content }) => content?.parts ?? []);
          expect(responses.map((part) => part.type === 'function_response' && part.id)).toEqual(['again', 'c2']);
          expect(copy.events.at(-1)?.actions.end).toEqual({ reason: 'aborted' });
          expect(await service.openCalls(target)).toEqual([]);
          expect((await service.openTurns({ app: key.app, userId: key.userId })).map((turn) => turn.key.id)).toEqual([
            key.id,
          ]);
          const open = await service.fork(key, { id: 'open', settle: () => [] });
          expect((await service.openCalls(open.key)).map(({ callId }) => callId)).toEqual(['c2', 'again']);
          expect((await service.openTurns({ app: key.app, userId: key.userId })).map((turn) => turn.key.id)).toEqual([
            key.id,
            'open',
          ]);
        });
      });

      test('a taken id and a wrong place are refused', async () => {
        const taken = service.fork(key, { id: key.id });
        expect(await refusalOf(taken)).toMatchObject({ status: 'ALREADY_EXISTS', code: 'E_SESSION_EXISTS' });
        expect(await refusalOf(service.fork(key, { through: -1 }))).toMatchObject({ code: 'E_BAD_INPUT' });
        expect(await service.list(key)).toHaveLength(1);
      });
    });

    test('S2-01 S2-31 the same inputs read back byte for byte as from memory, also after a restart', async () => {
      const reference = new InMemorySessionService();
      const copies: SessionKey = { ...key, id: 'copy' };
      for (const store of [reference, service]) {
        await store.create(key, {
          state: { n: 0, 'user:u': '\ud83d', ...parsed('{"__proto__":[]}') },
          title: 'T \u0000',
        });
        await store.create(other);
        const lease = await store.acquire(key);
        await store.append(key, [event('e1'), fullEvent('e2'), call('e3', 'c5')], { epoch: lease.epoch });
        await store.append(key, [change('e4', { n: 1, 'app:a': null }), answer('e5', 'c1')], { expectedSeq: 3 });
        await store.append(other, [change('e1', { 'user:u': { lone: '\udc00' } })]);
        await store.fork(key, { id: 'copy', through: 4, settle: () => [] });
        await lease.release();
      }
      const compare = async (store: SessionService) => {
        for (const each of [key, other, copies]) expect(await read(store, each)).toBe(await read(reference, each));
        const calls = async (of: SessionService) =>
          (await of.openCalls({ app: 'shop', id: 's1' })).map((one) => ({ ...one, openedAt: 0 }));
        expect(await calls(store)).toEqual(await calls(reference));
        const listed = async (of: SessionService) =>
          (await of.list({ app: 'shop' })).map(({ createdAt: _, updatedAt: __, ...rest }) => rest);
        expect(await listed(store)).toEqual(await listed(reference));
        const { state } = (await store.get(key))!;
        expect(joinState(state, {}, {})).toEqual(state);
      };
      await compare(service);
      if (!under.reopen) return;
      const again = await under.reopen();
      await compare(again);
      const { epoch } = (await again.get(key))!;
      const lease = await again.acquire(key);
      expect(lease.epoch).toBe(epoch + 1);
      await again.append(key, [event('e9')], { epoch: lease.epoch });
      expect(await refusalOf(again.append(key, [event('e1')]))).toMatchObject({ code: 'E_EVENT_EXISTS' });
    });
  });
}
