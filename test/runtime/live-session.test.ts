import { expect, onTestFinished, test, vi } from 'vitest';
import { createEvent, InMemorySessionService, LiveSession } from '../../src/runtime/index.ts';
import { SessionLog } from '../../src/runtime/live/session-log.ts';
import { key } from './kit.ts';

test('of appends that share a transaction only the one fails whose event is there already', async () => {
  const sessions = new InMemorySessionService();
  await sessions.create(key);
  const record = await sessions.get(key);
  if (!record) throw new Error('no session');
  const live = LiveSession.of(sessions, record);
  const { epoch, release } = await sessions.acquire(key);
  const event = (id: string) => createEvent({ id, author: 'bot' });
  await sessions.append(key, [event('taken')]);
  const written = ['first', 'second', 'taken', 'third'].map((id) => live.commit([event(id)], epoch));
  const ends = await Promise.allSettled(written);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(ends[2]).toMatchObject({ reason: { code: 'E_EVENT_EXISTS' } });
  expect(live.log.map(({ id }) => id)).toEqual(['taken', 'first', 'second', 'third']);
  await release();
});

test('MUT-R11 a session that is made again under its name has nothing of the one that was deleted', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const sessions = new InMemorySessionService();
  const write = async (id: string) => {
    await sessions.create(key);
    await sessions.append(key, [createEvent({ id, author: 'user', actions: { stateDelta: { by: id } } })]);
    return LiveSession.open(sessions, key);
  };
  const first = await write('old');
  expect(await LiveSession.open(sessions, key)).toBe(first);
  await sessions.delete(key);
  vi.advanceTimersByTime(1);
  const second = await write('new');
  expect([first, second].map(({ log, fold }) => [log.map(({ id }) => id), fold.state])).toEqual([
    [['old'], { by: 'old' }],
    [['new'], { by: 'new' }],
  ]);
});

/** Looks at what is read of a store. */
class WatchedStore extends InMemorySessionService {
  readonly reads: { after?: number; limit?: number }[] = [];
  onRead: () => Promise<void> | void = () => {};

  override async get(...[of, options = {}]: Parameters<InMemorySessionService['get']>) {
    this.reads.push(options);
    await this.onRead();
    return super.get(of, options);
  }
}

async function stored(count: number): Promise<WatchedStore> {
  const sessions = new WatchedStore();
  await sessions.create(key);
  const event = (n: number) => createEvent({ id: `e${n}`, author: 'user', actions: { stateDelta: { n } } });
  await sessions.append(
    key,
    Array.from({ length: count }, (_, n) => event(n)),
  );
  return sessions;
}

test('a long log is opened in pages, between which others have the event loop', async () => {
  const sessions = await stored(1000);
  let turns = 0;
  const next = () => {
    turns++;
    turning = setImmediate(next);
  };
  let turning = setImmediate(next);
  sessions.onRead = () => {
    const until = performance.now() + 10;
    while (performance.now() < until);
  };
  const live = await LiveSession.open(sessions, key);
  clearImmediate(turning);
  expect([live.log.length, live.fold.state]).toEqual([1000, { n: 999 }]);
  expect(turns).toBeGreaterThan(5);
  expect(sessions.reads.every(({ limit = 1000 }) => limit <= 128)).toBe(true);
});

test('two that open a session at once read it once; one that is open reads only what is new', async () => {
  const sessions = await stored(300);
  const [one, two] = await Promise.all([LiveSession.open(sessions, key), LiveSession.open(sessions, key)]);
  expect(two).toBe(one);
  expect(sessions.reads.filter(({ after }) => after === 0)).toHaveLength(1);
  await sessions.append(key, [createEvent({ id: 'more', author: 'user' })]);
  sessions.reads.length = 0;
  expect(await LiveSession.open(sessions, key)).toBe(one);
  expect(one.log.at(-1)?.id).toBe('more');
  expect(sessions.reads.map(({ after }) => after)).toEqual([300]);
});

test('a session that is made again while it is read is no mixture of both', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const sessions = await stored(300);
  let count = 0;
  sessions.onRead = async () => {
    if (++count !== 2) return;
    await sessions.delete(key);
    vi.advanceTimersByTime(1);
    await sessions.create(key);
    await sessions.append(
      key,
      Array.from({ length: 400 }, (_, n) => createEvent({ id: `new${n}`, author: 'user' })),
    );
  };
  await expect(LiveSession.open(sessions, key)).rejects.toMatchObject({ code: 'E_SESSION_CONFLICT', retryable: true });
  const again = await LiveSession.open(sessions, key);
  expect([again.log.length, again.log[0]?.id]).toEqual([400, 'new0']);
});

test('a session that is deleted while it is read is not there', async () => {
  const sessions = await stored(300);
  sessions.onRead = async () => {
    if (sessions.reads.length === 2) await sessions.delete(key);
  };
  expect(await LiveSession.find(sessions, key)).toBeUndefined();
});

test('SPD-1 the contents of a long log are made in pieces, and of nothing that was taken back meanwhile', async () => {
  const sessions = new InMemorySessionService();
  await sessions.create(key);
  const says = (n: number) =>
    createEvent({ id: `e${n}`, author: 'user', content: { role: 'user', parts: [{ type: 'text', text: `${n}` }] } });
  await sessions.append(
    key,
    Array.from({ length: 1500 }, (_, n) => says(n)),
  );
  const live = await LiveSession.open(sessions, key);
  const { log } = live;
  const viewer = { agent: 'bot', branch: undefined, iso: '' };
  let pieces = 0;
  const slow = vi.spyOn(SessionLog.prototype, 'events', 'get').mockImplementation(() => {
    const until = performance.now() + 6;
    while (performance.now() < until);
    pieces++;
    return log;
  });
  onTestFinished(() => slow.mockRestore());
  const whole = live.contents(viewer);
  const other = live.contents(viewer);
  const first = await Promise.race([whole, new Promise((go) => setImmediate(go, 'others'))]);
  expect(first).toBe('others');
  expect((await whole).map(({ parts }) => parts)).toEqual(log.map(({ content }) => content?.parts));
  expect(await other).toBe(await whole);
  expect(pieces).toBeGreaterThan(5);

  const again = live.contents({ ...viewer, agent: 'eve' });
  await live.append([createEvent({ id: 'back', author: 'user', actions: { rewound: { through: 1000 } } })]);
  expect(await again).toHaveLength(1000);
});
