import { describe, expect, test } from 'vitest';
import type { EventInit, StoredEvent } from '../../src/runtime/index.ts';
import { createEvent, DONE } from '../../src/runtime/index.ts';
import { Folding } from './folding.ts';

describe('a step of an agent', () => {
  test('is final if it asks for nothing', () => {
    const f = new Folding();
    f.speak('hello', { model: 'm' });
    expect(f.fold.activation('')).toMatchObject({ steps: 1, final: true, batch: [], replaced: false });
    f.call(['c1'], { model: 'm' });
    expect(f.fold.activation('')).toMatchObject({ steps: 2, final: false, batch: [{ id: 'c1' }] });
    expect(f.fold.turn?.llmCalls).toBe(2);
  });

  test('that was cut off is not final', () => {
    const f = new Folding();
    f.speak('hel', { interrupted: true });
    expect(f.fold.activation('')).toMatchObject({ steps: 1, final: false });
  });

  test('that no model has made is no call of a model', () => {
    const f = new Folding();
    f.speak('hello');
    expect(f.fold.turn?.llmCalls).toBe(0);
  });

  test('of a hook stands in for the agent before it, and is no step behind it', () => {
    const f = new Folding();
    f.speak('instead', { actions: { hook: 'before' } });
    expect(f.fold.activation('')).toMatchObject({ steps: 1, replaced: true, final: true });
    f.call(['c1']);
    f.speak('behind', { actions: { hook: 'after' } });
    expect(f.fold.activation('')).toMatchObject({ steps: 2, final: false, batch: [{ id: 'c1' }] });
  });

  test('is kept with the agent; words of people are not', () => {
    const f = new Folding();
    const id = f.speak('hello', { path: 'p' }).id;
    f.add({ author: 'user', path: 'p', content: { role: 'user', parts: [{ type: 'text', text: 'hi' }] } });
    expect(f.fold.activation('p').own.map((event) => event.id)).toEqual([id]);
    expect(f.fold.activation('p').steps).toBe(1);
  });
});

describe('whoever spoke last in the root slot', () => {
  test.each<[string, Partial<EventInit>, string]>([
    ['is the agent at the root', { path: '' }, 'eve'],
    ['or one that it was handed over to', { path: '~c1' }, 'eve'],
    ['but none below it', { path: '/0' }, 'bot'],
    ['nor below whoever was handed over to', { path: '~c1/0' }, 'bot'],
    ['nor one that runs as a tool', { path: '', iso: 'i' }, 'bot'],
    ['nor a person', { path: '', author: 'user' }, 'bot'],
  ])('%s', (_, place, expected) => {
    const f = new Folding();
    f.speak('hello', { author: 'eve', ...place });
    expect(f.fold.occupant).toBe(expected);
    f.act({ turn: { start: 'amy' } }, { turnId: 'u' });
    expect(f.fold.occupant).toBe('amy');
  });
});

describe('marks of places', () => {
  test('are kept by place', () => {
    const f = new Folding();
    f.act({
      began: [
        { path: 'a', agent: 'amy', thread: 'th' },
        { path: 'b', agent: 'bob' },
        { path: 'c', agent: 'loop', iteration: 2 },
      ],
      entered: ['a'],
      exited: ['b'],
      completed: [{ path: 'a', agent: 'amy', outcome: DONE }],
    });
    expect(f.fold.activation('a')).toMatchObject({
      began: { agent: 'amy', thread: 'th' },
      entered: true,
      exited: false,
      completed: { agent: 'amy', outcome: DONE },
    });
    expect(f.fold.activation('b')).toMatchObject({ began: { agent: 'bob', thread: '' }, entered: false, exited: true });
    expect(f.fold.activation('c')).toMatchObject({ iteration: 2 });
    expect(f.fold.activation('c').began).toBeUndefined();
    f.act({ began: [{ path: 'd', agent: 'dan' }] }, { branch: 'x.y' });
    expect(f.fold.activation('d').began).toEqual({ agent: 'dan', thread: 'x.y' });
  });
});

