import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { HttpSocket } from '../../src/adapters/remote/http-socket.ts';
import { connect } from '../../src/adapters/remote/index.ts';
import { textOfParts } from '../../src/contracts/index.ts';
import type { SessionStore } from '../../src/entries/client.ts';
import { sessionStore } from '../../src/entries/client.ts';
import type { Model } from '../../src/index.ts';
import { bot, door, hostOf, notingTool, policyOf, readOnly, slowTool } from '../host/kit.ts';
import { flaky } from '../websocket/flaky.ts';
import { client, serving } from '../websocket/kit.ts';

type Shown = ReturnType<SessionStore['getSnapshot']>;

/** A subscription for the length of a test: what was shown, and a wait for what is to be. */
function following(store: SessionStore) {
  const shown: Shown[] = [];
  const waiting = new Set<() => void>();
  const leave = store.subscribe(() => {
    shown.push(store.getSnapshot());
    for (const look of [...waiting]) look();
  });
  onTestFinished(leave);
  const until = (fits: (shown: Shown) => boolean) =>
    new Promise<Shown>((resolve) => {
      const look = () => {
        const now = store.getSnapshot();
        if (!fits(now)) return;
        waiting.delete(look);
        resolve(now);
      };
      waiting.add(look);
      look();
    });
  return { shown, leave, until };
}

const wordsOf = ({ items }: Shown) =>
  items.map((item) =>
    item.type === 'message'
      ? `${item.message.role}: ${textOfParts(item.message.content)}`
      : `${item.call.name} ${item.call.status}`,
  );
const isReady = ({ connection }: Shown) => connection === 'ready';
const urls = { 'a socket': (url: string) => url, 'plain HTTP': (url: string) => url.replace('ws', 'http') };

