import { describe, expect, test } from 'vitest';
import type { ChainReport, EventActions, EventInit, StoredEvent } from '../../src/runtime/index.ts';
import {
  Chain,
  createEvent,
  digestOf,
  evidenceOf,
  extendChain,
  isAudited,
  isLinked,
  verifyLog,
  verifyRows,
} from '../../src/runtime/index.ts';

const decided = (id: string): StoredEvent =>
  createEvent({
    id,
    author: 'user',
    timestamp: 1,
    actions: { decisions: { c1: { outcome: 'approved', by: 'policy' } } },
  });
const said = (id: string): StoredEvent =>
  createEvent({ id, author: 'bot', timestamp: 1, content: { role: 'model', parts: [{ type: 'text', text: id }] } });

const numbered = (events: readonly StoredEvent[]): StoredEvent[] =>
  events.map((event, index) => ({ ...event, seq: index + 1 }));

/** A log of one writer: `a` says, the others decide, each in an append of its own. */
function log(...ids: string[]): StoredEvent[] {
  const chain = new Chain();
  const events: StoredEvent[] = [];
  for (const id of ids) {
    for (const event of chain.link([id.startsWith('a') ? said(id) : decided(id)])) {
      events.push(event);
      chain.see(event);
    }
  }
  return numbered(events);
}

const without = (events: readonly StoredEvent[], ...ids: string[]) => events.filter(({ id }) => !ids.includes(id));
const faultsOf = ({ faults }: ChainReport) => faults.map(({ seq, id, fault }) => [seq, id, fault]);
const changed = (events: readonly StoredEvent[], id: string, change: Partial<StoredEvent>) =>
  events.map((event) => (event.id === id ? { ...event, ...change } : event));

describe('a log as it was written', () => {
  test('holds', () => {
    const events = log('d1', 'a', 'd2', 'd3');
    const { hash } = events[3]?.chain ?? { hash: '' };
    expect(verifyLog(events, { lastSeq: 4 })).toStrictEqual({
      ok: true,
      audited: 3,
      linked: 3,
      head: { seq: 4, hash },
      faults: [],
    });
    expect(events[1]).not.toHaveProperty('chain');
    expect(events[0]?.chain).toStrictEqual({ after: '', hash: extendChain('', digestOf(events[0] as StoredEvent)) });
    expect(events[2]?.chain?.after).toBe('d1');
  });

  test('of nothing holds, and has no head', () => {
    expect(verifyLog([])).toStrictEqual({ ok: true, audited: 0, linked: 0, faults: [] });
    expect(verifyRows([])).toStrictEqual({ ok: true, audited: 0, linked: 0, faults: [] });
  });

  test('without any link is no chain, though nothing is wrong', () => {
    const plain = numbered([decided('d1'), decided('d2')]);
    expect(verifyLog(plain)).toMatchObject({ ok: false, audited: 2, linked: 0, faults: [] });
  });

  test('of an older version is bound by the first link', () => {
    const chain = new Chain();
    const old = decided('d1');
    chain.see(old);
    const [next] = chain.link([decided('d2')]) as [StoredEvent];
    expect(verifyLog(numbered([old, next]))).toMatchObject({ ok: true, audited: 2, linked: 1 });
    const bent = numbered([{ ...old, timestamp: 9 }, next]);
    expect(faultsOf(verifyLog(bent))).toEqual([[1, undefined, 'changed']]);
  });

  test('in batches names what each was written with', () => {
    const chain = new Chain();
    const batch = chain.link([said('a'), decided('d1'), decided('d2')]);
    for (const event of batch) chain.see(event);
    const [last] = chain.link([decided('d3')]) as [StoredEvent];
    const events = numbered([...batch, last]);
    expect(events.map((event) => event.chain?.batch)).toEqual([undefined, undefined, true, undefined]);
    expect(events[1]?.chain).not.toHaveProperty('batch');
    expect(verifyLog(events)).toMatchObject({ ok: true, linked: 3 });
  });

  test('by two who had not seen one another holds, in either order', () => {
    const [first, second] = [new Chain(), new Chain()];
    const begun = log('d0');
    for (const event of begun) for (const chain of [first, second]) chain.see(event);
    const one = first.link([decided('d1'), decided('d2')]);
    const two = second.link([decided('e1'), decided('e2')]);
    for (const event of [...one, ...two]) first.see(event);
    const [last] = first.link([decided('d3')]) as [StoredEvent];
    const events = numbered([...begun, ...one, ...two, last]);
    expect(verifyLog(events)).toMatchObject({ ok: true, audited: 6, linked: 6 });
    // What came in between is bound by the next link.
    for (const id of ['e1', 'e2', 'd1', 'd2']) expect(verifyLog(changed(events, id, { timestamp: 9 })).ok).toBe(false);
  });

  test('keeps a piece of a message out of the chain, and an event that is frozen as it is', () => {
    const chain = new Chain();
    const piece = createEvent({ author: 'user', partial: true, actions: { started: ['c1'] } });
    const frozen = Object.freeze(decided('d1'));
    const [same, linked] = chain.link([piece, frozen]);
    expect(same).toBe(piece);
    expect(same).not.toHaveProperty('chain');
    expect(linked).not.toBe(frozen);
    expect(frozen).not.toHaveProperty('chain');
    const own = decided('d2');
    expect(chain.link([own])[0]).toBe(own);
    const nothing = [said('a')];
    expect(chain.link(nothing)).toBe(nothing);
  });
});

