import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/index.ts';
import { bot, door, hostOf, notingTool, readOnly } from '../host/kit.ts';
import { all, client, durable, idsOf, logOf, metric, serving } from './kit.ts';
import { endOf, Raw } from './raw.ts';

/** A megabyte of words in so many pieces. */
const flood = (count: number, size: number) =>
  Array.from({ length: count }, (_, index) => `${index}`.padEnd(size, '.'));

/** Stops reading from the socket: what is sent to it piles up. */
function deafen(raw: Raw): void {
  raw.ws.pause();
}
function hear(raw: Raw): void {
  raw.ws.resume();
}

describe('a client that is slow', () => {
  test('WS-37 three observers and a controller, one observer stalled: the others see all, the stalled one is closed to come back, whole after its return', async () => {
    // A tool that takes a moment, so that sockets are written to between the steps.
    const look = { ...notingTool('look', readOnly).tool, execute: () => setTimeout(30, 'seen') };
    const steps = Array.from({ length: 12 }, () => ({ deltas: flood(120, 2000), calls: [['look', {}] as const] }));
    const { host } = hostOf(bot([...steps, 'done']), { tools: [look] });
    const server = await serving(host, {
      limits: { stallMs: 1500, window: 128, ringBytes: 512 * 1024, highWaterBytes: 64 * 1024 },
    });
    const controller = await client(server);
    const session = await controller.open('bot', { sessionId: 's', create: true });
    const views = await Promise.all(
      ['a', 'b'].map(async () => (await client(server)).open('bot', { sessionId: 's', control: false })),
    );
    const watched = views.map(async (view) => {
      const seen: AgentEvent[] = [];
      for await (const event of view.watch()) {
        seen.push(event);
        if (event.type === 'stream_end') break;
      }
      return seen;
    });
    const stalled = await Raw.ready(server.url);
    const { epoch } = await stalled.ask('session/attach', { agent: 'bot', sessionId: 's', control: false });
    deafen(stalled);
    const events = await all(session.stream('go'));
    expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
    // Six megabytes, deltas and messages, went by; what is kept for the stalled client is the ring and what its socket took.
    const { ring, buffered } = await memory(server);
    expect(ring).toBeLessThan(512 * 1024 + 16 * 1024);
    expect(buffered).toBeLessThan(1024 * 1024);
    const log = idsOf(await logOf(session));
    for (const seen of await Promise.all(watched)) expect(idsOf(durable(seen))).toEqual(log);
    hear(stalled);
    expect(await stalled.closed).toMatchObject({ code: 4429 });
    const offset = Math.max(0, ...stalled.frames().map((frame) => frame.offset ?? 0));
    const cursor = stalled.frames().findLast(({ event }) => event.cursor !== undefined)?.event.cursor;
    const back = await Raw.ready(server.url);
    await back.ask('session/attach', { agent: 'bot', sessionId: 's', epoch, offset, cursor, control: false });
    await back.until(({ method }) => method === 'session/live');
    const seen = [...stalled.frames(), ...back.frames()].map(({ event }) => event as AgentEvent);
    expect(idsOf(durable(seen))).toEqual(log);
  });

  test('WS-36 is sent no more than its window, and joined deltas once it goes on', async () => {
    const pieces = Array.from({ length: 500 }, (_, index) => `w${index} `);
    const { host } = hostOf(bot([{ deltas: pieces }]));
    const server = await serving(host, { limits: { window: 20 } });
    const driver = await client(server);
    const session = await driver.open('bot', { sessionId: 's', create: true });
    const raw = await Raw.ready(server.url);
    const { epoch } = await raw.ask('session/attach', { agent: 'bot', sessionId: 's', control: false });
    await all(session.stream('go'));
    await raw.ask('ping');
    expect(raw.frames()).toHaveLength(20);
    let acked = 0;
    for (;;) {
      const offset = raw.frames().at(-1)?.offset ?? 0;
      if (raw.frames().at(-1)?.event.type === 'stream_end') break;
      expect(offset).toBeGreaterThan(acked);
      acked = offset;
      raw.notify('session/ack', { sessionId: 's', epoch, offset });
      await raw.until(({ params }) => Number(params?.offset) > offset);
      await raw.ask('ping');
    }
    const frames = raw.frames();
    expect(frames.some(({ from }) => from !== undefined)).toBe(true);
    let last = 0;
    for (const { from, offset = 0 } of frames) {
      expect(from ?? offset).toBe(last + 1);
      last = offset;
    }
    const deltas = frames.filter(({ event }) => event.partial === true);
    expect(deltas.map(({ event }) => event.content[0].text).join('')).toBe(pieces.join(''));
  });

  test('WS-38 that the ring has overtaken is told so, and gets the history', async () => {
    const more = door();
    const wait = { ...notingTool('wait', readOnly).tool, execute: () => more.opened.then(() => 'ok') };
    const { host } = hostOf(bot([{ deltas: ['a'], calls: [['wait', {}]] }, { deltas: flood(300, 10) }]), {
      tools: [wait],
    });
    const server = await serving(host, { limits: { window: 4, ringFrames: 16 } });
    const raw = await Raw.ready(server.url);
    const { sessionId, fencingToken, epoch } = await raw.ask('session/open', { agent: 'bot' });
    await raw.ask('session/stream', { sessionId, fencingToken, streamId: 'a', input: 'go' });
    await raw.until(({ params }) => params?.offset === 4);
    more.open();
    const other = await Raw.ready(server.url);
    await other.ask('session/attach', { agent: 'bot', sessionId, control: false });
    for (;;) {
      const { pending } = await other.ask('session/pending', { sessionId });
      const { events } = await other.ask('session/events', { sessionId });
      if (pending.length === 0 && events.at(-1)?.type === 'stream_end') break;
    }
    raw.notify('session/ack', { sessionId, epoch, offset: 4 });
    await raw.until(({ method }) => method === 'session/reset');
    await raw.until(({ method }) => method === 'session/live');
    const { events } = await raw.ask('session/events', { sessionId });
    const seen = raw.frames().map(({ event }) => event as AgentEvent);
    expect(idsOf(durable(seen))).toEqual(idsOf(events as AgentEvent[]));
  });

  test('WS-39 an event that is too large for a message is shown as an error in its place', async () => {
    const { host } = hostOf(bot([{ text: 'x'.repeat(100_000) }]));
    const server = await serving(host, { limits: { maxPayload: 64 * 1024 } });
    const session = await (await client(server)).open('bot');
    const events = await all(session.stream('go', { streaming: false }));
    expect(events.find(({ type }) => type === 'error')).toMatchObject({
      code: 'E_TOO_LARGE',
      fatal: false,
      cursor: expect.any(String),
      _meta: { oversized: { type: 'message' } },
    });
    expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
    expect(idsOf(durable(events))).toEqual(idsOf(await logOf(session)));
  });

  test('WS-40 a delta says where it belongs', async () => {
    const { host } = hostOf(bot([{ deltas: ['ab', 'cde', 'f'] }]));
    const raw = await Raw.ready((await serving(host)).url);
    const { sessionId, fencingToken } = await raw.ask('session/open', { agent: 'bot' });
    await raw.ask('session/stream', { sessionId, fencingToken, streamId: 'a', input: 'go' });
    await raw.until(endOf('a'));
    expect(raw.frames().flatMap(({ at }) => (at === undefined ? [] : [at]))).toEqual([0, 2, 5]);
  });
});

async function memory(server: { url: string }): Promise<{ ring: number; buffered: number }> {
  const buffered = await metric(server, 'coxswain_socket_buffered_bytes');
  return { ring: await metric(server, 'coxswain_ring_bytes'), buffered };
}
