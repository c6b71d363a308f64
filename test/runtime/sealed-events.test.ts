import { describe, expect, test } from 'vitest';
import { isAudited, isLinked } from '../../src/runtime/log/chain.ts';
import { digestOf } from '../../src/runtime/log/digest.ts';
import type { EventActions, EventInit, StoredEvent } from '../../src/runtime/log/event.ts';
import { createEvent, isFinalResponse, sizeOf, threadOf } from '../../src/runtime/log/event.ts';
import { InMemorySessionService } from '../../src/runtime/store/in-memory-session-service.ts';
import { sealEvent, sealedLog, sealLog } from '../../src/runtime/store/store-rules.ts';
import { key } from './kit.ts';

const event = (more: Partial<EventInit> = {}): StoredEvent =>
  createEvent({ author: 'user', id: 'e1', timestamp: 1, invocationId: 'i1', ...more });
const withData = (data: unknown) => event({ customMetadata: data as Record<string, unknown> });
const part = (id: string) => ({
  role: 'model' as const,
  parts: [{ type: 'function_call' as const, id, name: 'f', args: {} }],
});

describe('an event that is stored', () => {
  test('has its place, is frozen at every depth, and is the object that was given unless that is frozen', () => {
    const given = withData({ list: [{ a: 1 }] });
    const sealed = sealEvent(given, 7);
    expect([sealed === given, sealed.seq]).toEqual([true, 7]);
    const { list } = sealed.customMetadata as { list: object[] };
    expect([sealed, sealed.actions, list, list[0]].every((value) => Object.isFrozen(value))).toBe(true);
    const again = sealEvent(sealed, 8);
    expect([again === sealed, again.seq, sealed.seq]).toEqual([false, 8, 7]);
  });

  test('has no key that lives for one run only', () => {
    const stateDelta = { 'temp:a': 1, b: 2, 'app:c': null };
    expect(sealEvent(event({ actions: { stateDelta } }), 1).actions.stateDelta).toEqual({ b: 2, 'app:c': null });
    expect(stateDelta).toHaveProperty('temp:a');
  });

  test.each<[string, unknown, string]>([
    ['nothing in a list', { a: [1, undefined] }, '.customMetadata.a[1] is undefined'],
    ['a number that is none', { a: Number.NaN }, '.customMetadata.a is NaN'],
    ['a number without end', { a: [Infinity] }, '.customMetadata.a[0] is Infinity'],
    ['a function', { a: { b: () => 1 } }, '.customMetadata.a.b is a function'],
    ['a symbol', { a: Symbol('x') }, '.customMetadata.a is a symbol'],
    ['a large integer', { a: 1n }, '.customMetadata.a is a bigint'],
    ['a date', { a: new Date(0) }, '.customMetadata.a is a Date'],
    ['a map', { a: new Map() }, '.customMetadata.a is a Map'],
  ])('holds no %s', (_, data, fault) => {
    expect(() => sealEvent(withData(data), 1)).toThrow(
      expect.objectContaining({ code: 'E_NOT_JSON', message: expect.stringContaining(`e1${fault}`) }),
    );
  });

  test('takes what JSON can hold, members that are undefined left to it', () => {
    const data = { a: null, b: [true, 'x', -1.5], c: undefined, d: Object.assign(Object.create(null), { e: 1 }) };
    expect(sealEvent(withData(data), 1).customMetadata).toEqual({ a: null, b: [true, 'x', -1.5], d: { e: 1 } });
  });

  test('a state that says undefined is refused: null deletes', () => {
    const stateDelta = { a: undefined };
    expect(() => sealEvent(event({ actions: { stateDelta } }), 1)).toThrow('.actions.stateDelta.a is undefined');
  });

  test.each<[string, Partial<EventInit>]>([
    ['actions.terms', { actions: { terms: { principal: { id: 'a', onBehalfOf: null } } } as unknown as EventActions }],
    ['actions.answers', { actions: { answers: { r: { action: 'perhaps' } } } as unknown as EventActions }],
    ['actions.questions', { actions: { questions: [{ requestId: 'r', redact: 'all' }] } as unknown as EventActions }],
    [
      'content',
      { content: { role: 'model', parts: [{ text: 'of no type' }] } as unknown as StoredEvent['content'] & {} },
    ],
    ['author', { author: 5 as unknown as string }],
  ])('ATK2-06 sibling: is one that can be read back: its %s is as events have it', (field, more) => {
    expect(() => sealEvent(event(more), 1)).toThrow(
      expect.objectContaining({ code: 'E_BAD_INPUT', message: expect.stringContaining(`e1: its ${field} is not`) }),
    );
  });

  test('cannot be read: an error with a code', () => {
    const broken = {
      get a() {
        throw new Error('no');
      },
    };
    expect(() => sealEvent(withData(broken), 1)).toThrow(expect.objectContaining({ code: 'E_NOT_JSON' }));
  });

  test('is nested no deeper than 216 levels', () => {
    const deep = (depth: number): unknown => (depth === 0 ? 1 : [deep(depth - 1)]);
    // The event and its metadata are two of them.
    expect(() => sealEvent(withData({ a: deep(215) }), 1)).not.toThrow();
    expect(() => sealEvent(withData({ a: deep(216) }), 1)).toThrow(expect.objectContaining({ code: 'E_TOO_DEEP' }));
  });

  test.each<[string, unknown, boolean]>([
    ['plain', 'a-b_c.1', true],
    ['255 characters', 'x'.repeat(255), true],
    ['256 characters', 'x'.repeat(256), false],
    ['nothing', '', false],
    ['a space within', 'a b', true],
    ['a space at its end', 'a ', false],
    ['a line', 'a\nb', false],
    ['a delete', 'a\u007f', false],
    ['letters of others', 'é日', true],
    ['half a character', 'a\ud800', false],
    ['a number', 5, false],
  ])('has an id: %s', (_, id, isTaken) => {
    const seal = () => sealEvent({ ...event(), id: id as string }, 1);
    if (isTaken) expect(seal().id).toBe(id);
    else expect(seal).toThrow(expect.objectContaining({ code: 'E_ID' }));
  });

  test('has ids of runs and calls that fit into an index', () => {
    expect(() => sealEvent(event({ invocationId: 'x'.repeat(255) }), 1)).not.toThrow();
    expect(() => sealEvent(event({ invocationId: 'x'.repeat(256) }), 1)).toThrow('invocation id');
    expect(() => sealEvent(event({ content: part('x'.repeat(253)) }), 1)).not.toThrow();
    expect(() => sealEvent(event({ content: part('x'.repeat(254)) }), 1)).toThrow('call id');
    expect(() => sealEvent(event({ content: part('\u0001'.repeat(42)) }), 1)).not.toThrow();
    expect(() => sealEvent(event({ content: part('\u0001'.repeat(43)) }), 1)).toThrow('call id');
  });
});

