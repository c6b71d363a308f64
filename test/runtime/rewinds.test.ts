import { describe, expect, test, vi } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import type { EventInit, SessionRecord, StoredEvent } from '../../src/runtime/index.ts';
import {
  Cuts,
  createEvent,
  effectiveEvents,
  Fold,
  InMemorySessionService,
  LiveSession,
} from '../../src/runtime/index.ts';
import { createView } from '../../src/session/index.ts';
import { key, user } from './kit.ts';

const at = (id: string, more: Partial<EventInit> = {}) => createEvent({ id, author: 'user', timestamp: 0, ...more });
const turn = (n: number | string) => at(`turn${n}`, { turnId: `t${n}`, actions: { turn: { start: 'bot' } } });
const back = (n: number | string, through: number) => at(`back${n}`, { actions: { rewound: { through } } });
const asks = (id: string): Partial<EventInit> => ({
  author: 'bot',
  content: { role: 'model', parts: [{ type: 'function_call', id, name: 'pay', args: {} }] },
});
const starts = (id: string, callId: string, startedIn: number) => at(id, { actions: { started: [callId], startedIn } });

const seqs = (events: readonly StoredEvent[]): StoredEvent[] =>
  events.map((event, index) => ({ ...event, seq: index + 1 }));
const recordOf = (events: readonly StoredEvent[]): SessionRecord => ({
  ...{ key, epoch: 0, events, state: {}, initialState: { a: 0 }, lastSeq: events.length, createdAt: 1, updatedAt: 1 },
});

/** All of a fold that anybody reads. */
function shown(live: LiveSession) {
  const { fold } = live;
  const calls = [...fold.open.values()].map(({ id, started, startedIn, attempts }) => [
    id,
    started,
    startedIn,
    attempts,
  ]);
  return {
    calls,
    state: fold.state,
    shared: fold.shared,
    config: fold.config,
    usage: fold.totalUsage,
    total: fold.totalCalls,
    answers: fold.answers,
    turn: fold.turn?.id,
    steers: [...fold.steers.keys()],
    closed: [...fold.closed.keys()],
    ends: [...fold.ends.keys()],
    at: fold.at,
    log: live.log.map(({ id }) => id),
  };
}

const service = new InMemorySessionService();
type Taking = { takeIn(record: SessionRecord): void };

/** The first event, and then the others together or, with `step`, so many at a time, each time with a look at the fold. */
function taken(events: readonly StoredEvent[], step = events.length): LiveSession {
  const live = LiveSession.apart(service, recordOf(events.slice(0, 1)));
  for (let length = 1; length < events.length; ) {
    length = Math.min(events.length, length + step);
    (live as unknown as Taking).takeIn(recordOf(events.slice(0, length)));
    void live.fold;
  }
  return live;
}

