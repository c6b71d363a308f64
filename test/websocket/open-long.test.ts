import { expect, test } from 'vitest';
import type { SessionService } from '../../src/index.ts';
import { createHost, fromAgent, InMemorySessionService } from '../../src/index.ts';
import { bot, hostOf, notingTool, readOnly } from '../host/kit.ts';
import { all, client, durable, idsOf, logOf, serving } from './kit.ts';

const CALLS = 600;

test('a long session is opened by its end: what is older is read when somebody asks for it, and nothing is shown twice or lost', async () => {
  const store: SessionService = new InMemorySessionService();
  const look = notingTool('look', readOnly);
  const many = { calls: Array.from({ length: CALLS }, () => ['look', {}] as const) };
  const writer = hostOf(bot([many, 'one', many, 'two', many, 'three']), { store, tools: [look.tool] });
  const own = await writer.host.open('bot', { userId: 'anna', sessionId: 'long', create: true });
  for (const words of ['first', 'second', 'third']) await all(own.stream(words));
  await own[Symbol.asyncDispose]();
  await writer.host.close();

  let read = 0;
  const get: SessionService['get'] = async (...asked) => {
    const record = await store.get(...asked);
    read += record?.events.length ?? 0;
    return record;
  };
  const counted = new Proxy(store, {
    get: (of, name) => {
      if (name === 'get') return get;
      const member: unknown = Reflect.get(of, name);
      return typeof member === 'function' ? member.bind(of) : member;
    },
  });
  const host = createHost({ app: 'shop', agents: [fromAgent(bot(['four']))], store: counted, warn: () => {} });
  const remote = await client(await serving(host));
  const session = await remote.open('bot', { sessionId: 'long' });
  expect(read).toBeLessThan(2 * CALLS);
  const watched = session.watch();
  const shown = all(session.stream('fourth'));
  const seen: string[] = [];
  for await (const event of watched) {
    if (event.cursor !== undefined) seen.push(event.id);
    if (event.type === 'stream_end') break;
  }
  expect(seen).toEqual(idsOf(durable(await shown)));
  const log = await logOf(session);
  expect(read).toBeGreaterThan(3 * CALLS);
  expect(log.length).toBeGreaterThan(3 * CALLS);
  expect(new Set(idsOf(log)).size).toBe(log.length);
  expect(idsOf(log).slice(-seen.length)).toEqual(seen);
});
