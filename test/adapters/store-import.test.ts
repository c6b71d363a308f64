import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { project } from '../../src/adapters/adk/index.ts';
import { exportSession, importSession } from '../../src/adapters/stores/common/maintenance.ts';
import { headerLine } from '../../src/adapters/stores/common/session-lines.ts';
import type { SqliteSessionService } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { isCoxswainError } from '../../src/contracts/index.ts';
import type { SessionService, StoredEvent } from '../../src/runtime/index.ts';
import { InMemorySessionService, LiveSession, verifyLog } from '../../src/runtime/index.ts';
import { collect } from '../runtime/kit.ts';
import { answer, call, change, event, fullEvent, key } from '../suites/session-service.ts';

const scope = { app: 'shop', userId: 'eve' };

describe('files that are no export, or were changed by somebody', () => {
  let store: SqliteSessionService;
  let lines: string[];

  beforeEach(async () => {
    store = openSqlite(':memory:');
    await store.create(key, { state: { n: 1 }, title: 'T' });
    const turn = event('t1', { author: 'user', actions: { turn: { start: 'bot' } } });
    await store.append(key, [turn, call('e1', 'c0'), answer('e2', 'c0'), fullEvent('e3'), change('e4', { n: 2 })]);
    lines = await collect(exportSession(store, key));
  });
  afterEach(() => store.close());

  /** Every place within a value. */
  function places(value: unknown, at: (string | number)[] = []): (string | number)[][] {
    if (typeof value !== 'object' || value === null) return [at];
    return [at, ...Object.entries(value).flatMap(([name, inner]) => places(inner, [...at, name]))];
  }

  function changed(text: string, at: readonly (string | number)[], rubbish: unknown): string {
    if (at.length === 0) return JSON.stringify(rubbish) ?? '';
    const value = JSON.parse(text) as Record<string | number, unknown>;
    let inner = value;
    for (const name of at.slice(0, -1)) inner = inner[name] as typeof inner;
    const last = at.at(-1) ?? '';
    if (rubbish === undefined) delete inner[last];
    else inner[last] = rubbish;
    return JSON.stringify(value);
  }

  const rubbish = fc.oneof(
    fc.constantFrom(undefined, null, true, 0, -1, 0.5, 1e300, '', 'x', '\u0000', [], [null], {}, { a: null }, [[]]),
    fc.jsonValue({ maxDepth: 2 }),
  );

  test('F27 one changed place: refused with a reason and nothing stored, or taken and of use', async () => {
    const choice = fc.nat(lines.length - 1).chain((line) => {
      const all = places(JSON.parse(lines[line] ?? ''));
      return fc.record({ line: fc.constant(line), at: fc.constantFrom(...all), rubbish });
    });
    await fc.assert(
      fc.asyncProperty(choice, async ({ line, at, rubbish: value }) => {
        const given = lines.with(line, changed(lines[line] ?? '', at, value));
        for (const target of [store, new InMemorySessionService()]) {
          // Of a try that failed.
          for (const { id } of await target.list(scope)) await target.delete({ ...scope, id });
          let taken: Awaited<ReturnType<typeof importSession>>;
          try {
            taken = await importSession(target, scope, given);
          } catch (error) {
            if (!isCoxswainError(error) || error.status === 'INTERNAL') throw error;
            expect(await target.list(scope)).toEqual([]);
            continue;
          }
          const live = await LiveSession.open(target, taken.key);
          live.contents({ agent: 'bot', branch: undefined, iso: '' });
          for (const stored of live.log) project(taken.key.id, stored);
          await target.fork(taken.key);
          await collect(exportSession(target, taken.key));
        }
      }),
      { numRuns: 200 },
    );
  });

  test('F27 rubbish, half of it, twice of it, in another order', async () => {
    const cut = lines.join('\n').slice(0, -30).split('\n');
    const wrong: string[][] = [
      ['\u0000\u0001\u0002'],
      ['{"format":"coxswain.session"}'],
      ['[]', ...lines.slice(1)],
      cut,
      [...lines, ...lines.slice(1)],
      [...lines, lines[0] ?? ''],
      [lines[0] ?? '', ...lines.slice(1).reverse()],
      lines.map((line) => line.slice(1)),
    ];
    for (const given of wrong) {
      await expect(importSession(store, scope, given)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    }
    expect(await store.list(scope)).toEqual([]);
    const marked = [`\ufeff${lines[0]}`, '', ...lines.slice(1), ''];
    expect((await importSession(store, scope, marked)).lastSeq).toBe(5);
  });
});

describe('the lines of an export', () => {
  const header = { format: 'coxswain.session', version: 2, key, initialState: {}, createdAt: 5 };
  const run = { turnId: 't1', invocationId: 'i1', streamId: 'x1' };
  const quiet = { stateDelta: {}, artifactDelta: {}, escalate: false, skipSummarization: false };
  const plain = { path: '', partial: false, turnComplete: true, longRunningToolIds: [] };
  const words = (text: string) => ({ role: 'user' as const, parts: [{ type: 'text' as const, text }] });
  const at = 1_700_000_000_000;

  async function exported(events: StoredEvent[]): Promise<unknown[]> {
    const store = new InMemorySessionService();
    await store.create(key);
    await store.append(key, events);
    return (await collect(exportSession(store, key))).map((line) => JSON.parse(line));
  }

  async function imported(lines: readonly unknown[]): Promise<readonly StoredEvent[] | undefined> {
    const store = new InMemorySessionService();
    await importSession(
      store,
      key,
      lines.map((line) => JSON.stringify(line)),
    );
    return (await store.get(key))?.events;
  }

  const refusal = (lines: readonly unknown[]) => imported(lines).catch(({ code, message }) => `${code} ${message}`);

  test('what the events of a run have in common is said once, and nothing of what most have alike', async () => {
    const [first, ...lines] = await exported([
      event('e1', { ...run, author: 'user', content: words('hi'), actions: { turn: { start: 'bot' } } }),
      event('e2', { ...run, path: '/0', turnComplete: false, longRunningToolIds: ['c1'], model: 'm' }),
      event('e3', { ...run, streamId: 'x2', actions: { stateDelta: { n: null }, artifactDelta: { f: 1 } } }),
      event('e4', { ...run, streamId: 'x2', actions: { escalate: true, skipSummarization: true } }),
      event('e5', { turnId: 't1' }),
    ]);
    expect(first).toMatchObject({ ...header, createdAt: expect.any(Number), lastSeq: 5 });
    const own = (id: string, author = 'bot') => ({ id, author, timestamp: at });
    expect(lines).toEqual([
      {
        ...run,
        seq: 1,
        events: [
          { ...own('e1', 'user'), content: words('hi'), actions: { turn: { start: 'bot' } } },
          { ...own('e2'), path: '/0', turnComplete: false, longRunningToolIds: ['c1'], model: 'm' },
        ],
      },
      {
        ...run,
        streamId: 'x2',
        seq: 3,
        events: [
          { ...own('e3'), actions: { stateDelta: { n: null }, artifactDelta: { f: 1 } } },
          { ...own('e4'), actions: { escalate: true, skipSummarization: true } },
        ],
      },
      { turnId: 't1', invocationId: '', streamId: '', seq: 5, events: [own('e5')] },
    ]);
  });

  test('links of the audit chain hold after it', async () => {
    const store = openSqlite(':memory:');
    await store.create(key);
    const live = await LiveSession.open(store, key);
    const lease = await live.lease();
    await live.commit([event('t1', { ...run, author: 'user', actions: { turn: { start: 'bot' } } })], lease.epoch);
    for (const audited of [call('e1', 'c0'), answer('e2', 'c0'), fullEvent('e3')])
      await live.commit([audited], lease.epoch);
    await lease.release();
    const lines = await collect(exportSession(store, key));
    await store.close();
    const other = new InMemorySessionService({ chained: true });
    await importSession(other, key, lines);
    const events = (await other.get(key))?.events ?? [];
    expect(verifyLog(events)).toMatchObject({ ok: true, linked: 3 });
    expect(verifyLog(events.map((one) => (one.id === 'e2' ? { ...one, author: 'eve' } : one))).ok).toBe(false);
  });

  test('a line has a bounded number of events', async () => {
    const many = Array.from({ length: 40 }, (_, n) => event(`e${n}`, run));
    const lines = (await exported(many)).slice(1) as { seq: number; events: unknown[] }[];
    expect(lines.map(({ seq, events }) => [seq, events.length])).toEqual([
      [1, 16],
      [17, 16],
      [33, 8],
    ]);
  });

  test('version 1, with a line for each event that says all of it, is read', async () => {
    const one = { ...run, ...plain, id: 'e1', seq: 1, author: 'user', timestamp: at, content: words('hi') };
    const two = { ...run, ...plain, id: 'e2', seq: 2, author: 'bot', timestamp: at, later: { version: true } };
    const events = [
      { ...one, actions: { ...quiet, turn: { start: 'bot' } } },
      { ...two, actions: quiet },
    ];
    const old = { ...header, version: 1, lastSeq: 2 };
    expect(await imported([old, ...events])).toEqual(events);
    const [, ...lines] = await exported(((await imported([old, ...events])) ?? []).map((stored) => ({ ...stored })));
    expect(await imported([{ ...header, lastSeq: 2 }, ...lines])).toEqual(events);
    // What the newer form leaves out, the older one has.
    const { path: _, ...without } = one;
    expect(await refusal([old, { ...without, actions: quiet }])).toMatch(/^E_BAD_INPUT .*line 2 .*look at its path$/);
  });

  test('what is wrong with an event is told with its place', async () => {
    const own = { id: 'e1', author: 'bot', timestamp: at };
    const asked = (...events: unknown[]) =>
      refusal([
        { ...header, lastSeq: events.length },
        { ...run, seq: 1, events },
      ]);
    expect(await asked(own)).toEqual([{ ...run, ...plain, ...own, seq: 1, actions: quiet }]);
    expect(await asked(own, { ...own, id: 7 })).toContain('line 2 is no event, where event 2 belongs: look at its id');
    expect(await asked({ ...own, actions: { turn: {} } })).toContain('look at its actions.turn');
    expect(await asked({ ...own, actions: [] })).toContain('look at its actions');
    expect(await asked({ ...own, partial: true })).toContain('look at its partial');
    expect(await asked({ ...own, actions: { rewound: { through: 1 } } })).toContain('actions.rewound.through');
    expect(await asked({ ...own, seq: 2 })).toContain('line 2 has event 2 where 1 belongs');
    expect(await asked({ ...own, streamId: 3 })).toContain('look at its streamId');
    expect(await asked({ id: 'e1', author: 'bot' })).toContain('look at its timestamp');
    expect(await asked('e1')).toContain('line 2 has no event where event 1 belongs');
    const inherited = JSON.parse('{"id":"e1","author":"bot","timestamp":1,"__proto__":{"content":{}}}');
    expect(await asked(inherited)).toContain('look at its __proto__');
    for (const line of [
      { ...run, seq: 1 },
      { ...run, events: [own] },
      { ...run, turnId: 1, seq: 1, events: [own] },
    ])
      expect(await refusal([{ ...header, lastSeq: 1 }, line])).toContain('line 2 has no events');
    const twice = { ...run, seq: 1, events: [own] };
    expect(await refusal([{ ...header, lastSeq: 2 }, twice, twice])).toContain('line 3 has event 1 where 2 belongs');
  });
});

describe('ATK2-29 a call that is open under the id of an earlier call could never be answered', () => {
  test.each<[string, StoredEvent[], boolean]>([
    ['asked, settled and asked again', [call('e1', 'X'), answer('e2', 'X'), call('e3', 'X')], true],
    ['asked twice', [call('e1', 'X'), call('e2', 'X')], true],
    ['settled both times', [call('e1', 'X'), answer('e2', 'X'), call('e3', 'X'), answer('e4', 'X')], false],
    ['another beside it', [call('e1', 'X'), answer('e2', 'X'), call('e3', 'Y')], false],
    [
      'cut by a rewind before',
      [event('e0'), call('e1', 'X'), event('e2', { actions: { rewound: { through: 1 } } }), call('e3', 'X')],
      false,
    ],
  ])('%s', async (_, events, isRefused) => {
    const lines = [
      headerLine({ key, initialState: {}, createdAt: 1, lastSeq: events.length }),
      ...events.map((one, at) => JSON.stringify({ ...one, seq: at + 1 })),
    ].map((line, at) => (at === 0 ? line.replace('"version":2', '"version":1') : line));
    const store = openSqlite(':memory:');
    const imported = importSession(store, key, lines);
    if (isRefused) {
      await expect(imported).rejects.toMatchObject({ code: 'E_BAD_INPUT', message: expect.stringContaining('"X"') });
      expect(await store.get(key)).toBeUndefined();
    } else expect(await imported).toMatchObject({ lastSeq: events.length });
    await store.close();
  });
});

describe('CASE-S1 importing an old copy leaves the shared state of its new place as it is', () => {
  const scopes = { plan: 'user:plan', motto: 'app:motto' };
  const set = (id: string, value: string) => change(id, { [scopes.plan]: value, [scopes.motto]: value, own: value });

  test.each([
    ['memory', () => new InMemorySessionService()],
    ['SQLite', () => openSqlite(':memory:')],
  ])('%s', async (_, make) => {
    const store = make();
    await store.create(key, { title: 'T' });
    await store.append(key, [set('e1', 'old'), call('e2', 'c1')]);
    const lines = await collect(exportSession(store, key));
    await store.append(key, [set('e3', 'new')]);
    const copy = { ...key, id: 'copy' };
    const record = await importSession(store, copy, lines);
    expect(record).toMatchObject({
      title: 'T',
      lastSeq: 2,
      state: { own: 'old', 'user:plan': 'new', 'app:motto': 'new' },
    });
    expect((await store.get(key))?.state).toMatchObject({ own: 'new', 'user:plan': 'new', 'app:motto': 'new' });
    expect((await store.openCalls(copy)).map(({ callId }) => callId)).toEqual(['c1']);
    expect((await store.get(copy))?.events.map(({ id, seq }) => [id, seq])).toEqual([
      ['e1', 1],
      ['e2', 2],
    ]);
    await expect(importSession(store, copy, lines)).rejects.toMatchObject({ code: 'E_SESSION_EXISTS' });
    await store.close();
  });

  test('a store that cannot do so refuses such a session before anything is stored', async () => {
    const store = new InMemorySessionService();
    await store.create(key);
    await store.append(key, [set('e1', 'old')]);
    const lines = await collect(exportSession(store, key));
    const other: SessionService = new InMemorySessionService();
    Object.assign(other, { restore: undefined });
    await expect(importSession(other, key, lines)).rejects.toMatchObject({ code: 'E_UNSUPPORTED' });
    expect(await other.list({ app: key.app })).toEqual([]);
  });
});

describe('ATK5-07 a title that is too long for a list', () => {
  const longTitle = 't'.repeat(301);
  const titled = (title: string) => event('e1', { actions: { config: { title } } });

  test.each<[string, () => SessionService & { close?(): Promise<void> }]>([
    ['SQL', () => openSqlite(':memory:')],
    ['memory', () => new InMemorySessionService()],
  ])('is refused, and nothing is stored: %s', async (_, open) => {
    const store = open();
    await store.create(key, { title: 't'.repeat(300) });
    await store.append(key, [titled('n'.repeat(300))]);
    const [first = '', ...rest] = await collect(exportSession(store, key));
    const header = JSON.stringify({ ...(JSON.parse(first) as object), title: longTitle });
    const changed = rest.map((line) => line.replace('n'.repeat(300), 'n'.repeat(302)));
    expect(changed).not.toEqual(rest);
    const refused = { code: 'E_BAD_INPUT', message: expect.stringContaining('at most 300 characters') as string };
    await expect(importSession(store, scope, [header, ...rest])).rejects.toMatchObject(refused);
    await expect(importSession(store, scope, [first, ...changed])).rejects.toMatchObject(refused);
    const restored = { title: longTitle, initialState: {}, events: [] };
    await expect(store.restore?.({ ...scope, id: 'r' }, restored)).rejects.toMatchObject(refused);
    await expect(store.append(key, [{ ...titled(longTitle), id: 'e2' }])).rejects.toMatchObject(refused);
    expect(await store.list(scope, {})).toEqual([]);
    expect(await store.get(key, { limit: 0 })).toMatchObject({ title: 'n'.repeat(300), lastSeq: 1 });
    const moved = await importSession(store, scope, [first, ...rest]);
    expect(moved.title).toBe('n'.repeat(300));
    await store.close?.();
  });
});