describe('ATK2-12 rewinds of a log', () => {
  test.each([
    ['to its beginning', () => 0],
    ['to the turn before', (length: number) => length],
    ['to half way', (_: number, kept: number) => Math.floor(kept / 2)],
  ])('as many as it has events, %s, cost no more than a fold of it', async (_, placeOf) => {
    const many = 600;
    const events: StoredEvent[] = [at('first'), ...Array.from({ length: many }, (__, n) => at(`e${n}`))];
    for (let n = 0; n < many; n++) {
      const { length } = events;
      events.push(turn(n), back(n, placeOf(length, many)));
    }
    const sessions = new InMemorySessionService();
    await sessions.create(key);
    for (let from = 0; from < events.length; from += 100) await sessions.append(key, events.slice(from, from + 100));
    const applied = vi.spyOn(Fold.prototype, 'apply');
    try {
      const live = await LiveSession.open(sessions, key);
      void live.fold.turn;
      expect(live.at).toBe(events.length);
      expect(applied.mock.calls.length).toBeLessThanOrEqual(3 * events.length);
    } finally {
      applied.mockRestore();
    }
  });

  test('a long log that was rewound early is folded page by page, not at its end', async () => {
    const sessions = new InMemorySessionService();
    await sessions.create(key);
    const some = (name: string, length: number) => Array.from({ length }, (_, n) => at(`${name}${n}`));
    await sessions.append(key, [at('a'), turn(1), ...some('b', 198), back(1, 1), ...some('c', 2000)]);
    const applied = vi.spyOn(Fold.prototype, 'apply');
    const between: number[] = [];
    const get = sessions.get.bind(sessions);
    sessions.get = (...given) => {
      between.push(applied.mock.calls.length);
      return get(...given);
    };
    try {
      expect((await LiveSession.open(sessions, key)).at).toBe(2201);
      expect(between.length).toBeGreaterThan(10);
      for (const [index, before] of between.entries()) {
        expect((between[index + 1] ?? applied.mock.calls.length) - before).toBeLessThan(300);
      }
    } finally {
      applied.mockRestore();
    }
  });

  test('what of a log counts is found with one look at each event, however it is read', () => {
    const events: StoredEvent[] = [];
    for (let n = 0; n < 2000; n++) events.push(...[turn(n), at(`x${n}`), back(n, Math.max(0, 3 * n - (n % 7)))]);
    const log = seqs(events);
    let looks = 0;
    const watched = log.map((event) => ({
      ...event,
      get seq() {
        looks++;
        return event.seq;
      },
    }));
    const markers = log.flatMap(({ seq, actions: { rewound } }) => (rewound ? [{ seq, ...rewound }] : []));
    const cuts = new Cuts(markers);
    const counting = [];
    for (let from = 0; from < log.length; from += 128) counting.push(...cuts.counting(watched.slice(from, from + 128)));
    expect(counting.map(({ id }) => id)).toEqual(effectiveEvents(log).map(({ id }) => id));
    expect(looks).toBeLessThan(4 * log.length);
  });

  test('a page that reads a history with many looks through nothing that it shows', () => {
    const view = createView();
    const places = vi.spyOn(WeakMap.prototype, 'get');
    try {
      for (let n = 1; n <= 300; n++) {
        const place = { sessionId: 's', streamId: 'x', timestamp: '', source: 'agent' as const };
        const message = { ...place, id: `m${n}`, seq: 2 * n - 1, type: 'message', role: 'agent', content: [] };
        const marker = {
          ...place,
          id: `b${n}`,
          seq: 2 * n,
          type: 'custom',
          kind: 'rewound',
          data: { through: 2 * n - 1 },
        };
        for (const event of [message, marker]) view.apply(event as unknown as AgentEvent);
      }
      expect(view.messages).toHaveLength(300);
      expect(places.mock.calls.length).toBeLessThan(1000);
    } finally {
      places.mockRestore();
    }
  });

  /** Numbers that look random, the same each time. */
  function chances(seed: number) {
    let state = seed;
    return (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
  }

  test.each(Array.from({ length: 40 }, (_, seed) => seed + 1))(
    'a log comes to the same, taken in at once or piece by piece (%d)',
    (seed) => {
      const chance = chances(seed);
      const events: StoredEvent[] = [turn('first')];
      const places = [0];
      let calls = 0;
      for (let n = 0; n < 60; n++) {
        const { length } = events;
        const id = `${n}`;
        const call = `c${chance(calls + 1)}`;
        const made = [
          () => {
            places.push(length);
            return turn(n);
          },
          () => at(id, { actions: { stateDelta: { [`k${chance(3)}`]: n, [`app:k${chance(3)}`]: n } } }),
          () => at(id, { ...asks(`c${calls++}`), usage: { inputTokens: 1 } }),
          () => starts(id, call, n),
          () => at(id, { actions: { answers: { [call]: { action: 'accept' as const } } } }),
          () => at(id, { actions: { config: { title: chance(2) ? `${n}` : (null as never) } } }),
          () => at(id, { content: user('later'), actions: { steer: true } }),
          () => at(id, { actions: { end: { reason: 'completed' } } }),
          () => {
            const through = places[chance(places.length)] ?? 0;
            return back(n, through);
          },
        ];
        events.push((made[chance(made.length)] ?? (() => at(id)))());
      }
      const log = seqs(events);
      expect(shown(taken(log))).toEqual(shown(taken(log, 1)));
      expect(shown(taken(log, 7))).toEqual(shown(taken(log, 1)));
    },
  );

  test('a start that is cut counts after the next rewind, and where that cuts the first one', () => {
    const log = (...more: StoredEvent[]) => taken(seqs([turn(1), at('asked', asks('c1')), turn(2), ...more]));
    const first = [starts('s', 'c1', 7), back(1, 2)];
    const unknown = [['c1', true, 7, 1]];
    expect(shown(log(...first)).calls).toEqual(unknown);
    expect(shown(log(...first, turn(3), back(2, 5))).calls).toEqual(unknown);
    expect(shown(log(...first, turn(3), back(2, 2))).calls).toEqual(unknown);
    expect(shown(log(...first, turn(3), starts('s2', 'c1', 9), back(2, 2))).calls).toEqual([['c1', true, 9, 2]]);
    // To before it was asked for: there is none.
    expect(shown(log(...first, turn(3), back(2, 1))).calls).toEqual([]);
  });
});
