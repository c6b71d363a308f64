import { describe, expect, test } from 'vitest';
import { CoxswainError } from '../../src/contracts/index.ts';
import type { EventInit, StoredEvent } from '../../src/runtime/index.ts';
import { createEvent, InMemorySessionService, LiveSession } from '../../src/runtime/index.ts';
import { SharedAppends } from '../../src/runtime/live/shared-appends.ts';
import { MANY } from '../../src/session/index.ts';
import { brief, gate, key, user } from './kit.ts';

const event = (id: string, more: Partial<EventInit> = {}) => createEvent({ id, author: 'user', timestamp: 0, ...more });
const ids = (live: LiveSession) => live.log.map(({ id }) => id);
const root = { agent: 'bot', branch: undefined, iso: '' };

async function opened(options: { chained?: boolean } = {}, state: Record<string, unknown> = {}) {
  const sessions = new InMemorySessionService(options);
  await sessions.create(key, { state });
  return { sessions, live: await LiveSession.open(sessions, key) };
}

describe('a session in this process', () => {
  test('is not there where it is not stored', async () => {
    const sessions = new InMemorySessionService();
    await expect(LiveSession.open(sessions, key)).rejects.toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
    await expect(LiveSession.find(sessions, { ...key, id: '' })).rejects.toMatchObject({ code: 'E_ID' });
  });

  test('is the one for all that hold it, and takes in a record that has more', async () => {
    const { sessions, live } = await opened();
    await sessions.append(key, [event('a')]);
    const record = await sessions.get(key);
    if (!record) throw new Error('there is no session');
    expect(LiveSession.of(sessions, record)).toBe(live);
    expect(ids(live)).toEqual(['a']);
    expect(LiveSession.apart(sessions, record)).not.toBe(live);
  });

  test('has the state that is shared as the store has it, not as its own log would make it', async () => {
    const sessions = new InMemorySessionService();
    await sessions.create(key);
    await sessions.append(key, [event('a', { actions: { stateDelta: { 'app:x': 1, own: 1 } } })]);
    await sessions.create({ ...key, id: 's2' });
    await sessions.append({ ...key, id: 's2' }, [event('b', { actions: { stateDelta: { 'app:x': 2 } } })]);
    const live = await LiveSession.open(sessions, key);
    expect([live.fold.shared, live.fold.state]).toEqual([{ 'app:x': 2 }, { own: 1 }]);
    const record = await sessions.get(key);
    if (!record) throw new Error('there is no session');
    expect(LiveSession.apart(sessions, record).fold.shared).toEqual({ 'app:x': 2 });
  });

  test('tells its listeners of each event, once, and of none after they have left', async () => {
    const { sessions, live } = await opened();
    const heard: string[] = [];
    const stop = live.listen(({ id }) => heard.push(`one ${id}`));
    live.listen(({ id }) => heard.push(`two ${id}`));
    await live.append([event('a')]);
    await live.catchUp();
    stop();
    await sessions.append(key, [event('b')]);
    await live.catchUp();
    expect(heard).toEqual(['one a', 'two a', 'two b']);
  });

  test('an event is for those who listened as it came: one who comes in the midst of it hears the next, one who leaves hears this', async () => {
    const { live } = await opened();
    const heard: string[] = [];
    let late = () => {};
    let stop = () => {};
    live.listen(({ id }) => {
      if (id === 'a') {
        late = live.listen((next) => heard.push(`late ${next.id}`));
        stop();
      }
      if (id === 'b') late();
    });
    stop = live.listen(({ id }) => heard.push(`left ${id}`));
    // The same function twice is two listeners.
    const same = ({ id }: { id: string }) => void heard.push(`same ${id}`);
    const [once] = [live.listen(same), live.listen(same)];
    await live.append([event('a')]);
    expect(heard).toEqual(['left a', 'same a', 'same a']);
    heard.length = 0;
    once();
    once();
    await live.append([event('b'), event('c')]);
    expect(heard).toEqual(['same b', 'late b', 'same c']);
  });

  test('asks a store in memory nothing where its log stands, and one that reads in its own way each time', async () => {
    const { sessions, live } = await opened({}, { 'app:x': 1 });
    expect(live.catchUp()).toBeUndefined();
    expect(live.stateNow).toEqual({ 'app:x': 1 });
    await sessions.append(key, [event('a')]);
    expect(live.stateNow).toBeUndefined();
    await live.catchUp();
    expect([ids(live), live.catchUp()]).toEqual([['a'], undefined]);
    // What other sessions have written of the shared state is in it.
    await sessions.create({ ...key, id: 'other' }, { state: { 'app:x': 2 } });
    expect(live.stateNow).toEqual({ 'app:x': 2 });
    const lease = await live.lease();
    expect((await live.lease().catch(() => lease)).shared).toEqual({ 'app:x': 2 });
    await lease.release();
    let reads = 0;
    const { get } = sessions;
    sessions.get = (...given) => {
      reads++;
      return get.apply(sessions, given);
    };
    await live.catchUp();
    expect([live.stateNow, reads]).toEqual([undefined, 1]);
    sessions.get = get;
    await sessions.delete(key);
    await sessions.create(key);
    await sessions.append(key, [event('b')]);
    await expect(live.catchUp()).rejects.toMatchObject({ code: 'E_SESSION_CONFLICT' });
    await sessions.close();
    await expect(live.catchUp()).rejects.toMatchObject({ code: 'E_STORE' });
  });

  test('reads what others have written in between, in the order of the log', async () => {
    const { sessions, live } = await opened();
    await sessions.append(key, [event('a'), event('b')]);
    await live.append([event('c')]);
    expect(ids(live)).toEqual(['a', 'b', 'c']);
    await expect(live.append([event('d')], { expectedSeq: 2 })).rejects.toMatchObject({ code: 'E_SESSION_CONFLICT' });
    await live.append([event('d')], { expectedSeq: 3 });
    expect([
      live.at,
      live.since(2).map(({ id }) => id),
      live.since(0).length,
      live.since(-1).length,
      live.since(9),
    ]).toEqual([4, ['c', 'd'], 4, 4, []]);
  });

  test('stores nothing of an event that may not be stored where somebody has written', async () => {
    const { sessions, live } = await opened();
    const lease = await live.lease();
    await sessions.append(key, [event('a')]);
    await expect(live.store([event('b')], lease.epoch, 0)).rejects.toMatchObject({ code: 'E_SESSION_CONFLICT' });
    const stored = await live.store([event('b', { actions: { started: ['c'] } })], lease.epoch, 1);
    expect(stored[0]?.actions.startedIn).toBe(lease.epoch);
    expect(ids(live)).toEqual([]);
    await lease.release();
  });
});

