import { describe, expect, test } from 'vitest';
import type { StoredEvent } from '../../src/runtime/index.ts';
import {
  Cuts,
  createEvent,
  deltaBackTo,
  effectiveEvents,
  InMemorySessionService,
  OpenCallFold,
  openCallChanges,
  openTurnChange,
  openTurnOf,
  SessionsBelow,
} from '../../src/runtime/index.ts';
import { Folding } from './folding.ts';
import { key } from './kit.ts';

const refused = (code: string) => expect.objectContaining({ code });

async function store(): Promise<InMemorySessionService> {
  const sessions = new InMemorySessionService();
  await sessions.create(key, { state: { a: 1 } });
  return sessions;
}

describe('an event that is appended', () => {
  const event = () => createEvent({ author: 'user' });
  const parts = (...all: unknown[]) => ({ ...event(), content: { role: 'model', parts: all } });
  const call = { type: 'function_call', id: 'c', name: 'n', args: {} };

  test.each<[string, unknown, string]>([
    ['is an object', 1, 'events[1] is no object'],
    ['is no list', [], 'events[1] is no object'],
    ['has a turn', { ...event(), turnId: 1 }, 'events[1].turnId is no text'],
    ['has a run', { ...event(), invocationId: undefined }, 'events[1].invocationId is no text'],
    ['has a stream', { ...event(), streamId: null }, 'events[1].streamId is no text'],
    ['has a path', { ...event(), path: {} }, 'events[1].path is no text'],
    ['has an author', { ...event(), author: 1 }, 'events[1].author is no text'],
    ['has a time', { ...event(), timestamp: Number.NaN }, 'events[1].timestamp is no number'],
    ['has actions', { ...event(), actions: null }, 'events[1].actions is no object'],
    ['has a delta', { ...event(), actions: { stateDelta: [] } }, 'events[1].actions.stateDelta is no object'],
    ['has content with parts', { ...event(), content: {} }, 'events[1].content.parts is no list'],
    ['has content that is an object', { ...event(), content: 'x' }, 'events[1].content.parts is no list'],
    ['has parts that are objects', parts({ type: 'text', text: '' }, 1), 'a part without type'],
    ['has parts with types', parts({ text: '' }), 'a part without type'],
    ['has calls with ids', parts({ ...call, id: 1 }), 'a call without id or name'],
    ['has calls with names', parts({ ...call, name: undefined }), 'a call without id or name'],
    ['has responses with ids', parts({ ...call, type: 'function_response', id: 1 }), 'a call without id or name'],
  ])('%s', async (_, given, message) => {
    const sessions = await store();
    const append = sessions.append(key, [event(), given as StoredEvent]);
    await expect(append).rejects.toThrow(
      expect.objectContaining({ code: 'E_BAD_INPUT', message: expect.stringContaining(message) }),
    );
    expect((await sessions.get(key))?.lastSeq).toBe(0);
  });

  test('may hold parts of other kinds, without id or name', async () => {
    const sessions = await store();
    const given = parts({ type: 'text', text: 'a' }, { type: 'reference', uri: 'x' }, call) as unknown as StoredEvent;
    expect(await sessions.append(key, [event(), given])).toHaveLength(2);
  });
});

test.each<[string, (sessions: InMemorySessionService) => Promise<unknown>]>([
  ['create', (sessions) => sessions.create({ ...key, id: 's2' }, { stat: {} } as never)],
  ['create, its state', (sessions) => sessions.create({ ...key, id: 's2' }, { state: [] as never })],
  ['get', (sessions) => sessions.get(key, { before: 1 } as never)],
  ['get, its numbers', (sessions) => sessions.get(key, { limit: -1 })],
  ['list', (sessions) => sessions.list(key, { page: 1 } as never)],
  ['append', (sessions) => sessions.append(key, [], { seq: 1 } as never)],
  ['append, its events', (sessions) => sessions.append(key, {} as never)],
  ['fork', (sessions) => sessions.fork(key, { until: 1 } as never)],
  ['a key', (sessions) => sessions.get(null as never)],
  ['a key that is to be made', (sessions) => sessions.create(1 as never)],
  ['a scope', (sessions) => sessions.list(1 as never)],
])('%s refuses what it does not know', async (_, act) => {
  await expect(act(await store())).rejects.toThrow(refused('E_BAD_INPUT'));
});

