import { describe, expect, test } from 'vitest';
import { closeWithin } from '../../src/runtime/calls/close-slot.ts';
import { isUnheard } from '../../src/runtime/calls/detached-calls.ts';
import type { CallState, Held, LiveSession, StoredEvent } from '../../src/runtime/index.ts';
import {
  DONE,
  endOfCall,
  endOfSlot,
  hasUnheard,
  isWithin,
  ownerOfThread,
  releaseWithin,
  slotOfCall,
} from '../../src/runtime/index.ts';
import { Folding } from './folding.ts';

const origin = { streamId: 'st', invocationId: 'in' };
const words = (text: string) => ({ role: 'user' as const, parts: [{ type: 'text' as const, text }] });

/** `c1` runs an agent, which has called `c2` and handed over to one that has called `c3`; `c9` is beside it. */
function nested(): Folding {
  const f = new Folding();
  f.call(['c1', 'c9']);
  f.add({ author: 'user', path: '/c1', iso: '/c1', content: words('do') });
  f.call(['c2'], { path: '/c1', iso: '/c1' });
  f.call(['c3'], { path: '/c1~c2/0', iso: '/c1' });
  f.act({ started: ['c3'] });
  return f;
}

const callOf = (f: Folding, id: string) => f.fold.calls.get(id) as CallState;

/** Call and way of each response. */
const told = (events: readonly StoredEvent[]) =>
  events.map(({ content, actions }) => {
    const part = content?.parts[0];
    if (part?.type !== 'function_response') return actions.completed?.[0]?.path;
    return `${part.id} ${part.errorType} ${String(part.response.error)}`;
  });

describe('a place', () => {
  test.each<[string, string, boolean]>([
    ['/c1', '/c1', true],
    ['/c1', '/c1/0', true],
    ['/c1', '/c1~c2', true],
    ['/c1', '/c1~c2/0', true],
    ['/c1', '/c10', false],
    ['/c1', '', false],
    ['/c1', '/c', false],
    ['', '/c1', true],
    ['', '', true],
  ])('%s holds %s: %s', (slot, path, expected) => {
    expect(isWithin(slot, path)).toBe(expected);
  });
});

describe('what closes a call', () => {
  test('closes all that is open within the agent that it runs, what was asked last first', () => {
    const f = nested();
    expect(told(closeWithin(f.fold, callOf(f, 'c1'), 'why', origin))).toEqual([
      'c3 interrupted interrupted (why): it was started, its effects are unknown',
      'c2 cancelled cancelled (why): it never ran',
    ]);
    const all = endOfCall(f.fold, callOf(f, 'c1'), 'why', origin);
    expect(told(all)).toEqual([
      expect.stringContaining('c3'),
      expect.stringContaining('c2'),
      'c1 interrupted interrupted (why): it was started, its effects are unknown',
    ]);
    expect(all.every(({ streamId, invocationId }) => streamId === 'st' && invocationId === 'in')).toBe(true);
    expect(told(endOfCall(f.fold, callOf(f, 'c9'), 'why', origin))).toEqual([expect.stringContaining('c9 cancelled')]);
  });

  test('leaves alone what has a response', () => {
    const f = nested();
    f.respond('c2', { path: '/c1' });
    expect(told(closeWithin(f.fold, callOf(f, 'c1'), 'why', origin))).toEqual([expect.stringContaining('c3')]);
  });
});

describe('what ends a slot', () => {
  const slot = { path: '/0', agent: 'amy', outcome: DONE, aborted: true as const };

  test('closes what is open in it, of this turn, and says that it has ended', () => {
    const f = new Folding();
    f.call(['old'], { path: '/0' });
    f.act({ turn: { start: 'bot' } }, { turnId: 'u' });
    f.call(['c1'], { path: '/0', turnId: 'u' });
    f.call(['c2'], { path: '/1', turnId: 'u' });
    const events = endOfSlot(f.fold, slot, 'why', origin);
    expect(told(events)).toEqual([expect.stringContaining('c1 cancelled'), '/0']);
    expect(events.at(-1)).toMatchObject({ ...origin, turnId: 'u', author: 'amy', actions: { completed: [slot] } });
  });

  test('says it once', () => {
    const f = new Folding();
    f.call(['c1'], { path: '/0' });
    f.act({ completed: [slot] });
    expect(told(endOfSlot(f.fold, slot, 'why', origin))).toEqual([expect.stringContaining('c1')]);
  });
});