describe('whoever holds a session', () => {
  test('does all under one lease, and gives it back once', async () => {
    const { sessions, live } = await opened();
    await sessions.append(key, [event('a', { actions: { stateDelta: { 'user:x': 1 } } })]);
    const by = {};
    const release = await live.hold(by);
    expect([ids(live), live.holding?.by]).toEqual([['a'], by]);
    expect(await live.holder()).toBe(live.epoch);
    await expect(sessions.acquire(key)).rejects.toMatchObject({ code: 'E_SESSION_BUSY' });
    await expect(live.hold({})).rejects.toMatchObject({ code: 'E_SESSION_BUSY' });
    const lease = await live.lease();
    expect(lease).toMatchObject({ epoch: live.epoch, lastSeq: 1, shared: { 'user:x': 1 } });
    await lease.release();
    expect(await sessions.holder(key)).toBe(live.epoch);
    await live.append([event('b', { actions: { started: ['c'] } }), event('c')]);
    expect(live.log.map(({ actions }) => actions.startedIn)).toEqual([undefined, live.epoch, undefined]);
    await release();
    expect([live.holding, await live.holder()]).toEqual([undefined, undefined]);
    const other = await live.hold({});
    await release();
    expect(live.holding).toBeDefined();
    await other();
    await live.append([event('d', { actions: { started: ['c'] } })]);
    expect(live.log.at(-1)?.actions.startedIn).toBeUndefined();
  });

  test('does not hold it where it cannot be read', async () => {
    const { sessions, live } = await opened();
    await sessions.append(key, [event('a')]);
    const get = sessions.get.bind(sessions);
    sessions.get = () => Promise.reject(new Error('away'));
    await expect(live.hold({})).rejects.toThrow('away');
    sessions.get = get;
    expect([live.holding, await sessions.holder(key)]).toEqual([undefined, undefined]);
    const release = await live.hold({});
    await sessions.delete(key);
    await expect(live.lease()).rejects.toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
    await release();
  });
});

