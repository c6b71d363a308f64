import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { OpenApproval } from '../../src/host/approvals/index.ts';
import { BackPressure } from '../../src/host/connection/stream/back-pressure.ts';
import type { Transport } from '../../src/host/websocket/index.ts';
import { DEFAULT_LIMITS, serve } from '../../src/host/websocket/index.ts';
import { bot, door, hostOf, notingTool, policyOf, say } from '../host/kit.ts';
import { client, metric, serving } from './kit.ts';
import { endOf, Raw } from './raw.ts';

const MEGABYTE = 1024 * 1024;

/** A session of anna's whose log has so many megabytes. */
async function longSession(megabytes: number) {
  const { host } = hostOf(bot(Array.from({ length: megabytes }, () => 'x'.repeat(MEGABYTE))), {
    answerLimits: { text: 2 * MEGABYTE },
  });
  const session = await host.open('bot', { sessionId: 's', create: true, userId: 'anna' });
  for (let index = 0; index < megabytes; index++) await say(session, 'go', { streaming: false });
  return host;
}

/** A log of the server, and the promise of an entry. */
function noted(event: string) {
  const seen = door<Record<string, unknown>>();
  const log = (entry: { event: string }) => {
    if (entry.event === event) seen.open(entry);
  };
  return { log, seen: seen.opened };
}

