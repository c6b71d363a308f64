import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { approvalMethods } from '../../src/host/connection/server/approval-methods.ts';
import { methodNamed } from '../../src/host/connection/server/methods.ts';
import { isLoopback, serveExecutor } from '../../src/host/websocket/index.ts';
import { Readiness } from '../../src/host/websocket/readiness.ts';
import { fromAgent } from '../../src/index.ts';
import { bot, hostOf, notingTool, policyOf } from '../host/kit.ts';
import { byName, serving } from './kit.ts';
import { Raw } from './raw.ts';

const quiet = () => hostOf(bot(['hello', 'again'])).host;

describe('a page of events', () => {
  const event = (id: string, size: number) => {
    const bare = { id, type: 'message', text: '' };
    return { ...bare, text: 'x'.repeat(size - JSON.stringify(bare).length) } as unknown as AgentEvent;
  };

  async function page(sizes: readonly number[], maxPayload: number, limit?: number) {
    const log = sizes.map((size, index) => event(`e${index}`, size));
    const asked: unknown[] = [];
    const session = {
      async *events(options: { limit: number }) {
        asked.push(options);
        yield* log.slice(0, options.limit);
      },
    };
    const channel = { session, options: { limits: { maxPayload } } };
    const connection = { held: () => ({ channel }) };
    const given = await methodNamed('session/events')?.(connection as never, {
      sessionId: 's',
      ...(limit === undefined ? {} : { limit }),
    });
    const { events, more } = given as { events: AgentEvent[]; more: boolean };
    return { ids: events.map(({ id }) => id), more, asked };
  }

  test.each([
    ['all that fits to the byte', [4_000, 4_000, 4_000], 24_000, { ids: ['e0', 'e1', 'e2'], more: false }],
    ['what is over by one byte is of the next', [4_000, 4_000, 4_001], 24_000, { ids: ['e0', 'e1'], more: true }],
    ['one that is too large for a page by itself', [4_000, 9_000], 22_100, { ids: ['e0'], more: true }],
    ['no more than half a mebibyte', [400_000, 400_000], 8_000_000, { ids: ['e0'], more: true }],
    ['nothing', [], 24_000, { ids: [], more: false }],
  ] as const)('%s', async (_, sizes, maxPayload, expected) => {
    expect(await page(sizes, maxPayload)).toMatchObject(expected);
  });

  test('has as many as were asked for, and says whether there are more', async () => {
    expect(await page([100, 100], 24_000, 2)).toEqual({ ids: ['e0', 'e1'], more: false, asked: [{ limit: 3 }] });
    expect(await page([100, 100, 100], 24_000, 2)).toMatchObject({ ids: ['e0', 'e1'], more: true });
  });
});

test('an answer to an approval is given only while whoever gave it is there: it is asked before the change', async () => {
  let checked = 0;
  const decide = async (...given: unknown[]) => {
    (given[5] as () => void)();
    return 'decided';
  };
  const connection = {
    principal: { id: 'ann' },
    assertCurrent: () => checked++,
    hub: { served: { approvals: { decide } }, during: (work: unknown) => work },
  };
  const params = { agent: 'bot', sessionId: 's', requestId: 'r', answer: { kind: 'approve' } };
  await approvalMethods['approvals/decide'](connection as never, params as never);
  expect(checked).toBe(1);
});

test('whoever stops watching approvals is told of none', async () => {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'done']), {
    tools: [pay.tool],
    policy: policyOf({ pay: 'ask' }),
  });
  const server = await serving(host);
  const watcher = await Raw.ready(server.url);
  const stopped = await Raw.ready(server.url);
  await watcher.ask('approvals/watch');
  await stopped.ask('approvals/watch');
  await stopped.ask('approvals/watch', { stop: true });
  const session = await host.open('bot', { userId: 'anna' });
  for await (const _ of session.stream('pay'));
  await watcher.until(({ method }) => method === 'approvals/open');
  await stopped.ask('ping');
  expect(stopped.received.map(({ method }) => method)).not.toContain('approvals/open');
});

test.each([true, false])('a client is told whether there are approvals here: %s', async (isHost) => {
  if (isHost) {
    const raw = await Raw.open((await serving(quiet())).url, { token: 'anna' });
    const { capabilities } = await raw.ask('initialize', { protocolVersion: '1' });
    expect(capabilities).toMatchObject({ approvals: true });
    return;
  }
  const executor = { app: 'far', agents: [fromAgent(bot(['hi']))] };
  const server = await serveExecutor(executor, { authenticate: byName });
  onTestFinished(() => server.close({ deadlineMs: 0 }));
  const raw = await Raw.open(server.url, { token: 'anna' });
  const { capabilities } = await raw.ask('initialize', { protocolVersion: '1' });
  expect(capabilities).toMatchObject({ approvals: false });
});

test('a connection that breaks the protocol is logged, with why', async () => {
  const logged: { event: string; connection?: string; message?: string }[] = [];
  const server = await serving(quiet(), { log: (entry) => void logged.push(entry as never) });
  const raw = await Raw.ready(server.url);
  // No frame has these bits.
  raw.socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff]));
  await raw.closed;
  await expect.poll(() => logged.map(({ event }) => event)).toContain('socket_error');
  expect(logged.find(({ event }) => event === 'socket_error')).toMatchObject({
    connection: expect.any(String),
    message: expect.stringContaining('Invalid WebSocket frame'),
  });
});

test('a path of the server’s own is answered by it', async () => {
  const server = await serving(quiet(), {
    routes: { '/about': (_, response) => void response.end('a bot') },
  });
  const at = server.url.replace('ws', 'http').replace('/v1', '');
  expect(await (await fetch(`${at}/about`)).text()).toBe('a bot');
  expect((await fetch(`${at}/toString`)).status).toBe(404);
});

test.each([
  ['localhost', true],
  ['::1', true],
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['localhost.evil.test', false],
  ['10.127.0.1', false],
  ['', false],
])('%j is this machine alone: %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});

test('a store that stops answering is told once, and once more when it has answered in between', async () => {
  const told: unknown[] = [];
  let fault: Error | undefined;
  const readiness = new Readiness(
    async () => {
      if (fault) throw fault;
    },
    (_, error) => told.push(error),
  );
  const looks = async (error: Error | undefined) => {
    fault = error;
    vi.advanceTimersByTime(600);
    return readiness.isReady();
  };
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const [first, second] = [new Error('away'), new Error('away again')];
    expect([await looks(undefined), await looks(first), await looks(first)]).toEqual([true, false, false]);
    expect([await looks(undefined), await looks(second)]).toEqual([true, false]);
    expect(told).toEqual([first, second]);
  } finally {
    vi.useRealTimers();
  }
});
