import { expect, test, vi } from 'vitest';
import { fromAgent } from '../../src/index.ts';
import { countedLog } from '../counted-log.ts';
import { collect } from '../runtime/kit.ts';
import { puppet } from './agents.ts';
import { connect, sessionOf, textOf } from './clients.ts';
import { openShop } from './kit.ts';

const TURNS = 20;

test('ATK3-11 a caller that asks what came of a conversation again is answered from where its newest turn begins', async () => {
  const { source, read } = countedLog(fromAgent(puppet()));
  await using shop = await openShop({ agents: [source] });
  await using client = await connect('v1', shop);
  const first = await client.call('puppet', { prompt: 'say 0' });
  const session_id = sessionOf(first);
  for (let turn = 1; turn < TURNS; turn++) await client.call('puppet', { prompt: `say ${turn}`, session_id });
  expect(textOf(await client.call('puppet', { session_id }))).toBe('19');
  read.events = 0;
  expect(textOf(await client.call('puppet', { session_id }))).toBe('19');
  expect(read.events).toBeLessThan(TURNS);
  await client.call('puppet', { prompt: 'say more', session_id });
  read.events = 0;
  expect(textOf(await client.call('puppet', { session_id }))).toBe('more');
  expect(read.events).toBeLessThan(TURNS);
});

test('ATK3-11 a session that was deleted and made again is read from its beginning', async () => {
  await using shop = await openShop();
  await using client = await connect('v1', shop);
  const session_id = sessionOf(await client.call('puppet', { prompt: 'say one' }));
  await client.call('puppet', { prompt: 'say two', session_id });
  expect(textOf(await client.call('puppet', { session_id }))).toBe('two');
  await shop.host.sessions().delete(session_id);
  const again = await shop.host.open('puppet', { sessionId: session_id, create: true });
  for (const words of ['three', 'four', 'five']) await collect(again.stream(`say ${words}`));
  expect(textOf(await client.call('puppet', { session_id }))).toBe('five');
});

test('ATK3-11 a call that waits for a turn of somebody else reads what is new of its log alone', async () => {
  const { source, read } = countedLog(fromAgent(puppet()));
  await using shop = await openShop({ agents: [source] });
  await using client = await connect('v1', shop);
  const session_id = sessionOf(await client.call('puppet', { prompt: 'say 0' }));
  for (let turn = 1; turn < TURNS; turn++) await client.call('puppet', { prompt: `say ${turn}`, session_id });
  const other = await shop.host.open('puppet', { sessionId: session_id });
  const running = collect(other.stream('call wait {}'));
  await shop.waiting.started;
  const logged = (await collect(other.events())).length;
  Object.assign(read, { events: 0, times: 0 });
  const asked = client.call('puppet', { session_id });
  await vi.waitFor(() => expect(read.times).toBeGreaterThan(8), { timeout: 20_000 });
  // Once to find the turn, once of that turn.
  expect(read.events).toBeLessThan(2 * logged);
  shop.waiting.release();
  expect(textOf(await asked)).toContain('waited');
  await running;
});
