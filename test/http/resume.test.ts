import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/index.ts';
import { bot, hostOf, notingTool, readOnly } from '../host/kit.ts';
import { durable, idsOf } from '../websocket/kit.ts';
import type { Front } from './kit.ts';
import { EventReader, fronting, get, isEnd, post, readUntil } from './kit.ts';

const S = '/v1/agents/bot/sessions/s';
const pieces = (count: number, word = 'w') => Array.from({ length: count }, (_, index) => `${word}${index} `);
const open = (front: Front) => post(front, '/v1/agents/bot/sessions', { sessionId: 's', create: true });

async function logOf(front: Front): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for (;;) {
    const after = events.at(-1)?.cursor;
    const query = after === undefined ? '' : `&after=${after}`;
    const page = (await get(front, `${S}/events?limit=1000${query}`)).body as { events: AgentEvent[]; more: boolean };
    events.push(...page.events);
    if (!page.more) return events;
  }
}

const textIn = (events: readonly AgentEvent[]) =>
  events
    .flatMap((event) => (event.type === 'message' && event.partial ? event.content : []))
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');

/** Reads on with the last id whenever the connection is lost, after so many events each time; to the end of a stream. */
async function persist(front: Front, drops: readonly number[]): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  let lastId: string | undefined;
  for (let at = 0; ; at++) {
    const reader: EventReader = await EventReader.open(`${front.url}${S}/events`, { lastId });
    let left = drops[at] ?? Number.POSITIVE_INFINITY;
    try {
      for await (const { event, data } of reader) {
        if (event === 'message') {
          const made = JSON.parse(data) as AgentEvent;
          events.push(made);
          if (isEnd(made)) return events;
        }
        if (event === 'reconnect' || --left <= 0) break;
      }
    } finally {
      reader.close();
    }
    lastId = reader.lastId;
  }
}

describe('resumption', () => {
  test('HTTP-12 random drops, with Last-Event-ID: the durable events are the log, in order, once; deltas once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 25 }),
        async (drops, size) => {
          const look = notingTool('look', readOnly);
          const { host } = hostOf(
            bot([
              {
                deltas: pieces(size),
                calls: [
                  ['look', {}],
                  ['look', { n: 2 }],
                ],
              },
              { deltas: pieces(size, 'x') },
            ]),
            { tools: [look.tool] },
          );
          const front = await fronting(host);
          await open(front);
          const watched = persist(front, drops);
          await post(front, `${S}/messages`, { input: 'go' });
          const events = await watched;
          expect(idsOf(durable(events))).toEqual(idsOf(await logOf(front)));
          expect(textIn(events)).toBe([...pieces(size), ...pieces(size, 'x')].join(''));
          expect(look.runs).toHaveLength(2);
          await front.close();
        },
      ),
      { numRuns: 15, endOnFailure: true },
    );
  });

  test('HTTP-12 dropped at each frame in turn, and at all of them: nothing is lost, nothing comes twice', async () => {
    const watch = async (drops: readonly number[]) => {
      const look = notingTool('look', readOnly);
      const script = [{ deltas: pieces(6), calls: [['look', {}] as const] }, { deltas: pieces(6, 'x') }];
      const front = await fronting(hostOf(bot(script), { tools: [look.tool] }).host);
      await open(front);
      const watched = persist(front, drops);
      await post(front, `${S}/messages`, { input: 'go' });
      const events = await watched;
      expect(idsOf(durable(events))).toEqual(idsOf(await logOf(front)));
      expect(new Set(idsOf(events)).size).toBe(events.length);
      expect(textIn(events)).toBe([...pieces(6), ...pieces(6, 'x')].join(''));
      expect(look.runs).toHaveLength(1);
      await front.close();
      return events.length;
    };
    const frames = await watch([]);
    expect(frames).toBeGreaterThan(15);
    for (let at = 1; at < frames; at++) expect([at, await watch([at])]).toEqual([at, frames]);
    expect(await watch(Array.from({ length: 2 * frames }, () => 1))).toBe(frames);
  });

  test('HTTP-12 the same where few frames are kept: the durable events are the log, in order, once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 8 }), async (drops) => {
        const look = notingTool('look', readOnly);
        const { host } = hostOf(bot([{ deltas: pieces(30), calls: [['look', {}]] }, { deltas: pieces(30, 'x') }]), {
          tools: [look.tool],
        });
        const front = await fronting(host, { limits: { ringFrames: 4 } });
        await open(front);
        const watched = persist(front, drops);
        await post(front, `${S}/messages`, { input: 'go' });
        const events = await watched;
        const log = await logOf(front);
        expect(idsOf(durable(events))).toEqual(idsOf(log));
        const whole = [...pieces(30), ...pieces(30, 'x')];
        const seen = textIn(events).split(' ').filter(Boolean);
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen.every((word) => whole.includes(`${word} `))).toBe(true);
        await front.close();
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });

  test('HTTP-12 the id of an event is its cursor, taken as `after` too; of a delta, one that goes on in its midst', async () => {
    const front = await fronting(hostOf(bot([{ deltas: ['a', 'b', 'c'] }])).host);
    await open(front);
    const reader = await EventReader.open(`${front.url}${S}/messages`, { body: { input: 'go' } });
    const ids: { id: string | undefined; event: AgentEvent }[] = [];
    for await (const { id, data } of reader) ids.push({ id, event: JSON.parse(data) as AgentEvent });
    for (const { id, event } of ids.slice(0, -1)) {
      if (event.cursor !== undefined) expect(id).toBe(event.cursor);
      const back = await EventReader.open(`${front.url}${S}/events?after=${encodeURIComponent(id ?? '')}`);
      const rest = await readUntil(back, isEnd);
      back.close();
      expect(idsOf(rest)).toEqual(idsOf(ids.slice(ids.findIndex((one) => one.id === id) + 1).map((one) => one.event)));
    }
    // A page of the log takes the id of a delta, too.
    const page = (await get(front, `${S}/events?after=${encodeURIComponent(ids[1]?.id ?? '')}`)).body;
    expect(page).toMatchObject({ more: false });
  });
});

