import { request as httpRequest } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import type { Transport } from '../../src/host/connection/protocol/transport.ts';
import { wireEvent } from '../../src/host/connection/protocol/wire-event.ts';
import { Ceiling } from '../../src/host/connection/server/ceiling.ts';
import { Attachment } from '../../src/host/connection/stream/attachment.ts';
import type { Channel } from '../../src/host/connection/stream/index.ts';
import { serve, serveExecutor } from '../../src/host/websocket/index.ts';
import { fromAgent } from '../../src/index.ts';
import { bot, hostOf, notingTool, policyOf } from '../host/kit.ts';
import { metric, serving } from './kit.ts';
import { Raw } from './raw.ts';

const quiet = () => hostOf(bot(['hello', 'again'])).host;

describe('who comes to a server', () => {
  test('its authenticator is told the address, the origin and the headers of who asks', async () => {
    const seen: unknown[] = [];
    const server = await serving(quiet(), {
      authenticate: ({ token, remoteAddress, origin, headers }) => {
        seen.push({ token, remoteAddress, origin, agent: headers['x-agent'] });
        return { id: 'ann' };
      },
    });
    await Raw.open(server.url, { token: 'anna', headers: { 'x-agent': 'raw' } });
    expect(seen).toEqual([{ token: 'anna', remoteAddress: '127.0.0.1', origin: undefined, agent: 'raw' }]);
  });

  test.each([
    ['a word before the scheme', 'My Bearer anna'],
    ['another scheme', 'Basic anna'],
    ['no token', 'Bearer '],
    ['two tokens', 'Bearer anna bob'],
  ])('a header with %s names no token', async (_, authorization) => {
    const tokens: unknown[] = [];
    const server = await serving(quiet(), {
      authenticate: ({ token }) => {
        tokens.push(token);
        return { id: 'ann' };
      },
    });
    await Raw.open(server.url, { headers: { authorization } });
    expect(tokens).toEqual([undefined]);
  });

  test('an address of six is written as a client can use it', async () => {
    const server = await serving(quiet(), { host: '::1' });
    expect(server.url).toMatch(/^ws:\/\/\[::1\]:\d+\/v1$/);
    const raw = await Raw.ready(server.url);
    await expect(raw.ask('ping', {})).resolves.toBeDefined();
  });
});

describe('what is given to serve', () => {
  const executor = { app: 'far', agents: [fromAgent(bot(['hi']))] };

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['a ceiling with a slip', () => serve(quiet(), { ceiling: { modles: [] } as never }), /serve: options\.ceiling/],
    ['a ceiling that is none', () => serve(quiet(), { ceiling: 5 as never }), /serve: options\.ceiling/],
    ['an executor without agents', () => serveExecutor({ app: 'far' } as never), /serveExecutor: executor/],
    ['an executor with a slip', () => serveExecutor({ ...executor, session: 1 } as never), /serveExecutor: executor/],
    [
      'options of an executor with a slip',
      () => serveExecutor(executor, { prot: 1 } as never),
      /serveExecutor: options/,
    ],
  ])('%s is refused before anything listens', async (_, start, message) => {
    await expect(start()).rejects.toThrow(message);
  });
});