describe('what a server keeps for a client is bounded', () => {
  test('WS-19 that asks for page after page and reads nothing: a few pages wait, then it is closed to come back', async () => {
    const slow = noted('slow');
    const server = await serving(await longSession(4), { limits: { stallMs: 300 }, log: slow.log });
    const other = await Raw.ready(server.url);
    const raw = await Raw.ready(server.url);
    await raw.ask('session/attach', { agent: 'bot', sessionId: 's', history: false });
    const { events } = await raw.ask('session/events', { sessionId: 's', limit: 1 });
    const params = { sessionId: 's', after: events[0].cursor };
    raw.ws.pause();
    for (let id = 1000; id < 1400; id++) raw.send({ id, method: 'session/events', params });
    const { unsent } = await slow.seen;
    expect(unsent).toBeGreaterThan(256 * 1024);
    expect(unsent).toBeLessThan(6 * MEGABYTE);
    expect(await other.ask('ping')).toEqual({});
    raw.ws.resume();
    expect((await raw.closed).code).toBe(4429);
  });

  test('WS-19 WS-37 that reads slowly, but reads, is not closed', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const limits = { ...DEFAULT_LIMITS, stallMs: 1000 };
    const socket = { bufferedAmount: MEGABYTE, unwritten: MEGABYTE, isPaused: false };
    const transport = Object.assign(socket, {
      protocol: 'coxswain.v1',
      send() {},
      close() {},
      pause() {
        socket.isPaused = true;
      },
      resume() {
        socket.isPaused = false;
      },
      onMessage() {},
      onDrain() {},
    }) satisfies Transport;
    let isSlow = false;
    const pressure = new BackPressure(transport, limits, () => {
      isSlow = true;
    });
    expect(pressure.room()).toBeInstanceOf(Promise);
    expect(socket.isPaused).toBe(true);
    for (let second = 0; second < 60; second++) {
      socket.unwritten -= 1000;
      vi.advanceTimersByTime(1000);
    }
    expect(isSlow).toBe(false);
    vi.advanceTimersByTime(1000);
    expect(isSlow).toBe(true);
    pressure.release();
    expect(socket.isPaused).toBe(false);
  });

  test('WS-19 that asks for much and reads gets all of it', async () => {
    const server = await serving(await longSession(3));
    const raw = await Raw.ready(server.url);
    await raw.ask('session/attach', { agent: 'bot', sessionId: 's', history: false });
    const { events } = await raw.ask('session/events', { sessionId: 's', limit: 1 });
    const params = { sessionId: 's', after: events[0].cursor };
    const pages = await Promise.all(Array.from({ length: 40 }, () => raw.ask('session/events', params)));
    expect(new Set(pages.map(({ events }) => events.at(-1).id)).size).toBe(1);
    expect(pages[0]).toMatchObject({ more: true });
  });

  test('WS-19 that sends and never reads: nothing more is read from it', async () => {
    const { host } = hostOf(bot(['x']));
    const slow = noted('slow');
    const server = await serving(host, {
      limits: { messagesPerSecond: 1e6, maxRequests: 1e6, stallMs: 300, highWaterBytes: 64 * 1024 },
      log: slow.log,
    });
    const raw = await Raw.ready(server.url);
    raw.ws.pause();
    const unknown = 'x'.repeat(64);
    // Each is answered with more than it says; what is not read of them stays with the client.
    for (let id = 0; id < 50_000; id++) raw.ws.send(`{"jsonrpc":"2.0","id":${id},"method":"${unknown}"}`);
    const { unsent } = await slow.seen;
    expect(unsent).toBeLessThan(MEGABYTE);
    raw.ws.terminate();
  });

  test('WS-19 WS-50 that watches approvals and reads nothing is closed, and others are told on', async () => {
    const slow = noted('slow');
    const pay = notingTool('pay');
    const questions = 40;
    const { host } = hostOf(
      bot(Array.from({ length: questions }, () => ({ calls: [['pay', { note: 'n'.repeat(MEGABYTE / 2) }] as const] }))),
      { tools: [pay.tool], policy: policyOf({ pay: 'ask' }) },
    );
    const server = await serving(host, { limits: { stallMs: 1_000 }, log: slow.log });
    const deaf = await Raw.ready(server.url);
    await deaf.ask('approvals/watch');
    deaf.ws.pause();
    const live = await Raw.ready(server.url);
    await live.ask('approvals/watch');
    for (let index = 0; index < questions; index++) {
      const session = await host.open('bot', { userId: 'anna' });
      for await (const _ of session.stream('pay'));
    }
    expect((await slow.seen).unsent).toBeLessThan(2 * MEGABYTE);
    await live.until(() => live.received.filter(({ method }) => method === 'approvals/open').length === questions);
    deaf.ws.resume();
    expect((await deaf.closed).code).toBe(4429);
  });

  test('WS-19 lists come in pages, of which a client gets the whole', async () => {
    const { host } = hostOf(bot(['x']));
    const server = await serving(host);
    const sessions = host.sessions('anna');
    for (let index = 0; index < 450; index++) await sessions.create({ id: `s${index}` });
    const remote = await client(server);
    // Names of tools are for searching alone.
    const all = (await sessions.list()).map(({ tools: _, ...shown }) => shown);
    expect(await remote.sessions().list()).toEqual(all);
    expect((await remote.sessions().list({ limit: 201 })).map(({ id }) => id)).toHaveLength(201);
    const page = await (await Raw.ready(server.url)).ask('session/list');
    expect([page.sessions.length, page.more]).toEqual([200, true]);
  });

  test('WS-19 open questions are listed as far as one message goes, and an answer that is too large says so', async () => {
    const pay = notingTool('pay');
    const { host } = hostOf(
      bot(Array.from({ length: 5 }, () => ({ calls: [['pay', { note: 'n'.repeat(20_000) }] as const] }))),
      { tools: [pay.tool], policy: policyOf({ pay: 'ask' }) },
    );
    const server = await serving(host, { limits: { maxPayload: 96 * 1024 } });
    for (let index = 0; index < 5; index++) {
      for await (const _ of (await host.open('bot', { userId: 'anna' })).stream('pay'));
    }
    const anna = await client(server);
    expect(await host.approvals.list()).toHaveLength(5);
    const first = await anna.approvals.list();
    expect(first).toHaveLength(2);
    await anna.approvals.decide(first[0]?.request.requestId ?? '', { kind: 'deny' });
    expect((await anna.approvals.list())[0]).toEqual(first[1]);
    const small = await serving(host, { limits: { maxPayload: 16 * 1024 } });
    const sessionId = first[1]?.request.sessionId;
    const raw = await Raw.ready(small.url);
    await raw.ask('session/attach', { agent: 'bot', sessionId, history: false });
    await expect(raw.ask('session/pending', { sessionId })).rejects.toMatchObject({ code: 'E_TOO_LARGE' });
    // Only the arguments are large: a host that asks for them judges them, people are told.
    const { approvals } = (await raw.ask('approvals/list')) as { approvals: OpenApproval[] };
    const [shown] = approvals;
    expect(shown?.request).toMatchObject({ requestId: first[1]?.request.requestId, name: 'pay', args: {} });
    expect(shown?.request.message).toContain('Not shown: what it is about, its arguments among it,');
  });

  test('a question whose preview does not fit into a message is shown without it, in each list and to who watches', async () => {
    const preview = () => [{ type: 'text' as const, text: 'p'.repeat(30_000) }];
    const pay = notingTool('pay', { preview });
    const small = notingTool('note');
    const { host } = hostOf(bot([{ calls: [['note', {}]] }, { calls: [['pay', { eur: 5 }]] }, 'done']), {
      tools: [pay.tool, small.tool],
      policy: policyOf({ pay: 'ask', note: 'ask' }),
    });
    const server = await serving(host, { limits: { maxPayload: 16 * 1024 } });
    const anna = await client(server);
    const raw = await Raw.ready(server.url);
    await raw.ask('approvals/watch');
    for await (const _ of (await host.open('bot', { userId: 'anna' })).stream('note'));
    const session = await host.open('bot', { userId: 'anna' });
    for await (const _ of session.stream('pay'));
    const [own] = await session.pending();
    const digest = own?.approval?.previewDigest;
    const text = expect.stringMatching(`^Not shown: its preview has 30\\d+ bytes, .* digest ${digest}\\.$`);
    const fits = { args: { eur: 5 }, approval: { previewDigest: digest, preview: [{ type: 'text', text }] } };
    const told = await raw.until(
      (message) => message.method === 'approvals/open' && JSON.stringify(message).includes(`"${own?.requestId}"`),
    );
    expect(told).toMatchObject({ params: { approval: { request: fits } } });
    expect((await anna.approvals.list()).map(({ request }) => request.name)).toEqual(['note', 'pay']);
    expect((await anna.approvals.list())[1]?.request).toMatchObject(fits);
    await raw.ask('session/attach', { agent: 'bot', sessionId: session.id, history: false });
    expect(await raw.ask('session/pending', { sessionId: session.id })).toMatchObject({ pending: [fits] });
    await anna.approvals.decide(own?.requestId ?? '', {
      kind: 'approve',
      ...(digest ? { previewDigest: digest } : {}),
    });
    await host.idle();
    expect(pay.runs).toEqual([{ eur: 5 }]);
  });

  test('WS-17 connections of one principal are bounded, however their token comes; others come in', async () => {
    const origin = 'https://app.example';
    const server = await serving(hostOf(bot(['x'])).host, {
      limits: { maxConnectionsPerPrincipal: 2 },
      allowedOrigins: [origin],
      lateCredentials: true,
    });
    const one = await Raw.ready(server.url);
    await Raw.ready(server.url);
    await expect(Raw.open(server.url, { token: 'anna' })).rejects.toThrow('429');
    const late = await Raw.open(server.url, { headers: { origin } });
    expect((await late.request('initialize', { protocolVersion: '1', token: 'anna' })).error?.data).toMatchObject({
      code: 'E_RATE_LIMIT',
      retryable: true,
    });
    expect((await late.closed).code).toBe(4429);
    await Raw.ready(server.url, 'bert');
    one.ws.terminate();
    await expect.poll(() => metric(server, 'coxswain_connections')).toBe(2);
    await Raw.ready(server.url);
  });

  test('WS-17 open sessions of one principal are bounded over all connections; idle ones make room', async () => {
    const server = await serving(hostOf(bot(['x'])).host, { limits: { maxSessionsPerPrincipal: 2 } });
    const one = await Raw.ready(server.url);
    const two = await Raw.ready(server.url);
    await one.ask('session/open', { agent: 'bot', sessionId: 'a', create: true });
    await two.ask('session/open', { agent: 'bot', sessionId: 'b', create: true });
    await expect(two.ask('session/open', { agent: 'bot' })).rejects.toMatchObject({ code: 'E_RATE_LIMIT' });
    await (await Raw.ready(server.url, 'bert')).ask('session/open', { agent: 'bot' });
    await one.ask('session/close', { sessionId: 'a' });
    await two.ask('session/open', { agent: 'bot', sessionId: 'c', create: true });
    await expect(one.ask('session/open', { agent: 'bot', sessionId: 'a' })).rejects.toMatchObject({
      code: 'E_RATE_LIMIT',
    });
    await two.ask('session/close', { sessionId: 'b' });
    expect(await one.ask('session/open', { agent: 'bot', sessionId: 'a' })).toMatchObject({ sessionId: 'a' });
  });

  test('WS-17 an idle session that is opened while another one wants its room is open, or refused, never closed', async () => {
    const server = await serving(hostOf(bot(['x', 'x'])).host, { limits: { maxSessionsPerPrincipal: 2 } });
    const raw = await Raw.ready(server.url);
    for (const sessionId of ['a', 'b']) {
      await raw.ask('session/open', { agent: 'bot', sessionId, create: true });
      await raw.ask('session/close', { sessionId });
    }
    // In one packet: both are read before either is done.
    const { socket } = raw;
    socket.cork();
    const known = raw.ask('session/open', { agent: 'bot', sessionId: 'a' });
    const fresh = raw.ask('session/open', { agent: 'bot', sessionId: 'c', create: true });
    socket.uncork();
    await fresh;
    const { sessionId, fencingToken } = await known;
    expect(await raw.ask('session/stream', { sessionId, fencingToken, streamId: 's', input: 'go' })).toEqual({
      streamId: 's',
    });
  });

  test.each([{ window: 0 }, { stallMs: Number.NaN }, { highWaterBytes: 1024 }, { maxSesions: 3 }, { idleMs: 2 ** 31 }])(
    'limits that are none are refused: %o',
    async (limits) => {
      await expect(serve(hostOf(bot(['x'])).host, { limits })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    },
  );
});