describe('an agent run as a tool', () => {
  test('has words of its own, of its final steps', () => {
    const f = new Folding();
    f.speak('for all', { path: 'p' });
    f.call(['c9'], { path: 'i', iso: 'i' });
    expect(f.fold.isolatedText.size).toBe(0);
    f.speak('first', { path: 'i', iso: 'i' });
    f.speak('last', { path: 'i', iso: 'i' });
    expect(f.fold.isolatedText.get('i')?.text).toBe('last');
    f.speak('behind', { path: 'i', iso: 'i', actions: { hook: 'after' } });
    expect(f.fold.isolatedText.get('i')?.text).toBe('behind');
    expect([...f.fold.isolatedText.keys()]).toEqual(['i']);
  });

  test('has the words of its branches side by side', () => {
    const f = new Folding();
    f.speak('one', { path: 'i/1', iso: 'i', thread: 'i.b' });
    f.speak('nought', { path: 'i/0', iso: 'i', thread: 'i.a' });
    expect(f.fold.isolatedText.get('i')?.text).toBe('nought\n\none');
  });

  test('writes state of its own, and deletes with a null that is kept', () => {
    const f = new Folding({ k: 'session' });
    f.act({ stateDelta: {} }, { iso: 'i' });
    expect(f.fold.isolated.size).toBe(0);
    f.act({ stateDelta: { k: 1, 'app:a': 1 } }, { iso: 'i' });
    f.act({ stateDelta: { k: null, l: 2 } }, { iso: 'i' });
    expect(f.fold.isolated.get('i')).toEqual({ k: null, l: 2, 'app:a': 1 });
    expect([f.fold.state, f.fold.shared]).toEqual([{ k: 'session' }, {}]);
  });
});

describe('state and settings', () => {
  test('are of the session or shared, by the key', () => {
    const f = new Folding({ a: 1, b: 1 }, { 'user:u': 1 });
    f.act({ stateDelta: { a: null, b: 2, 'app:x': 3, 'user:u': null } });
    expect(f.fold.state).toEqual({ b: 2 });
    expect(f.fold.shared).toEqual({ 'app:x': 3 });
  });

  test('are set one by one, and taken away with null', () => {
    const f = new Folding();
    f.act({ config: { model: 'm', title: 't' } });
    f.act({ config: { model: null, title: undefined, permissionMode: 'plan' } });
    expect(f.fold.config).toEqual({ title: 't', permissionMode: 'plan' });
    expect(Object.keys(f.fold.config)).toEqual(['title', 'permissionMode']);
  });
});

describe('words that join a turn', () => {
  test('wait until they are delivered, and are nothing that anybody has said', () => {
    const f = new Folding();
    const first = f.act({ steer: true }, { content: { role: 'user', parts: [{ type: 'text', text: 'a' }] } });
    const second = f.act({ steer: true }, { content: { role: 'user', parts: [{ type: 'text', text: 'b' }] } });
    expect([...f.fold.steers.keys()]).toEqual([first.id, second.id]);
    f.act({ delivered: [first.id] });
    expect([...f.fold.steers.values()]).toEqual([second]);
    expect(f.fold.activations.size).toBe(0);
  });
});

describe('what a turn uses', () => {
  test('adds up, and begins again where it is opened again; what was spent in all stays', () => {
    const f = new Folding();
    f.speak('a', { model: 'm', usage: { inputTokens: 2 }, timestamp: 5 });
    f.act({ end: { reason: 'max_turns' } }, { timestamp: 9 });
    expect(f.fold.turn).toMatchObject({ ended: 'max_turns', llmCalls: 1, usage: { inputTokens: 2 }, activeMs: 9 });
    f.act({ reopened: true }, { streamId: 'y', timestamp: 20 });
    expect(f.fold.turn).toMatchObject({ llmCalls: 0, usage: {}, activeMs: 0 });
    expect(f.fold.turn && 'ended' in f.fold.turn).toBe(false);
    expect(f.fold.activation('')).toMatchObject({ steps: 1, base: 1 });
    f.speak('b', { usage: { inputTokens: 3 }, streamId: 'y' });
    expect(f.fold.turn?.usage).toEqual({ inputTokens: 3 });
    expect(f.fold.totalUsage).toEqual({ inputTokens: 5 });
  });

  test('is no time that runs backwards, and none outside of a stream', () => {
    const f = new Folding();
    f.act({}, { timestamp: 50 });
    f.act({}, { timestamp: 20 });
    f.act({}, { timestamp: 30 });
    f.act({}, { timestamp: 100, streamId: '' });
    f.act({}, { timestamp: 200, streamId: '' });
    expect(f.fold.turn?.activeMs).toBe(60);
  });

  test('is told with what was open when it ended, whatever came later', () => {
    const f = new Folding();
    f.act({ terms: { principal: { id: 'ann' } } });
    f.call(['c1']);
    const { seq } = f.act({ end: { reason: 'input_required' } });
    f.respond('c1');
    const still = f.fold.ends.get(seq);
    expect(still?.turn).toMatchObject({ id: 't', ended: 'input_required' });
    expect([...(still?.open.keys() ?? [])]).toEqual(['c1']);
    expect(still?.open.get('c1')?.settled).toBeUndefined();
    expect([...(still?.terms.keys() ?? [])]).toEqual(['t']);
    const later = f.act({ end: { reason: 'completed' } }).seq;
    expect(f.fold.ends.get(later)?.terms.size).toBe(0);
  });
});