describe('the digest of an event', () => {
  test('changes with all that it holds but its place, its link and what is not stored', () => {
    const base = digestOf(event());
    const changes: Partial<EventInit>[] = [
      ...[{ author: 'bot' }, { branch: '' }, { branch: 'a' }, { citationMetadata: {} }, { customMetadata: {} }],
      ...[{ content: part('c') }, { error: { status: 'x', fatal: true, retryable: false } }, { errorCode: '' }],
      ...[{ errorMessage: '' }, { finishReason: '' }, { groundingMetadata: {} }, { id: 'e2' }, { interrupted: true }],
      ...[{ invocationId: 'i2' }, { iso: '' }, { model: '' }, { path: 'p' }, { streamId: 's' }, { thread: '' }],
      ...[{ timestamp: 2 }, { turnId: 't' }, { usage: {} }, { longRunningToolIds: ['c'] }, { turnComplete: false }],
      ...[{ more: 1 } as Partial<EventInit>, { actions: { stateDelta: { a: 1 } } }, { actions: { escalate: true } }],
      ...[{ actions: { skipSummarization: true } }, { actions: { more: 1 } as Partial<EventActions> }],
    ];
    const digests = changes.map((change) => digestOf(event(change)));
    expect(new Set([base, ...digests]).size).toBe(changes.length + 1);
    const same = [
      { seq: 5 },
      { partial: true },
      { chain: { after: 'a', hash: 'h' } },
      { turnId: '' },
      { branch: undefined },
    ];
    for (const change of same) expect(digestOf({ ...event(), ...(change as object) } as StoredEvent)).toBe(base);
    expect(digestOf(event({ actions: { stateDelta: { 'temp:a': 1 } } }))).toBe(base);
    expect(digestOf(event({ actions: { artifactDelta: {}, steer: undefined } as never }))).toBe(base);
  });

  test('tells texts from what they look like', () => {
    const of = (data: unknown) => digestOf(withData({ data }));
    const values = [
      '1',
      1,
      'true',
      true,
      'null',
      null,
      ['1'],
      [1],
      ['a', 'b'],
      ['ab'],
      ['a,b'],
      {},
      [],
      { a: 1 },
      { 'a,1:b': 1 },
    ];
    const more = ['a\ud800', 'a\udc00', 'a\ufffd', '{}', '[]'];
    expect(new Set([...values, ...more].map(of)).size).toBe(values.length + more.length);
    expect(of({ a: 1, b: 2 })).toBe(of({ b: 2, a: 1 }));
    expect(of({ a: 1, b: undefined })).toBe(of({ a: 1 }));
  });
});

