import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import {
  claimOf,
  EventReading,
  joinedDeltas,
  restartPlace,
  resumePlace,
  ShownEvents,
} from '../../src/session/resume/index.ts';

const event = (id: string, seq?: number): AgentEvent =>
  ({ id, ...(seq === undefined ? {} : { seq }), type: 'usage' }) as unknown as AgentEvent;

describe('which events a reader is shown', () => {
  test('all of them, or as many as are wanted', () => {
    const all = new EventReading({});
    expect([all.after, all.isOver, all.takes(event('a')), all.left]).toEqual([
      ...[undefined, false, true, Number.POSITIVE_INFINITY],
    ]);
    const two = new EventReading({ after: 'c', limit: 2 });
    expect([two.after, two.takes(event('a')), two.isOver, two.left]).toEqual(['c', true, false, 1]);
    expect([two.takes(event('b')), two.isOver, two.takes(event('c')), two.left]).toEqual([true, true, false, 0]);
    expect([new EventReading({ limit: 0 }).isOver, new EventReading({ limit: 0 }).takes(event('a'))]).toEqual([
      ...[true, false],
    ]);
  });

  test('each once, in the order of the log', () => {
    const shown = new ShownEvents();
    expect([shown.has(event('a', 1)), shown.has(event('x'))]).toEqual([false, false]);
    shown.add(event('a', 2));
    shown.add(event('b', 2));
    expect(['a', 'b', 'c'].map((id) => shown.has(event(id, 2)))).toEqual([true, true, false]);
    expect([shown.has(event('z', 1)), shown.has(event('z', 3)), shown.has(event('z'))]).toEqual([true, false, false]);
    shown.add(event('c', 3));
    expect([shown.has(event('a', 2)), shown.has(event('a', 3)), shown.has(event('c', 3))]).toEqual([true, false, true]);
    expect([new ShownEvents(4).has(event('a', 3)), new ShownEvents(4).has(event('a', 4))]).toEqual([true, false]);
  });
});

describe('from where a watcher is sent what it lacks', () => {
  const store = { epoch: 'e', ring: { first: 5, head: 9 }, durable: { cursor: 'd', offset: 7 } };

  test.each([
    [4, true],
    [9, true],
    [3, false],
    [10, false],
  ])('the frames behind %i, if they are kept', (offset, recovered) => {
    const place = resumePlace({ epoch: 'e', offset, cursor: 'c' }, store);
    expect(place).toEqual({ recovered, offset: recovered ? offset : 7, after: 'c', until: 'd' });
  });

  test('else what the log has behind its cursor, then frames', () => {
    const behind = { recovered: false, offset: 7, after: 'c', until: 'd' };
    expect(resumePlace({ epoch: 'old', offset: 6, cursor: 'c' }, store)).toEqual(behind);
    expect(resumePlace({ cursor: 'c' }, store)).toEqual(behind);
    expect(resumePlace({}, store)).toEqual({ ...behind, after: undefined });
    expect(restartPlace(store, 'c')).toEqual(behind);
    // Frames behind the newest durable event that are not kept are gone: they were deltas.
    const late = { ...store, durable: { cursor: 'd', offset: 2 } };
    expect(restartPlace(late, 'c').offset).toBe(4);
  });

  test('nothing that was before, where no history is wanted', () => {
    expect(resumePlace({ cursor: 'c', history: false }, store)).toEqual({
      ...{ recovered: false, offset: 7, after: 'd', until: 'd' },
    });
    expect(resumePlace({ epoch: 'e', offset: 6, cursor: 'c', history: false }, store)).toMatchObject({ after: 'c' });
  });

  test('by what it claims: of an offset whose history is on its way it does not speak', () => {
    const at = { epoch: 'e', offset: 3, cursor: 'c' };
    expect([claimOf(at, true), claimOf(at, false), claimOf({ ...at, cursor: undefined }, false)]).toEqual([
      ...[at, { cursor: 'c' }, {}],
    ]);
  });
});

test('adjacent deltas of one part go as one', () => {
  const delta = (text: string, joins = 'm/0/text') => ({
    ...{ joins, text: JSON.stringify({ id: text, content: [{ type: 'text', text }] }) },
  });
  const rest = [delta('a'), delta('b'), delta('c'), delta('d', 'm/1/text')];
  const joined = joinedDeltas(delta('a'), (index) => rest[index]);
  expect([joined.count, JSON.parse(joined.text)]).toEqual([
    ...[3, { id: 'a', content: [{ type: 'text', text: 'abc' }] }],
  ]);
  const alone = delta('a');
  expect(joinedDeltas(alone, () => undefined)).toEqual({ text: alone.text, count: 1 });
});
