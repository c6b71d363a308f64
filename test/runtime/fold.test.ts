import { describe, expect, test } from 'vitest';
import type { EventInit } from '../../src/runtime/index.ts';
import { createEvent, Fold, OpenRequests } from '../../src/runtime/index.ts';
import { key } from './kit.ts';

/** A fold of events of one turn and one stream that follow one another. */
function folded(...events: Partial<EventInit>[]): Fold {
  const fold = new Fold({}, {});
  const began: Partial<EventInit> = { timestamp: 0, actions: { turn: { start: 'bot' } } };
  for (const [index, event] of [began, ...events].entries()) {
    fold.apply({ ...createEvent({ author: 'user', turnId: 't', streamId: 'x', ...event }), seq: index + 1 });
  }
  return fold;
}

const calls: Partial<EventInit> = {
  author: 'bot',
  content: { role: 'model', parts: [{ type: 'function_call', id: 'c1', name: 'pay', args: {} }] },
};

test('MUT-R7 the time that a person takes to answer is no time of work', () => {
  const fold = folded(
    { timestamp: 2_000 },
    { timestamp: 62_000, actions: { answers: { 'c1#0': { action: 'accept' } } } },
    { timestamp: 65_000 },
  );
  expect(fold.turn?.activeMs).toBe(5_000);
});

test('states that were given are left as they are, frozen or not', () => {
  for (const given of [{ n: 1, gone: 1 }, Object.freeze({ n: 1, gone: 1 })]) {
    const shared = Object.isFrozen(given) ? Object.freeze({ 'app:n': 1 }) : { 'app:n': 1 };
    const fold = new Fold(given, shared);
    const step = (seq: number, stateDelta: Record<string, unknown>) =>
      fold.apply({ ...createEvent({ author: 'bot', actions: { stateDelta } }), seq });
    step(1, { n: 2, 'app:n': 2, 'user:x': 1 });
    step(2, { gone: null, more: true, 'user:x': null });
    expect([fold.state, fold.shared]).toEqual([{ n: 2, more: true }, { 'app:n': 2 }]);
    expect([given, shared]).toEqual([{ n: 1, gone: 1 }, { 'app:n': 1 }]);
  }
});

test('MUT-R7 nor is the time between two streams', () => {
  const fold = folded({ timestamp: 2_000 }, { timestamp: 62_000, streamId: 'y' }, { timestamp: 65_000, streamId: 'y' });
  expect(fold.turn?.activeMs).toBe(5_000);
});

describe('MUT-R2 an open call is one of the turn', () => {
  const detachedOf = (fold: Fold) => {
    const pending = new OpenRequests(key, () => ['bot']).of(fold);
    return pending.map(({ requestId, detached = false }) => [requestId, detached]);
  };
  const ended: Partial<EventInit> = { actions: { end: { reason: 'max_turns' } } };
  const next: Partial<EventInit> = { turnId: 'u', actions: { turn: { start: 'bot' } } };

  test.each<[string, Partial<EventInit>[], boolean]>([
    ['while that runs', [], false],
    ['not once that has ended', [ended], true],
    ['again when that goes on', [ended, { actions: { reopened: true } }], false],
    ['not once another has begun', [next], true],
  ])('%s', (_, events, detached) => {
    expect(detachedOf(folded(calls, ...events))).toEqual([['c1', detached]]);
  });
});