test.each<[string, Partial<EventInit>, boolean, boolean]>([
  ['words', { content: { role: 'user', parts: [{ type: 'text', text: 'x' }] } }, false, false],
  ['a call', { content: part('c') }, true, true],
  [
    'a response',
    { content: { role: 'user', parts: [{ type: 'function_response', id: 'c', name: 'f', response: {} }] } },
    true,
    true,
  ],
  ['decisions', { actions: { decisions: {} } }, true, true],
  ['starts', { actions: { started: [] } }, true, true],
  ['questions', { actions: { asks: [] } }, true, true],
  ['answers', { actions: { answers: {} } }, true, true],
  ['first words', { actions: { interim: {} } }, true, true],
  ['a rewind', { actions: { rewound: { through: 1 } } }, true, true],
  ['terms', { actions: { terms: {} } }, false, true],
  ['an end', { actions: { end: { reason: 'completed' } } }, false, false],
])('of an event, %s are evidence or not', (_, init, audited, linked) => {
  expect([isAudited(event(init)), isLinked(event(init))]).toEqual([audited, linked]);
});

test('where an event is shown, how much it tells of, and whether it is an answer', () => {
  expect([
    threadOf({ thread: 't', iso: 'i', branch: 'b' }),
    threadOf({ iso: 'i', branch: 'b' }),
    threadOf({ branch: 'b' }),
    threadOf({}),
  ]).toEqual(['t', 'i', 'b', undefined]);
  const asks = [{ requestId: 'q', callId: 'c', kind: 'confirmation', message: '' }] as never;
  expect(
    sizeOf(event({ content: part('c'), actions: { started: ['a', 'b'], asks, questions: [{ requestId: 'q' }] } })),
  ).toBe(5);
  expect(sizeOf(event())).toBe(0);
  const finals = [
    event(),
    event({ content: part('c') }),
    event({ partial: true }),
    event({ content: part('c'), longRunningToolIds: ['c'] }),
  ];
  expect(finals.map(isFinalResponse)).toEqual([true, false, false, true]);
  expect(isFinalResponse(event({ content: part('c'), actions: { skipSummarization: true } }))).toBe(true);
});

describe('a log that was checked when it was read', () => {
  const log = () => [
    event({ id: 'a', actions: { stateDelta: { 'temp:x': 1, y: 2 } } }),
    event({ id: 'b', content: part('c'), customMetadata: { list: [{}] } }),
  ];

  test('is sealed once, in its places, and is what a store keeps', async () => {
    const sealed = sealLog(log());
    expect(sealed.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(sealed[0]?.actions.stateDelta).toEqual({ y: 2 });
    const [, { customMetadata }] = sealed as [StoredEvent, StoredEvent];
    const { list } = customMetadata as { list: object[] };
    expect([sealed, ...sealed, list, list[0]].every((value) => Object.isFrozen(value))).toBe(true);
    const sessions = new InMemorySessionService();
    await sessions.restore(key, { initialState: {}, events: sealed });
    const kept = (await sessions.get(key))?.events ?? [];
    expect([kept.length, kept.every((one, at) => one === sealed[at])]).toEqual([2, true]);
    // Its list is its own.
    await sessions.append(key, [event({ id: 'd' })]);
    expect(sealed).toHaveLength(2);
  });

  test('is checked in every part where somebody else has made the list', async () => {
    const other = [...sealLog(log())];
    expect(sealedLog(other).every((one, at) => one !== other[at])).toBe(true);
    const unfit = Object.freeze([{ ...event(), turnId: 1 }]) as never;
    await expect(new InMemorySessionService().restore(key, { initialState: {}, events: unfit })).rejects.toMatchObject({
      code: 'E_BAD_INPUT',
    });
  });

  test.each<[string, Partial<EventInit>, string]>([
    ['an id that no store takes', { id: ' a' }, 'E_ID'],
    ['the id of a call that is too long', { content: part('c'.repeat(300)) }, 'E_ID'],
    ['what is no JSON', { customMetadata: { a: 1n } }, 'E_NOT_JSON'],
  ])('is refused with %s', (_, init, code) => {
    expect(() => sealLog([event(init)])).toThrow(expect.objectContaining({ code }));
  });
});
