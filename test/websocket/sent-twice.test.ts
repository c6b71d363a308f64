import { expect, test } from 'vitest';
import { InMemorySessionService } from '../../src/index.ts';
import { bot, door, hostOf, notingTool, policyOf } from '../host/kit.ts';
import { logOf, serving } from './kit.ts';
import { Raw } from './raw.ts';

test('WS-22 a message that a client has sent to two servers is stored by one, also where the other stood still before its turn', async () => {
  /** Stands still before it takes the session, as a program that is stopped does. */
  class Still extends InMemorySessionService {
    readonly reached = door();
    readonly wakes = door();
    isStill = false;
  }
  const store = new Still();
  const stopped = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'acquire' || !target.isStill) return value.bind(target);
      return async (...given: Parameters<InMemorySessionService['acquire']>) => {
        target.reached.open();
        await target.wakes.opened;
        return target.acquire(...given);
      };
    },
  });
  const pay = notingTool('pay');
  const script = [{ calls: [['pay', {}] as const] }, 'paid'];
  const policy = policyOf({});
  const [a, b] = [stopped, store].map((given) => hostOf(bot(script), { tools: [pay.tool], policy, store: given }).host);
  if (!a || !b) throw new Error('no hosts');
  const [first, second] = [await Raw.ready((await serving(a)).url), await Raw.ready((await serving(b)).url)];
  const sent = { streamId: 'sent-1', key: 'key-1', input: [{ kind: 'message', content: 'pay once' }] };
  const send = async (raw: Raw, retry: object) => {
    const { fencingToken } = await raw.ask('session/attach', { agent: 'bot', sessionId: 's' });
    return { answer: raw.ask('session/stream', { sessionId: 's', fencingToken, ...sent, ...retry }) };
  };
  await first.ask('session/open', { agent: 'bot', sessionId: 's', create: true });
  store.isStill = true;
  const { answer } = await send(first, {});
  await store.reached.opened;
  await second.ask('session/open', { agent: 'bot', sessionId: 's' });
  await (await send(second, { retry: true })).answer;
  const session = await b.open('bot', { sessionId: 's', userId: 'anna' });
  await expect.poll(async () => (await logOf(session)).at(-1)?.type).toBe('stream_end');
  store.isStill = false;
  store.wakes.open();
  expect(await answer).toMatchObject({ streamId: 'sent-1', duplicate: true });
  const said = (await logOf(session)).filter((event) => event.type === 'message' && event.role === 'user');
  expect(said).toHaveLength(1);
  expect(pay.runs).toHaveLength(1);
});