test.each<[string, (sessions: InMemorySessionService) => Promise<unknown>]>([
  ['an app', (sessions) => sessions.get({ ...key, app: '' })],
  ['a user', (sessions) => sessions.get({ ...key, userId: 'a/b' })],
  ['a session', (sessions) => sessions.get({ ...key, id: '../x' })],
  ['the app of one to be made', (sessions) => sessions.create({ ...key, app: '' })],
  ['the app of a list', (sessions) => sessions.list({ app: '' })],
  ['the user of a list', (sessions) => sessions.list({ app: 'shop', userId: '' })],
  ['the session of open calls', (sessions) => sessions.openCalls({ app: 'shop', userId: 'ann', id: '' })],
])('the id of %s is checked', async (_, act) => {
  await expect(act(await store())).rejects.toThrow(refused('E_ID'));
});

describe('a session that is restored', () => {
  const restored = (f: Folding) => ({
    initialState: { a: 1, 'app:x': 9 },
    title: 'T',
    events: f.events.map((one) => ({ ...one })),
  });

  test('is as its log says, and leaves what is shared alone', async () => {
    const sessions = await store();
    const f = new Folding();
    f.act({ stateDelta: { b: 2, 'user:y': 3 } });
    f.call(['c1', 'c2']);
    f.respond('c2');
    const record = await sessions.restore({ ...key, id: 's2' }, restored(f));
    expect(record).toMatchObject({
      key: { ...key, id: 's2' },
      title: 'T',
      lastSeq: 4,
      initialState: { a: 1 },
      events: [],
    });
    expect(record.state).toEqual({ a: 1, b: 2 });
    const read = await sessions.get({ ...key, id: 's2' });
    expect(read?.events.map(({ id, seq }) => [id, seq])).toEqual(f.events.map(({ id }, index) => [id, index + 1]));
    expect((await sessions.openCalls({ ...key, id: 's2' })).map(({ callId }) => callId)).toEqual(['c1']);
    expect((await sessions.openTurns({ app: 'shop' })).map(({ key: { id }, agent }) => [id, agent])).toEqual([
      ['s2', 'bot'],
    ]);
    const taken = sessions.append({ ...key, id: 's2' }, [{ ...f.events[0] } as StoredEvent]);
    await expect(taken).rejects.toThrow(refused('E_EVENT_EXISTS'));
  });

  test('is refused where its name is taken, or an id comes twice: then there is none', async () => {
    const sessions = await store();
    const f = new Folding();
    await expect(sessions.restore(key, restored(f))).rejects.toThrow(refused('E_SESSION_EXISTS'));
    f.events.push({ ...(f.events[0] as StoredEvent) });
    await expect(sessions.restore({ ...key, id: 's2' }, restored(f))).rejects.toThrow(refused('E_EVENT_EXISTS'));
    await expect(sessions.restore({ ...key, id: 's2' }, { ...restored(f), events: [1 as never] })).rejects.toThrow(
      refused('E_BAD_INPUT'),
    );
    expect(await sessions.get({ ...key, id: 's2' })).toBeUndefined();
  });
});

test('MUT-R30 options of an append are looked at whatever they were made by', async () => {
  const sessions = await store();
  for (const made of [Object.create({}), Object.create(null)] as object[]) {
    const options = Object.assign(made, { epoch: 'no number' }) as never;
    await expect(sessions.append(key, [], options)).rejects.toThrow(refused('E_BAD_INPUT'));
  }
});