describe('requests of a client', () => {
  test('what is refused is logged by the name of a method that there is', async () => {
    const logged: { event: string; method?: string }[] = [];
    const server = await serving(quiet(), { log: (entry) => logged.push(entry as never) });
    const raw = await Raw.ready(server.url);
    await expect(raw.ask('session/open', { agent: 'nobody' })).rejects.toThrow();
    await expect(raw.ask('secret words', {})).rejects.toThrow();
    const old = await Raw.open(server.url, { token: 'anna' });
    await expect(old.ask('initialize', { protocolVersion: '0' })).rejects.toThrow();
    await old.closed;
    const refused = logged.filter(({ event }) => event === 'refused').map(({ method }) => method);
    expect(refused).toEqual(['session/open', 'unknown', 'initialize']);
  });

  test('a notification is answered by nothing, whatever comes of it', async () => {
    const server = await serving(quiet());
    const raw = await Raw.ready(server.url);
    const before = raw.received.length;
    raw.notify('ping', {});
    raw.notify('no/such', {});
    raw.notify('session/open', { agent: 'nobody' });
    await raw.ask('ping', {});
    expect(raw.received.slice(before).map(({ id }) => typeof id)).toEqual(['number']);
  });

  test('a place is given back once, by whoever has had one', async () => {
    const server = await serving(quiet(), { limits: { maxConnectionsPerPrincipal: 1 } });
    const first = await Raw.ready(server.url);
    // Of nobody: it has taken no place, and gives none back.
    await expect(Raw.open(server.url)).rejects.toThrow('401');
    await expect(Raw.ready(server.url)).rejects.toThrow();
    first.ws.close();
    await first.closed;
    await expect.poll(() => metric(server, 'coxswain_connections')).toBe(0);
    const next = await Raw.ready(server.url);
    await expect(next.ask('ping', {})).resolves.toBeDefined();
  });

  test('a session that runs is not deleted, nor is one that is open, and trying again is no help', async () => {
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'done']), {
      tools: [pay.tool],
      policy: policyOf({ pay: 'ask' }),
    });
    const server = await serving(host);
    const holder = await Raw.ready(server.url);
    const { sessionId } = await holder.ask('session/open', { agent: 'bot' });
    const other = await Raw.ready(server.url);
    const { error } = await other.request('session/delete', { agent: 'bot', sessionId });
    expect(error?.data).toMatchObject({ code: 'E_SESSION_BUSY', retryable: false });
    await holder.ask('session/close', { sessionId });
    await expect(other.ask('session/delete', { agent: 'bot', sessionId })).resolves.toBeDefined();
  });
});

test('a ceiling hands tools on only where the server lets clients have some', () => {
  const tools = [{ name: 'mine' }] as never;
  expect(new Ceiling({ clientTools: true }).stream({ tools })).toEqual({ tools });
  expect(new Ceiling({}).stream({ tools: [] })).toEqual({ tools: [] });
  expect(Object.keys(new Ceiling({}).stream({ excludeTools: ['a'] }))).toEqual(['excludeTools']);
});

test('what stands for an event that is too large has its place, and none that it had not', () => {
  const large = (members: object) =>
    JSON.parse(
      wireEvent(
        {
          id: 'e',
          timestamp: 't',
          sessionId: 's',
          streamId: 'r',
          type: 'message',
          content: 'x'.repeat(500),
          ...members,
        } as never,
        200,
      ),
    ) as Record<string, unknown>;
  expect(large({ seq: 4, cursor: '4.0', turnId: 'u' })).toMatchObject({
    seq: 4,
    cursor: '4.0',
    turnId: 'u',
    code: 'E_TOO_LARGE',
  });
  for (const name of ['seq', 'cursor', 'turnId', 'agentId', 'threadId'])
    expect(Object.keys(large({}))).not.toContain(name);
});