describe('a rewind', () => {
  test('takes events out of the log, the state, the history and the words that wait; what waits in memory is let go', async () => {
    const { live } = await opened({}, { a: 0 });
    const released: string[] = [];
    live.held.set('', { release: (reason) => void released.push(String(reason)) });
    await live.append([
      event('begin', { turnId: 't', actions: { turn: { start: 'bot' } } }),
      event('kept', { content: user('kept'), actions: { stateDelta: { a: 1 } } }),
    ]);
    expect(released).toEqual([expect.stringContaining('a new turn began')]);
    live.held.set('', { release: (reason) => void released.push(String(reason)) });
    await live.append([
      event('cut', { content: user('cut'), actions: { stateDelta: { a: 2, b: 1 } } }),
      event('steer', { content: user('later'), actions: { steer: true } }),
    ]);
    expect(brief(await live.contents(root))).toEqual(['user: kept', 'user: cut']);
    await live.append([event('back', { actions: { rewound: { through: 2 } } })]);
    expect(ids(live)).toEqual(['begin', 'kept', 'back']);
    expect(live.fold.state).toEqual({ a: 1 });
    expect(brief(await live.contents(root))).toEqual(['user: kept']);
    expect(released).toHaveLength(2);
    expect(live.held.size).toBe(0);
    await live.append([event('delivers', { actions: { delivered: ['steer'] } }), event('more')]);
    expect(brief(await live.contents(root))).toEqual(['user: kept']);
    // Places in the log and seqs differ from here on.
    expect(live.since(2).map(({ id }) => id)).toEqual(['back', 'delivers', 'more']);
    expect(live.since(5).map(({ id }) => id)).toEqual(['delivers', 'more']);
    expect(live.since(6).map(({ id }) => id)).toEqual(['more']);
  });

  test('of nothing changes nothing', async () => {
    const { live } = await opened();
    await live.append([event('a', { content: user('a') }), event('back', { actions: { rewound: { through: 1 } } })]);
    expect(ids(live)).toEqual(['a', 'back']);
  });
});

describe('what an agent is shown', () => {
  test('is kept while the log grows, and words that waited come where they are delivered', async () => {
    const { live } = await opened();
    await live.append([
      event('a', { content: user('a') }),
      event('s', { content: user('s'), actions: { steer: true } }),
    ]);
    const contents = await live.contents(root);
    await live.append([event('b', { content: user('b') }), event('d', { actions: { delivered: ['s'] } })]);
    expect(live.contents(root)).toBe(contents);
    expect(brief(contents)).toEqual(['user: a', 'user: b', 'user: s']);
    expect(live.contents({ ...root, agent: 'eve' })).not.toBe(contents);
    expect(live.contents({ ...root, branch: 'b' })).not.toBe(contents);
  });

  test('of one turn, or in an agent run as a tool, is forgotten with the turn', async () => {
    const { live } = await opened();
    const viewers = [root, { ...root, branch: 'b' }, { ...root, iso: '/c1' }, { ...root, from: 2 }];
    const before = viewers.map((viewer) => live.contents(viewer));
    await live.append([event('turn', { actions: { turn: { start: 'bot' } } })]);
    expect(viewers.map((viewer, index) => live.contents(viewer) === before[index])).toEqual([true, true, false, false]);
  });
});

describe('the chain of a log', () => {
  test('is kept where the store wants one', async () => {
    const decided = () => event('d', { actions: { decisions: {} } });
    const { live } = await opened({ chained: true });
    await live.append([decided()]);
    await live.append([{ ...decided(), id: 'e' }]);
    expect(live.log.map(({ chain }) => chain?.after)).toEqual(['', 'd']);
    const plain = await opened();
    await plain.live.append([decided()]);
    expect(plain.live.log[0]).not.toHaveProperty('chain');
  });
});

test('many calls in one event are taken in as few are', async () => {
  const { live } = await opened();
  const parts = Array.from({ length: MANY + 1 }, (_, n) => ({
    type: 'function_call' as const,
    id: `c${n}`,
    name: 'f',
    args: {},
  }));
  const lease = await live.lease();
  await live.commit([event('few'), event('many', { author: 'bot', content: { role: 'model', parts } })], lease.epoch);
  expect([ids(live), live.fold.open.size, live.fold.totalCalls]).toEqual([['few', 'many'], MANY + 1, MANY + 1]);
  const answers = parts.map(({ id }) => ({ type: 'function_response' as const, id, name: 'f', response: {} }));
  await live.append([event('answers', { content: { role: 'user', parts: answers } })]);
  expect(live.fold.open.size).toBe(0);
  await lease.release();
});

