import { afterEach, describe, expect, test, vi } from 'vitest';
import { Position } from '../../src/adapters/remote/position.ts';
import type { AgentEvent, AgentSession, EventFrame, EventsOptions } from '../../src/contracts/index.ts';
import { DEFAULT_LIMITS } from '../../src/host/connection/protocol/index.ts';
import { Attachment, Channel } from '../../src/host/connection/stream/index.ts';

const cursor = (place: number) => `${place}.0`;
const word = (place: number) => `cursor ${place}`;

/** A session of so many events whose stored log is ahead of what it shows live, as that of a node which was frozen. */
async function lagging(known: number, cursorOf = cursor, ringFrames = 100) {
  const stored = known;
  const event = (place: number) =>
    ({
      id: `e${place}`,
      type: 'message',
      seq: place,
      cursor: cursorOf(place),
      streamId: 's',
      content: [],
    }) as unknown as AgentEvent;
  let all = Array.from({ length: stored }, (_, at) => event(at + 1));
  const shown: AgentEvent[] = [];
  let wake = () => {};
  const session = {
    id: 's',
    async *events({ after, live }: EventsOptions = {}) {
      if (!live) yield* all.slice(all.findIndex((each) => each.cursor === after) + 1);
      while (live) {
        for (const each of shown.splice(0)) yield each;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  } as unknown as AgentSession;
  const counts = {} as never;
  const limits = { ...DEFAULT_LIMITS, ringFrames };
  const options = { agent: 'bot', userId: 'anna', ephemeral: false, counts, limits, warn: () => {} };
  const channel = await Channel.open(session, options);
  const sent: unknown[] = [];
  const says = (text: string) => {
    const { method, params } = JSON.parse(text);
    sent.push(method === 'session/event' ? [params.event.id, params.offset] : [method, params.offset]);
  };
  const turns = async () => {
    for (let left = 0; left < 4; left++) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    sent,
    turns,
    /** Another process stores events up to this one. */
    stores: (last: number) => {
      all = Array.from({ length: last }, (_, at) => event(at + 1));
    },
    /** The log shows them here. */
    async shows(from: number, last: number) {
      shown.push(...all.slice(from - 1, last));
      wake();
      await turns();
    },
    async attach(after: string) {
      const transport = { bufferedAmount: 0, unwritten: 0, send: says };
      const attachment = new Attachment(channel, transport as never, () => sent.push('slow'));
      attachment.begin(attachment.place({ cursor: after }).recovered);
      await turns();
      return attachment;
    },
  };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('LW-04 a client that was shown by another server what this one shows only later', () => {
  test.each([
    [4, []],
    [3, [['e4', undefined]]],
    [
      2,
      [
        ['e3', undefined],
        ['e4', undefined],
      ],
    ],
  ])('has %d of four events, and gets each of the others once', async (has, history) => {
    const { sent, stores, shows, attach } = await lagging(1);
    stores(4);
    await attach(cursor(has));
    expect(sent).toEqual(history);
    await shows(2, 3);
    expect(sent).toEqual(history);
    stores(6);
    await shows(4, 6);
    expect(sent).toEqual([...history, ['session/live', 3], ['e5', 4], ['e6', 5]]);
  });

  test('its history is whole after a while, whatever the log shows, and the offset of what is new is said', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { sent, stores, shows, attach } = await lagging(1);
    stores(3);
    await attach(cursor(3));
    vi.advanceTimersByTime(10_000);
    expect(sent).toEqual([['session/live', 0]]);
    stores(4);
    await shows(2, 4);
    expect(sent).toEqual([
      ['session/live', 0],
      ['session/live', 2],
      ['e4', 3],
    ]);
  });

  test('a cursor without an order is waited for, not for ever', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { sent, stores, shows, attach } = await lagging(1, word);
    stores(3);
    await attach(word(3));
    await shows(2, 3);
    stores(4);
    await shows(4, 4);
    expect(sent).toEqual([
      ['session/live', 2],
      ['e4', 3],
    ]);

    const other = await lagging(1, word);
    other.stores(3);
    await other.attach(word(3));
    vi.advanceTimersByTime(10_000);
    other.stores(5);
    await other.shows(5, 5);
    expect(other.sent).toEqual([
      ['session/live', 0],
      ['e5', 1],
    ]);
  });

  test('frames that the ring has lost meanwhile come from the log', async () => {
    const { sent, stores, shows, attach } = await lagging(1, cursor, 2);
    stores(3);
    await attach(cursor(3));
    stores(9);
    await shows(2, 9);
    const shown = sent
      .filter((each) => String((each as string[])[0]).startsWith('e'))
      .map((each) => (each as string[])[0]);
    expect(shown).toEqual(['e4', 'e5', 'e6', 'e7', 'e8', 'e9']);
  });

  test('nothing is sent to one that has left', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { sent, stores, shows, attach } = await lagging(1);
    stores(3);
    const attachment = await attach(cursor(3));
    attachment.end();
    vi.advanceTimersByTime(10_000);
    stores(4);
    await shows(2, 4);
    expect(sent).toEqual([]);
  });

  test('the client takes the offset of `session/live`, and misses no frame', () => {
    const shown: string[] = [];
    const hole = vi.fn();
    const options = { show: ({ id }: AgentEvent) => shown.push(id), ack: () => {}, hole };
    const position = new Position({ epoch: 'e', offset: 0, recovered: false } as never, '3.0', options);
    position.move('e', 0, false);
    position.live(2);
    position.take({
      sessionId: 's',
      epoch: 'e',
      offset: 3,
      event: { id: 'e4', type: 'message' },
    } as unknown as EventFrame);
    position.stop();
    expect([shown, hole.mock.calls]).toEqual([['e4'], []]);
  });
});