describe('a client that is behind', () => {
  const delta = (type: 'text' | 'thought', words: string) => ({
    text: JSON.stringify({ content: [{ type, [type]: words }] }),
    joins: `m/0/${type}`,
    at: 0,
  });

  function watching(entries: { text: string; joins?: string; cursor?: string }[], log: Partial<AgentEvent>[] = []) {
    const sent: { method: string; params: { event?: { content: Record<string, string>[] }; offset?: number } }[] = [];
    const line = { bufferedAmount: 0, unwritten: 0 };
    const transport = Object.assign(line, {
      send: (text: string) => void sent.push(JSON.parse(text)),
    }) as unknown as Transport;
    let slow = 0;
    const ring = {
      first: 1,
      head: entries.length,
      get: (offset: number) => entries[offset - 1],
    };
    const channel = {
      ring,
      epoch: 'e',
      durable: { offset: 0, cursor: log.at(-1)?.cursor },
      attachments: new Set(),
      options: { limits: { window: 1_000, highWaterBytes: 1_000, stallMs: 1_000, maxPayload: 10_000 }, warn: () => {} },
      session: {
        id: 's',
        async *events() {
          yield* log;
        },
      },
    } as unknown as Channel;
    return { sent, line, slow: () => slow, attachment: new Attachment(channel, transport, () => slow++) };
  }

  test.each(['text', 'thought'] as const)('is sent adjacent deltas of %s as one', async (type) => {
    const entries = Array.from({ length: 100 }, (_, n) => delta(type, `${n} `));
    const { sent, attachment } = watching(entries);
    const place = attachment.place({ epoch: 'e', offset: 0 });
    expect(place).toMatchObject({ recovered: true, offset: 0 });
    attachment.begin(true);
    const words = sent.flatMap(({ params }) => params.event?.content.map((part) => part[type]) ?? []);
    expect(words.join('')).toBe(entries.map((_, n) => `${n} `).join(''));
    expect(sent.length).toBeLessThan(entries.length);
  });

  test.each([
    [65, 65],
    [66, 3],
  ])(
    'is sent %i deltas as %i: one that is as far behind as one frame may hold gets each by itself',
    (count, frames) => {
      const { sent, attachment } = watching(Array.from({ length: count }, (_, n) => delta('text', `${n} `)));
      attachment.place({ epoch: 'e', offset: 0 });
      attachment.begin(true);
      expect(sent).toHaveLength(frames);
    },
  );

  test('is sent nothing while as many bytes wait as may, and goes on below that', () => {
    const { sent, line, attachment } = watching([delta('text', 'a')]);
    line.bufferedAmount = 1_000;
    attachment.place({ epoch: 'e', offset: 0 });
    attachment.begin(true);
    expect(sent).toEqual([]);
    line.bufferedAmount = 999;
    attachment.drained();
    expect(sent).toHaveLength(1);
    attachment.end();
  });

  test('is slow once it has taken nothing for as long as it may, counted from what it took last', () => {
    vi.useFakeTimers();
    try {
      const { line, slow, attachment } = watching([delta('text', 'a')]);
      line.bufferedAmount = 1_000;
      attachment.place({ epoch: 'e', offset: 0 });
      attachment.begin(true);
      vi.advanceTimersByTime(900);
      attachment.drained();
      vi.advanceTimersByTime(900);
      expect(slow()).toBe(0);
      vi.advanceTimersByTime(100);
      expect(slow()).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test('is sent the log up to where frames go on, and no event behind it', async () => {
    const log = ['1.0', '2.0', '3.0'].map((cursor) => ({ id: cursor, cursor, type: 'message' as const }));
    const { sent, attachment } = watching([], log as never);
    attachment.place({});
    // One that is stored while the history is read comes as a frame.
    log.push({ id: '4.0', cursor: '4.0', type: 'message' });
    attachment.begin(false);
    await expect.poll(() => sent.map(({ method }) => method)).toContain('session/live');
    const shown = sent.flatMap(({ params }) => (params.event as { id?: string } | undefined)?.id ?? []);
    expect(shown).toEqual(['1.0', '2.0', '3.0']);
  });
});

test('a server says where it is to whoever asks by HTTP, and takes no upgrade elsewhere', async () => {
  const server = await serving(quiet());
  const at = new URL(server.url.replace('ws', 'http'));
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const asked = httpRequest({
      host: at.hostname,
      port: at.port,
      path: '/elsewhere',
      headers: { connection: 'upgrade', upgrade: 'websocket' },
    });
    asked
      .on('response', (response) => resolve(response.statusCode))
      .on('error', reject)
      .end();
    onTestFinished(() => void asked.destroy());
  });
  expect(status).toBeGreaterThanOrEqual(400);
});