describe('a log that was touched', () => {
  test.each<[string, StoredEvent[], [number, string | undefined, string][]]>([
    ['an event was changed', changed(log('d1', 'd2', 'd3'), 'd2', { timestamp: 9 }), [[2, 'd2', 'changed']]],
    ['the first was changed', changed(log('d1', 'd2'), 'd1', { author: 'eve' }), [[1, 'd1', 'changed']]],
    ['one is missing', without(log('d1', 'd2', 'd3'), 'd2'), [[2, undefined, 'missing']]],
    ['the first is missing', without(log('d1', 'd2'), 'd1'), [[1, undefined, 'missing']]],
    ['two are missing', without(log('d1', 'd2', 'd3', 'd4'), 'd2', 'd3'), [[2, undefined, 'missing']]],
    ['words are missing', without(log('d1', 'a', 'd2'), 'a'), [[2, undefined, 'missing']]],
    [
      'one is missing, and the numbers were closed up',
      numbered(without(log('d1', 'd2', 'd3', 'd4'), 'd2')),
      [[2, 'd3', 'missing']],
    ],
    [
      'two are missing in two places, and one number was closed up',
      without(log('d1', 'd2', 'd3', 'd4', 'd5'), 'd2', 'd4').map((event) =>
        event.id === 'd5' ? { ...event, seq: 4 } : event,
      ),
      [
        [2, undefined, 'missing'],
        [4, 'd5', 'missing'],
      ],
    ],
    [
      'two stand in another order',
      numbered(['d1', 'd3', 'd2'].map((id) => log('d1', 'd2', 'd3').find((event) => event.id === id) as StoredEvent)),
      [[2, 'd3', 'reordered']],
    ],
    [
      'a number comes twice',
      log('d1', 'a1', 'a2').map((event) => (event.id === 'a2' ? { ...event, seq: 2 } : event)),
      [[2, 'a2', 'reordered']],
    ],
    ['one is called a piece', changed(log('d1', 'a', 'd2'), 'a', { partial: true }), [[2, 'a', 'changed']]],
    [
      'one was made to say nothing',
      changed(log('d1', 'd2', 'd3'), 'd2', { actions: said('x').actions, chain: undefined as never }),
      [[2, 'd2', 'changed']],
    ],
    ['one is there that has no link', numbered([...log('d1', 'd2'), decided('d3')]), [[3, 'd3', 'unlinked']]],
    [
      'a link says more than links do',
      log('d1', 'd2').map((event) =>
        event.id === 'd2' ? { ...event, chain: { ...event.chain, more: 1 } as never } : event,
      ),
      [[2, 'd2', 'changed']],
    ],
  ])('%s', (_, events, expected) => {
    const report = verifyLog(events);
    expect(report.ok).toBe(false);
    expect(faultsOf(report)).toEqual(expected);
  });

  test('at its end is found out by what the store says is the newest', () => {
    const events = log('d1', 'd2', 'd3');
    expect(faultsOf(verifyLog(without(events, 'd3'), { lastSeq: 3 }))).toEqual([[3, undefined, 'missing']]);
    expect(verifyLog(without(events, 'd3'), { lastSeq: 2 }).ok).toBe(true);
    const two = verifyLog(without(events, 'd2', 'd3'), { lastSeq: 3 }).faults;
    expect(two[0]?.message).toBe('events 2 to 3 are missing');
    expect(verifyLog(without(events, 'd3'), { lastSeq: 3 }).faults[0]?.message).toBe('event 3 is missing');
  });

  test('and written anew is found out by the head of an export', () => {
    const events = log('d1', 'd2', 'd3');
    const { head } = verifyLog(events.slice(0, 2));
    if (!head) throw new Error('there is no head');
    expect(verifyLog(events, { anchor: head }).ok).toBe(true);
    expect(faultsOf(verifyLog(log('d1', 'e2', 'd3'), { anchor: head }))).toEqual([[2, undefined, 'anchor']]);
    // The head of a log whose newest event was no evidence.
    expect(verifyLog(events, { anchor: { ...head, seq: 1 } }).ok).toBe(false);
    const spoken = log('d1', 'd2', 'a', 'd3');
    expect(verifyLog(spoken, { anchor: { seq: 3, hash: head.hash } }).ok).toBe(true);
    expect(verifyLog([], { anchor: head }).ok).toBe(false);
  });

  test('names its faults in the order of the log', () => {
    const bent = changed(without(log('d1', 'd2', 'd3', 'd4'), 'd3'), 'd1', { timestamp: 9 });
    expect(verifyLog(bent).faults.map(({ seq }) => seq)).toEqual([1, 3]);
  });
});