describe.each(Object.entries(urls))('sessionStore over %s', (_, urlOf) => {
  const served = async (host: Parameters<typeof serving>[0]) => {
    const { url } = await serving(host, { http: true });
    return { url: urlOf(url) };
  };

  test('shows text while it grows, a call, its question; a yes to what was shown continues the turn', async () => {
    const pay = notingTool('pay');
    const { host } = hostOf(
      bot([{ deltas: ['I will ', 'pay.'], calls: [['pay', { eur: 3 }]] }, { deltas: ['Pa', 'id.'] }]),
      {
        tools: [pay.tool],
        policy: policyOf({ pay: 'ask' }),
      },
    );
    const store = sessionStore(client(await served(host)), 'bot', { sessionId: 's', create: true });
    const { shown, until } = following(store);
    await until(isReady);
    expect(await store.send('go')).toBe(true);
    const asked = await until(({ pending }) => pending.length > 0);
    const [question] = asked.pending;
    expect([question?.kind, question?.mayAnswer, question?.name]).toEqual(['elicitation', true, 'pay']);
    expect(await store.respond(question?.requestId ?? '', { kind: 'approve' })).toMatchObject({ status: 'settled' });
    const done = await until(({ status }) => status === 'completed');
    expect(wordsOf(done)).toEqual(['user: go', 'agent: I will pay.', 'pay done', 'agent: Paid.']);
    expect(done.pending).toEqual([]);
    expect(shown.some((one) => wordsOf(one).includes('agent: I will '))).toBe(true);
    expect(shown.some((one) => wordsOf(one).includes('agent: Pa'))).toBe(true);
    expect(pay.runs).toHaveLength(1);
  });

  test('ATK3-15 a call shows what a yes lets run, where somebody has changed it; loaded, too', async () => {
    const { host } = hostOf(bot([{ calls: [['pay', { eur: 7 }]] }, 'done']), {
      tools: [notingTool('pay').tool],
      policy: policyOf({ pay: { outcome: 'ask', approvers: { roles: ['boss'], quorum: 2 } } as never }),
    });
    const at = await served(host);
    const store = sessionStore(client(at), 'bot', { sessionId: 's', create: true });
    const { until } = following(store);
    await until(isReady);
    await store.send('go');
    const { pending } = await until((one) => one.pending.length > 0);
    const previewDigest = pending[0]?.approval?.previewDigest ?? '';
    const by = { id: 'bert', roles: ['boss'] };
    const answer = { kind: 'approve', args: { eur: 7000 }, previewDigest } as const;
    await host.approvals.decide(pending[0]?.requestId ?? '', answer, { by });
    const isOther = ({ pending: [one] }: Shown) =>
      one?.requestId !== undefined && one.requestId !== pending[0]?.requestId;
    const loaded = following(sessionStore(client(at), 'bot', { sessionId: 's', control: false }));
    for (const shown of [await until(isOther), await loaded.until((one) => isReady(one) && isOther(one))]) {
      expect(shown.pending.map(({ args }) => args)).toEqual([{ eur: 7000 }]);
      const calls = shown.items.flatMap((item) => (item.type === 'tool_call' ? [item.call] : []));
      expect(calls).toMatchObject([{ args: { eur: 7 }, argsAsked: { eur: 7000 }, status: 'requested' }]);
    }
  });

  test('of what has not changed, the same objects are shown', async () => {
    const { host } = hostOf(bot(['one', { deltas: ['t', 'wo'] }]));
    const store = sessionStore(client(await served(host)), 'bot', { sessionId: 's', create: true });
    const { until } = following(store);
    await store.send('a');
    const first = await until(({ status }) => status === 'completed');
    expect(store.getSnapshot()).toBe(store.getSnapshot());
    await store.send('b');
    const second = await until(({ status, items }) => status === 'completed' && items.length === 4);
    expect(second.items.slice(0, 2).map((item, at) => item === first.items[at])).toEqual([true, true]);
  });

  test('what is refused is an error that is shown, and is gone with what is accepted next', async () => {
    const slow = slowTool('slow', readOnly);
    const { host } = hostOf(bot([{ calls: [['slow', {}]] }, 'done']), { tools: [slow.tool] });
    const store = sessionStore(client(await served(host)), 'bot', { sessionId: 's', create: true });
    const { until } = following(store);
    expect(await store.send('go')).toBe(true);
    await slow.started;
    expect(await store.send('more')).toBe(false);
    expect((await until(({ error }) => error !== undefined)).error).toMatchObject({ code: 'E_SESSION_BUSY' });
    expect(await store.steer('be brief')).toBe(true);
    slow.finish('ok');
    const done = await until(({ status }) => status === 'completed');
    expect(done.error).toBeUndefined();
    expect(wordsOf(done)).toContain('user: be brief');
    expect(await store.respond('nothing', { kind: 'deny' })).toBeUndefined();
    expect((await until(({ error }) => error !== undefined)).error).toMatchObject({ code: 'E_UNKNOWN_REQUEST' });
  });

  test('a page that comes in the midst of a turn is shown all of it, and may end it', async () => {
    const slow = slowTool('slow', readOnly);
    const { host } = hostOf(bot([{ deltas: ['Hel', 'lo '], calls: [['slow', {}]] }, 'never']), { tools: [slow.tool] });
    const server = await served(host);
    const first = sessionStore(client(server), 'bot', { sessionId: 's', create: true });
    const one = following(first);
    await first.send('go');
    await slow.started;
    const second = sessionStore(client(server), 'bot', { sessionId: 's' });
    const two = following(second);
    const shown = await two.until((now) => isReady(now) && now.items.length === 3);
    expect([wordsOf(shown), shown.status]).toEqual([['user: go', 'agent: Hello ', 'slow requested'], 'running']);
    expect(await second.abort('enough')).toBe(true);
    await one.until(({ status }) => status === 'aborted');
    expect((await two.until(({ status }) => status === 'aborted')).items).toHaveLength(3);
  });

  test('a page that comes in the midst of a message is shown its words so far', async () => {
    const [half, rest] = [door(), door()];
    const model: Model = {
      name: 'm',
      async *generate() {
        const part = (text: string) => ({ role: 'model' as const, parts: [{ type: 'text' as const, text }] });
        yield { partial: true, content: part('Hel') };
        half.open();
        await rest.opened;
        yield { partial: true, content: part('lo') };
        yield { content: part('Hello'), turnComplete: true, finishReason: 'stop' };
      },
    };
    const { host } = hostOf(bot(model));
    const server = await served(host);
    const first = sessionStore(client(server), 'bot', { sessionId: 's', create: true });
    following(first);
    await first.send('go');
    await half.opened;
    const second = following(sessionStore(client(server), 'bot', { sessionId: 's' }));
    expect((await second.until((now) => wordsOf(now).includes('agent: Hel'))).status).toBe('running');
    rest.open();
    const done = await second.until(({ status }) => status === 'completed');
    expect(wordsOf(done)).toEqual(['user: go', 'agent: Hello']);
  });

  test('a component that is unmounted ends no turn; one that comes back is shown all of it', async () => {
    const slow = slowTool('slow', readOnly);
    const { host } = hostOf(bot([{ calls: [['slow', {}]] }, 'done']), { tools: [slow.tool] });
    const store = sessionStore(client(await served(host)), 'bot', { sessionId: 's', create: true });
    const before = following(store);
    await store.send('go');
    await slow.started;
    before.leave();
    await expect.poll(() => store.getSnapshot().connection).toBe('closed');
    slow.finish('ok');
    const after = following(store);
    const done = await after.until(({ status, connection }) => status === 'completed' && connection === 'ready');
    expect(wordsOf(done)).toEqual(['user: go', 'slow done', 'agent: done']);
  });

  test('a server that is not there, and a session that is not, are errors that are shown', async () => {
    const none = following(sessionStore(connect(urlOf('ws://127.0.0.1:1/v1')), 'bot'));
    expect(await none.until(({ error }) => error !== undefined)).toMatchObject({
      connection: 'closed',
      error: { code: 'E_CONNECTION_LOST', retryable: true },
    });
    const { host } = hostOf(bot(['x']));
    const store = sessionStore(client(await served(host)), 'bot', { sessionId: 'unknown' });
    const { until } = following(store);
    expect((await until(({ error }) => error !== undefined)).error?.code).toBe('E_SESSION_NOT_FOUND');
    expect(await store.send('hello')).toBe(false);
  });
});

test('random drops: the page comes to what the log says, each word once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      async (drops, isHttp) => {
        const look = notingTool('look', readOnly);
        const pieces = Array.from({ length: 12 }, (_, index) => `w${index} `);
        const { host } = hostOf(bot([{ deltas: pieces, calls: [['look', {}]] }, { deltas: pieces }]), {
          tools: [look.tool],
        });
        const server = await serving(host, { http: true });
        const { WebSocket } = isHttp ? flaky(drops, HttpSocket) : flaky(drops);
        const url = isHttp ? urls['plain HTTP'](server.url) : server.url;
        const remote = await client({ url }, 'anna', { WebSocket });
        const store = sessionStore(remote, 'bot', { sessionId: 's', create: true });
        const { until, leave } = following(store);
        await until(isReady);
        const isTaken = await store.send('go');
        const done = await until(({ status }) => status === 'completed');
        const text = pieces.join('');
        expect(wordsOf(done)).toEqual(['user: go', `agent: ${text}`, 'look done', `agent: ${text}`]);
        expect(isTaken).toBe(true);
        leave();
        await remote.close();
        await server.close({ deadlineMs: 0 });
      },
    ),
    { numRuns: 12, endOnFailure: true },
  );
});