describe('executors that wait in memory', () => {
  test('are let go within the slot, and nowhere else', () => {
    const released: [string, unknown][] = [];
    const held = new Map<string, Held>(
      ['/0', '/0/c1', '/1'].map((path) => [path, { release: (reason) => void released.push([path, reason]) }]),
    );
    releaseWithin({ held } as unknown as LiveSession, '/0', 'why');
    expect(released).toEqual([
      ['/0', 'why'],
      ['/0/c1', 'why'],
    ]);
    expect([...held.keys()]).toEqual(['/1']);
  });
});

describe('whoever has a thread', () => {
  test('is the open call that runs the agent', () => {
    const f = nested();
    expect(ownerOfThread(f.fold, '/c1')).toBe(callOf(f, 'c1'));
    expect(slotOfCall(callOf(f, 'c1'))).toBe('/c1');
    f.respond('c1');
    expect(ownerOfThread(f.fold, '/c1')).toBeUndefined();
  });

  test('is the branch that has begun and not ended, not an agent below it', () => {
    const f = new Folding();
    f.act({
      began: [
        { path: '/0', agent: 'amy', thread: 'all.amy' },
        { path: '/0/0', agent: 'dan', thread: 'all.amy' },
        { path: '/1', agent: 'bob', thread: 'all.bob' },
      ],
    });
    expect(ownerOfThread(f.fold, 'all.amy')).toEqual({
      path: '/0',
      agent: 'amy',
      outcome: DONE,
      thread: 'all.amy',
      aborted: true,
    });
    expect(ownerOfThread(f.fold, 'all.dan')).toBeUndefined();
    f.act({ completed: [{ path: '/0', agent: 'amy', outcome: DONE }] });
    expect(ownerOfThread(f.fold, 'all.amy')).toBeUndefined();
    expect(ownerOfThread(f.fold, 'all.bob')).toMatchObject({ path: '/1' });
  });
});

describe('a call that its agent has not acted upon', () => {
  const state = (more: Partial<CallState>): CallState =>
    ({ asks: [], handledBy: 'agent', started: false, ...more }) as CallState;
  const ask = (more: object): Partial<CallState> => ({ asks: [{ kind: 'tool_confirmation', ...more }] as never });
  const approved = { decision: { outcome: 'approved', by: 'x' } } as const;

  test.each<[string, Partial<CallState>, boolean]>([
    ['was not asked about', {}, false],
    ['was approved', approved, true],
    ['was denied', { decision: { outcome: 'denied', by: 'x' } }, false],
    ['was approved and started', { ...approved, started: true }, false],
    ['was approved, and its agent entered', { ...approved, entered: true }, false],
    ['was approved, and the host runs it', { ...approved, handledBy: 'host' }, false],
    ['was approved, and has a first word', { ...approved, interim: {} }, false],
    ['has a question', ask({}), false],
    ['has an answer', ask({ answer: { action: 'decline' } }), true],
    ['has a question that ran out of time', ask({ expiresAt: 1 }), true],
    ['has a question with time left', ask({ expiresAt: Date.now() + 60_000 }), false],
    ['has an answer, and a question behind it', { asks: [{ answer: {} }, {}] as never }, false],
    ['has an answer, and the host runs it', { ...ask({ answer: {} }), handledBy: 'host' }, false],
  ])('%s: %s', (_, more, expected) => {
    expect(isUnheard(state(more))).toBe(expected);
  });

  test('is news where its agent is there', () => {
    const f = new Folding();
    f.call(['c0']);
    f.call(['c1']);
    const root = { name: 'bot' };
    const tree = (name: string) => ({ root, find: (other: string) => (other === name ? {} : undefined) }) as never;
    expect(hasUnheard({ fold: f.fold, tree: tree('bot') })).toBe(false);
    f.act({ decisions: { c1: { outcome: 'approved', by: 'x' } } });
    expect(hasUnheard({ fold: f.fold, tree: tree('bot') })).toBe(true);
    expect(hasUnheard({ fold: f.fold, tree: tree('eve') })).toBe(false);
  });
});
