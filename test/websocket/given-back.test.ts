import { expect, test } from 'vitest';
import type { Served } from '../../src/host/connection/index.ts';
import { DEFAULT_LIMITS } from '../../src/host/connection/protocol/limits.ts';
import { Hub } from '../../src/host/connection/server/hub.ts';
import { IdempotencyKeys } from '../../src/host/connection/stream/idempotency.ts';
import { bot, hostOf } from '../host/kit.ts';
import { client, serving } from './kit.ts';

test('MUT-C1 a change that was refused is tried anew under the same key', async () => {
  const keys = new IdempotencyKeys({ keyMs: 60_000, maxKeys: 10 });
  await expect(keys.run('k', {}, false, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await keys.run('k', {}, false, async () => 'yes')).toBe('yes');
});

test('MUT-C5 a session that could not be opened has no place among its principal’s', async () => {
  const served = {
    userOf: ({ id }: { id: string }) => id,
    open: () => Promise.reject(new Error('gone')),
  } as unknown as Served;
  const hub = new Hub(served, { limits: { ...DEFAULT_LIMITS, maxSessionsPerPrincipal: 1 }, warn() {} });
  for (let n = 0; n < 2; n++) await expect(hub.hold('a', { sessionId: 's' }, { id: 'anna' })).rejects.toThrow('gone');
  expect([hub.size, hub.sessions.isFull('anna')]).toEqual([0, false]);
});

test('MUT-C5 sessions that are not there lock nobody out', async () => {
  const { host } = hostOf(bot(['hi']));
  const server = await serving(host, { limits: { maxSessionsPerPrincipal: 1 } });
  const anna = await client(server);
  for (const sessionId of ['one', 'two']) {
    await expect(anna.open('bot', { sessionId })).rejects.toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
  }
  expect((await anna.open('bot')).id).not.toBe('');
});