test('ATT-B6 many calls of one event are not read back while their writer takes them in', async () => {
  const { sessions, live } = await opened({ chained: true });
  const parts = Array.from({ length: MANY + 1 }, (_, n) => ({
    type: 'function_call' as const,
    id: `c${n}`,
    name: 'f',
    args: {},
  }));
  const lease = await live.lease();
  const { get, append } = sessions;
  const read: unknown[] = [];
  sessions.get = async (of, options) => {
    const record = await get.call(sessions, of, options);
    for (const { id } of record?.events ?? []) read.push(id);
    return record;
  };
  let looking: Promise<unknown> | undefined;
  sessions.append = async (...given) => {
    const stored = await append.apply(sessions, given);
    setImmediate(() => {
      looking = live.readOn().then(() => ids(live));
    });
    return stored;
  };
  await live.commit([event('many', { author: 'bot', content: { role: 'model', parts } })], lease.epoch);
  expect(await looking).toEqual(['many']);
  expect(read).toEqual([]);
  await lease.release();
  // Whoever reads them takes them in like others.
  const elsewhere = new InMemorySessionService({ chained: true });
  await elsewhere.create(key);
  await elsewhere.append(key, [{ ...(live.log[0] as StoredEvent) }]);
  const reader = await LiveSession.open(elsewhere, key);
  expect([reader.fold.open.size, ids(reader)]).toEqual([MANY + 1, ['many']]);
  expect(reader.log[0]?.chain).toEqual(live.log[0]?.chain);
});

test('those that wait for their turn go one after the other, whatever becomes of them', async () => {
  const { live } = await opened();
  const order: string[] = [];
  const first = gate();
  const all = [
    live.inTurn(async () => {
      order.push('one begins');
      await first.opened;
      order.push('one ends');
      throw new Error('no');
    }),
    live.inTurn(async () => order.push('two')),
  ];
  await new Promise((resolve) => setImmediate(resolve));
  first.open();
  const [one, two] = await Promise.allSettled(all);
  expect([one?.status, two?.status]).toEqual(['rejected', 'fulfilled']);
  expect(await live.inTurn(async () => 'three')).toBe('three');
  expect(order).toEqual(['one begins', 'one ends', 'two']);
});

describe('appends that share a transaction', () => {
  /** What was written together, and what the store says to it. */
  function target(fault: (batch: string[]) => Error | undefined = () => undefined) {
    const written: string[][] = [];
    const first = gate();
    const appends = new SharedAppends({
      write: async (events: readonly StoredEvent[]) => {
        const batch = events.map(({ id }) => id);
        if (written.push(batch) === 1) await first.opened;
        const error = fault(batch);
        if (error) throw error;
        return events;
      },
      absorb: () => undefined,
    });
    const commit = (...names: string[]) =>
      appends
        .commit(
          names.map((id) => event(id)),
          1,
        )
        .then(
          () => 'ok',
          (error: Error) => error.message,
        );
    return { written, commit, go: first.open };
  }
  const exists = () => new CoxswainError('ALREADY_EXISTS', 'E_EVENT_EXISTS', 'exists');

  test('are those that came while one was being written', async () => {
    const { written, commit, go } = target();
    const all = [commit('a'), commit('b'), commit('c', 'd')];
    go();
    expect(await Promise.all(all)).toEqual(['ok', 'ok', 'ok']);
    expect(await commit('e')).toBe('ok');
    expect(written).toEqual([['a'], ['b', 'c', 'd'], ['e']]);
  });

  test('are tried one by one where one of them is there already, and it alone fails', async () => {
    const { written, commit, go } = target((batch) => (batch.includes('b') ? exists() : undefined));
    const all = [commit('a'), commit('b'), commit('c')];
    go();
    expect(await Promise.all(all)).toEqual(['ok', 'exists', 'ok']);
    expect(written).toEqual([['a'], ['b', 'c'], ['b'], ['c']]);
  });

  test('fail together where the store fails, and only then', async () => {
    const { written, commit, go } = target((batch) => (batch.includes('c') ? new Error('away') : undefined));
    const all = [commit('a'), commit('b'), commit('c')];
    go();
    expect(await Promise.all(all)).toEqual(['ok', 'away', 'away']);
    expect(await commit('d')).toBe('ok');
    expect(written).toEqual([['a'], ['b', 'c'], ['d']]);
  });

  test('go on behind one that has failed', async () => {
    const { written, commit, go } = target((batch) => (batch[0] === 'a' ? exists() : undefined));
    const all = [commit('a'), commit('b')];
    go();
    expect(await Promise.all(all)).toEqual(['exists', 'ok']);
    expect(written).toEqual([['a'], ['b']]);
  });
});
