import { expect, test } from 'vitest';
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