describe('a reader that is slow', () => {
  test('HTTP-13 is told to come back; what waits for it is bounded, and it has the whole after its return', async () => {
    const look = { ...notingTool('look', readOnly).tool };
    const flood = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(2000, '.'));
    const steps = Array.from({ length: 20 }, () => ({ deltas: flood, calls: [['look', {}] as const] }));
    const { host } = hostOf(bot([...steps, 'done']), { tools: [look] });
    const logged: string[] = [];
    const front = await fronting(host, {
      limits: { stallMs: 300, closeMs: 300, ringBytes: 256 * 1024, highWaterBytes: 64 * 1024 },
      log: ({ event }) => logged.push(event),
    });
    await open(front);
    const { port } = new URL(front.url);
    // It asks, and does not read.
    const deaf = connect(Number(port), '127.0.0.1');
    deaf.on('error', () => {});
    deaf.pause();
    deaf.write(
      `GET ${S}/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer anna\r\nAccept: text/event-stream\r\n\r\n`,
    );
    await expect.poll(() => logged).toContain('stream_opened');
    const watched = persist(front, []);
    await post(front, `${S}/messages`, { input: 'go' });
    const events = await watched;
    expect(events.at(-1)).toMatchObject({ reason: 'completed' });
    // Eight megabytes went by: the deaf one was let go, the other one has it all.
    await expect.poll(() => logged).toContain('stream_closed');
    expect(idsOf(durable(events))).toEqual(idsOf(await logOf(front)));
    deaf.destroy();
  });

  test('HTTP-13 200 streams on which nothing happens hold little, and are given back', async () => {
    const { host } = hostOf(bot(['x']));
    const logged: string[] = [];
    const front = await fronting(host, {
      limits: { maxConnectionsPerPrincipal: 300 },
      log: ({ event }) => logged.push(event),
    });
    await open(front);
    const gc = globalThis.gc ?? (() => {});
    gc();
    const before = process.memoryUsage().heapUsed;
    const readers = await Promise.all(Array.from({ length: 200 }, () => EventReader.open(`${front.url}${S}/events`)));
    gc();
    // Both ends of the connection are in this process.
    expect((process.memoryUsage().heapUsed - before) / 200).toBeLessThan(200 * 1024);
    for (const reader of readers) reader.close();
    await expect.poll(() => logged.filter((event) => event === 'stream_closed').length, { timeout: 20_000 }).toBe(200);
  });
});