function rewound(
  f: Folding,
  initial: Record<string, unknown>,
  kept: readonly StoredEvent[],
  cut: readonly StoredEvent[],
) {
  const through = kept.at(-1)?.seq ?? 0;
  const seq = (cut.at(-1)?.seq ?? through) + 1;
  const marker = { ...createEvent({ author: 'user', actions: { rewound: { through } } }), seq };
  f.fold.cut(cut);
  f.fold.rewind(initial, [...kept, marker], new Map([[seq, cut]]));
}

describe('a rewind', () => {
  test('goes back to what stood, and keeps settings, shared state and what was spent', () => {
    const f = new Folding({ a: 1 }, { 'app:x': 1 });
    f.act({ stateDelta: { a: 2, 'app:x': 2 }, config: { model: 'm' } });
    f.call(['c1'], { usage: { inputTokens: 2 } });
    const kept = [...f.events];
    f.act({ started: ['c1'], startedIn: 3 });
    f.speak('later', { author: 'eve', usage: { inputTokens: 3 } });
    f.act({ stateDelta: { a: 3, b: 4, 'app:x': 3 }, config: { model: null, title: 't' } });
    f.act({ steer: true }, { content: { role: 'user', parts: [{ type: 'text', text: 'a' }] } });
    f.respond('c1');
    f.act({ turn: { start: 'eve' } }, { turnId: 'u' });
    const cut = f.events.slice(kept.length);
    rewound(f, { a: 1 }, kept, cut);
    expect(f.fold.state).toEqual({ a: 2 });
    expect(f.fold.shared).toEqual({ 'app:x': 3 });
    expect(f.fold.config).toEqual({ title: 't' });
    expect(f.fold.turn).toMatchObject({ id: 't', start: 'bot' });
    expect(f.fold.occupant).toBe('bot');
    expect([f.fold.steers.size, f.fold.closed.size]).toEqual([0, 0]);
    expect([f.fold.totalUsage, f.fold.totalCalls]).toEqual([{ inputTokens: 5 }, 1]);
    // It was started in what is cut: nobody knows what became of it.
    expect(f.fold.open.get('c1')).toMatchObject({ started: true, startedIn: 3, attempts: 1 });
    expect(cut.every(({ id }) => f.fold.open.get('c1')?.cutIds.has(id))).toBe(true);
    expect(kept.some(({ id }) => f.fold.open.get('c1')?.cutIds.has(id))).toBe(false);
  });

  test('to before the first turn leaves none', () => {
    const f = new Folding();
    f.call(['c1'], { longRunningToolIds: ['c1'] });
    f.act({ end: { reason: 'completed' }, started: ['gone'] });
    f.respond('c1');
    expect(f.fold.hasLateResult).toBe(true);
    rewound(f, {}, [], [...f.events]);
    const { turn, occupant, hasLateResult, calls, open, activations, ends, terms } = f.fold;
    expect([turn, occupant, hasLateResult]).toEqual([undefined, undefined, false]);
    expect([calls.size, open.size, activations.size, ends.size, terms.size]).toEqual([0, 0, 0, 0, 0]);
  });

  test('has no time run on from the stream that is cut', () => {
    const f = new Folding();
    f.act({}, { timestamp: 10 });
    rewound(f, {}, f.events.slice(0, 1), f.events.slice(1));
    expect(f.fold.turn?.activeMs).toBe(0);
  });
});