describe('what a log leaves open', () => {
  const rewind = (f: Folding, through: number) =>
    f.add({ turnId: '', streamId: '', author: 'user', actions: { rewound: { through } } });

  test('is known from its pieces as from the whole, rewinds within', () => {
    const f = new Folding();
    f.speak('hello');
    f.call(['c1', 'c2']);
    f.respond('c1');
    f.act({ end: { reason: 'completed' } });
    rewind(f, 3);
    const fold = new OpenCallFold();
    const counting = effectiveEvents(f.events);
    for (const event of counting) fold.add([event]);
    expect(fold.openTurn()).toBe('bot');
    expect(fold.opened()).toEqual([
      { callId: 'c1', name: 'tool c1', seq: 3 },
      { callId: 'c2', name: 'tool c2', seq: 3 },
    ]);
    fold.add([f.respond('c1'), f.act({ end: { reason: 'completed' } })]);
    expect(fold.openTurn()).toBeUndefined();
    expect(fold.opened().map(({ callId }) => callId)).toEqual(['c2']);
    fold.add([f.act({ reopened: true })]);
    expect(fold.openTurn()).toBe('bot');
    fold.add([f.act({ turn: { start: 'eve' } })]);
    expect(fold.openTurn()).toBe('eve');
  });

  test('is known in pages, rewinds of rewinds within, as in the whole', () => {
    const f = new Folding();
    for (let n = 0; n < 40; n++) {
      f.speak(`word ${n}`);
      if (n % 4 === 3) rewind(f, [1, 4, 6, 2, 14, 20, 9, 33, 33, 12][(n - 3) / 4] ?? 0);
    }
    const markers = f.events.flatMap(({ seq, actions }) => (actions.rewound ? [{ seq, ...actions.rewound }] : []));
    expect(markers).toHaveLength(10);
    for (const size of [1, 3, 7, 50]) {
      const cuts = new Cuts(markers);
      const counting: StoredEvent[] = [];
      for (let at = 0; at < f.events.length; at += size) counting.push(...cuts.counting(f.events.slice(at, at + size)));
      expect(counting).toEqual(effectiveEvents(f.events));
    }
  });

  test('is counted without what a rewind has cut', () => {
    const f = new Folding();
    f.speak('a');
    f.speak('b');
    rewind(f, 2);
    f.speak('c');
    rewind(f, 1);
    expect(effectiveEvents(f.events).map(({ seq }) => seq)).toEqual([1, 6]);
    expect(effectiveEvents(f.events.slice(0, 5)).map(({ seq }) => seq)).toEqual([1, 2, 4, 5]);
    rewind(f, 0);
    expect(effectiveEvents(f.events).map(({ seq }) => seq)).toEqual([7]);
  });

  test('is a call that was made again behind its answer, at the end of all', () => {
    const f = new Folding();
    f.call(['c1', 'c2']);
    f.respond('c1');
    f.call(['c1']);
    expect(openCallChanges(f.events)).toEqual({
      opened: [
        { callId: 'c2', name: 'tool c2', seq: 2 },
        { callId: 'c1', name: 'tool c1', seq: 4 },
      ],
      closed: ['c1'],
    });
    expect(openCallChanges([])).toEqual({ opened: [], closed: [] });
  });

  test('is a turn, by what a batch does to it', () => {
    const of = (...all: object[]) => openTurnChange(all.map((actions) => createEvent({ author: 'user', actions })));
    const [turn, end] = [{ turn: { start: 'bot' } }, { end: { reason: 'x' } }];
    expect(of({})).toBeUndefined();
    expect(of(turn)).toEqual({ kind: 'opened', agent: 'bot' });
    expect(of(turn, end)).toEqual({ kind: 'closed' });
    expect(of(end, turn)).toEqual({ kind: 'opened', agent: 'bot' });
    expect(of({ reopened: true })).toEqual({ kind: 'unknown' });
    expect(of({ reopened: true }, end)).toEqual({ kind: 'unknown' });
    expect(of({ rewound: { through: 0 } })).toEqual({ kind: 'unknown' });
    expect(openTurnOf([])).toBeUndefined();
  });
});

test('a rewind takes back the state of the session, and nothing that is shared', () => {
  const f = new Folding();
  f.act({ stateDelta: { a: 2, kept: 1, gone: 1, 'app:x': 1 } });
  f.act({ stateDelta: { a: 3, b: 1, gone: null, 'app:x': 2 } });
  expect(deltaBackTo({ a: 1, initial: 1 }, f.events, 2)).toEqual({ a: 2, b: null, gone: 1 });
  expect(deltaBackTo({ a: 1, initial: 1 }, f.events, 1)).toEqual({ a: 1, kept: null, b: null });
  expect(deltaBackTo({ a: 1 }, f.events, 3)).toEqual({});
});

test('sessions of sub-agents are those that were called, once each', () => {
  const f = new Folding();
  f.call(['c1']);
  f.respond('c1');
  const ids = ['s1.c1', 's1.c2', 's1.other'];
  const below = new SessionsBelow('s1', ids);
  below.see('s1', f.events);
  below.see('s1', f.events);
  expect(below.found).toHaveLength(1);
  const own = new SessionsBelow('s1', below.found);
  own.see('s1', [f.respond('c1'), f.speak('c1')]);
  expect(own.found).toEqual([]);
});