describe('what is refused', () => {
  test.each<[string, unknown[]]>([
    ['a log that is none', ['log']],
    ['events that are none', [[1]]],
    ['a seq that is none', [[], { lastSeq: -1 }]],
    ['an anchor that is none', [[], { anchor: 'x' }]],
    ['an option that is none', [[], { last: 1 }]],
  ])('%s', (_, given) => {
    expect(() => verifyLog(...(given as Parameters<typeof verifyLog>))).toThrow(
      expect.objectContaining({ code: 'E_BAD_INPUT' }),
    );
  });
});

describe('what is evidence', () => {
  const of = (actions: Partial<EventActions>, more: Partial<EventInit> = {}) =>
    createEvent({ author: 'user', actions, ...more });
  const part = (type: string) => ({
    role: 'model' as const,
    parts: [
      { type: 'text', text: '' },
      { type, id: 'c', name: 'n', args: {}, response: {} },
    ] as never,
  });

  test.each<[string, StoredEvent, boolean]>([
    ['a decision', of({ decisions: {} }), true],
    ['a start', of({ started: [] }), true],
    ['a question', of({ asks: [] }), true],
    ['an answer', of({ answers: {} }), true],
    ['a first word', of({ interim: {} }), true],
    ['a rewind', of({ rewound: { through: 1 } }), true],
    ['a call', of({}, { content: part('function_call') }), true],
    ['a response', of({}, { content: part('function_response') }), true],
    ['a word', of({}, { content: part('text') }), false],
    ['nothing', of({ stateDelta: { a: 1 } }), false],
  ])('%s: %s', (_, event, expected) => {
    expect([isAudited(event), isLinked(event)]).toEqual([expected, expected]);
  });

  test('and terms, which are linked, but count without a link only behind some that have one', () => {
    const terms = () => of({ terms: { principal: { id: 'ann' } } });
    expect([isAudited(terms()), isLinked(terms())]).toEqual([false, true]);
    const old = { ...terms(), id: 'old' };
    const linked = { ...terms(), id: 'linked', chain: { after: '', hash: 'h' } };
    const bare = { ...terms(), id: 'bare' };
    const word = { ...of({}), id: 'word' };
    const marked = { ...of({}), id: 'marked', chain: { after: '', hash: 'h' } };
    const ids = (...events: StoredEvent[]) => evidenceOf(events).map(({ id }) => id);
    expect(ids(old, linked, bare, word, marked)).toEqual(['linked', 'bare', 'marked']);
    expect(ids(old, marked, bare)).toEqual(['marked']);
  });
});
