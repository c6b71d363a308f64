import { expect, test } from 'vitest';
import { rewind } from '../../src/entries/stores.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { createEvent } from '../../src/runtime/index.ts';
import { all, bot, hostOf, notingTool, policyOf } from '../host/kit.ts';
import type { Front } from './kit.ts';
import { fronting, get } from './kit.ts';

interface Loaded {
  messages: { role: string; parts: { text?: string }[] }[];
  earlier?: string;
}

/** A session of so many turns; each answer has its number in front of so many characters. */
async function session(turns: number, chars: number) {
  const filling = 'x'.repeat(chars);
  const { host } = hostOf(bot(Array.from({ length: turns }, (_, turn) => `${turn}:${filling}`)));
  const made = await host.open('bot', { sessionId: 's', create: true, userId: 'anna' });
  for (let turn = 0; turn < turns; turn++) await all(made.stream(`ask ${turn}`));
  await made[Symbol.asyncDispose]();
  return { host, front: await fronting(host) };
}

async function load(front: Front, before?: string): Promise<Loaded> {
  const query = before === undefined ? '' : `?before=${encodeURIComponent(before)}`;
  const { status, body } = await get(front, `/v1/agents/bot/chat/s${query}`);
  expect([status, status === 200 ? '' : JSON.stringify(body)]).toEqual([200, '']);
  return body as unknown as Loaded;
}

/** What was said, in short. */
const said = ({ messages }: Loaded) =>
  messages.map(({ parts }) => (parts.find(({ text }) => text !== undefined)?.text ?? '').split(':')[0]);

/** As a page that is scrolled to its beginning. */
async function loadAll(front: Front) {
  const loads: Loaded[] = [];
  do loads.push(await load(front, loads.at(-1)?.earlier));
  while (loads.at(-1)?.earlier !== undefined);
  return { loads, shown: loads.toReversed().flatMap(said) };
}

test('HTTP-26 a chat that is too much for a page is loaded from its end, by whole turns, and the older ones by place', async () => {
  const turns = 24;
  const { front } = await session(turns, 750_000);
  const { shown, loads } = await loadAll(front);
  expect(shown).toEqual(Array.from({ length: turns }, (_, turn) => [`ask ${turn}`, String(turn)]).flat());
  expect(loads.length).toBeGreaterThan(2);
  expect(loads.map(({ messages }) => messages[0]?.role)).toEqual(loads.map(() => 'user'));
});

test('HTTP-26 a chat that is little has no earlier part; a place that it does not have is refused', async () => {
  const { front } = await session(2, 10);
  const page = await load(front);
  expect([said(page), page.earlier]).toEqual([['ask 0', '0', 'ask 1', '1'], undefined]);
  const { status, body } = await get(front, '/v1/agents/bot/chat/s?before=nowhere');
  expect([status, body]).toMatchObject([400, { error: { code: 'E_BAD_INPUT' } }]);
});

test('HTTP-26 a turn that is more than a page has comes in parts, of which none is lost', async () => {
  const filling = 'x'.repeat(750_000);
  const steps = Array.from({ length: 14 }, (_, step) => ({
    text: `${step}:${filling}`,
    calls: [['look', {}] as const],
  }));
  const { host } = hostOf(bot([...steps, 'over'] as never), {
    tools: [notingTool('look').tool],
    policy: policyOf({ look: 'allow' }),
  });
  const made = await host.open('bot', { sessionId: 's', create: true, userId: 'anna' });
  await all(made.stream('ask'));
  await made[Symbol.asyncDispose]();
  const { loads } = await loadAll(await fronting(host));
  expect(loads).toHaveLength(2);
  const words = loads
    .toReversed()
    .flatMap(({ messages }) => messages.flatMap(({ parts }) => parts.flatMap(({ text }) => text?.split(':')[0] ?? [])));
  expect(words).toEqual(['ask', ...steps.map((_, step) => String(step)), 'over']);
});

test('HTTP-26 what a rewind takes back is on no page, however far back it goes; a place in it is none any more', async () => {
  const turns = 14;
  const store = new InMemorySessionService();
  const filling = 'x'.repeat(750_000);
  const { host } = hostOf(bot(Array.from({ length: turns + 1 }, (_, turn) => `${turn}:${filling}`)), {
    store,
    app: 'shop',
  });
  const made = await host.open('bot', { sessionId: 's', create: true, userId: 'anna' });
  for (let turn = 0; turn < turns; turn++) await all(made.stream(`ask ${turn}`));
  const front = await fronting(host);
  const newest = await load(front);
  const log = await all(made.events());
  const asked = log.filter((event) => event.type === 'message' && event.role === 'user');
  await made[Symbol.asyncDispose]();
  // Behind the third turn: the newest page begins in what is taken back.
  await rewind(store, { app: 'shop', userId: 'anna', id: 's' }, (asked[3]?.seq ?? 0) - 1);
  const kept = ['ask 0', '0', 'ask 1', '1', 'ask 2', '2'];
  expect((await loadAll(front)).shown).toEqual(kept);
  const again = await host.open('bot', { sessionId: 's', userId: 'anna' });
  await all(again.stream('ask anew'));
  await again[Symbol.asyncDispose]();
  expect((await loadAll(front)).shown).toEqual([...kept, 'ask anew', String(turns)]);
  const { status, body } = await get(front, `/v1/agents/bot/chat/s?before=${encodeURIComponent(newest.earlier ?? '')}`);
  expect([status, body]).toMatchObject([400, { error: { code: 'E_BAD_INPUT' } }]);
});

test('ATK9-10 of a long chat the end is read and not all of it, also before a place, and where much of it was taken back', async () => {
  const store = new InMemorySessionService();
  const turns = 45_000;
  const { host } = hostOf(bot(['x']), { store, app: 'shop' });
  const made = await host.open('bot', { sessionId: 's', create: true, userId: 'anna' });
  await all(made.stream('ask'));
  await made[Symbol.asyncDispose]();
  const key = { app: 'shop', userId: 'anna', id: 's' };
  const turn = (n: number) => ({ turnId: `t${n}`, invocationId: `i${n}`, streamId: `s${n}` });
  const said = (n: number, author: string) =>
    createEvent({
      ...{ ...turn(n), author },
      content: { role: author === 'user' ? 'user' : 'model', parts: [{ type: 'text', text: `${author} ${n}` }] },
    });
  const written = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => [said(from + n, 'user'), said(from + n, 'bot')]).flat();
  await store.append(key, written(0, turns));
  let reads = 0;
  const front = await fronting(host, {
    authorize: (_, method) => {
      if (method === 'session/events') reads++;
      return true;
    },
  });
  const words = ({ messages }: Loaded) => messages.flatMap(({ parts }) => parts.flatMap(({ text }) => text ?? []));
  const newest = await load(front);
  expect([words(newest).at(-1), words(newest).length]).toEqual([`bot ${turns - 1}`, 10_000]);
  // Of 92 pages.
  expect(reads).toBeLessThan(25);
  reads = 0;
  const older = await load(front, newest.earlier);
  expect([words(older).at(-1), words(older).length]).toEqual([`bot ${turns - 5001}`, 10_000]);
  expect(reads).toBeLessThan(25);
  const { status } = await get(front, '/v1/agents/bot/chat/s?before=50000.7');
  expect(status).toBe(400);
});