describe('keys of changes', () => {
  async function opened(limits: object) {
    const server = await serving(hostOf(bot(Array.from({ length: 20 }, () => 'x'))).host, { limits });
    const raw = await Raw.ready(server.url);
    const { sessionId, fencingToken } = await raw.ask('session/open', { agent: 'bot' });
    const steer = (key: string) =>
      raw.ask('session/steer', { sessionId, fencingToken, key, data: { content: `c ${key}` } });
    const stream = async (streamId: string) => {
      const params = { sessionId, fencingToken, key: streamId, streamId, input: 'go' };
      const result = await raw.ask('session/stream', params);
      await raw.until(endOf(streamId));
      return { result, again: () => raw.ask('session/stream', { ...params, retry: true }) };
    };
    const steers = async () => {
      const { events } = await raw.ask('session/events', { sessionId });
      return (events as { id: string; _meta?: object }[]).length;
    };
    return { steer, stream, steers };
  }

  test('WS-24 are never forgotten before their time: a change is refused instead, and none is done twice', async () => {
    const { steer, steers } = await opened({ maxKeys: 3 });
    const first = await steer('a');
    await steer('b');
    await steer('c');
    await expect(steer('d')).rejects.toMatchObject({ code: 'E_RATE_LIMIT' });
    expect(await steer('a')).toEqual(first);
    expect(await steers()).toBe(3);
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 1_000_000);
    try {
      await steer('d');
    } finally {
      clock.mockRestore();
    }
    expect(await steers()).toBe(4);
  });

  test('WS-23 WS-24 of streams give way, as the log tells of them', async () => {
    const { stream, steer } = await opened({ maxKeys: 2 });
    const one = await stream('one');
    await stream('two');
    await stream('three');
    expect(await one.again()).toEqual({ streamId: 'one', duplicate: true });
    await steer('a');
  });
});
