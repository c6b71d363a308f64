import { expect, onTestFinished, test, vi } from 'vitest';
import { createEvent, InMemorySessionService, LiveSession } from '../../src/runtime/index.ts';
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
