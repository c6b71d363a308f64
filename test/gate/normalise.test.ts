import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolResult } from '../../src/contracts/index.ts';
import { toolResult } from '../../src/contracts/schemas/index.ts';
import { errorResult, normaliseReturn, toJsonValue } from '../../src/gate/index.ts';

const text = (value: string) => ({ type: 'text', text: value });
const json = (value: unknown): ToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
  structuredContent: value,
});

class Point {
  x = 1;
  #hidden = 2;
  get sum() {
    return this.x + this.#hidden;
  }
}
class Money {
  toJSON() {
    return { cents: 100n };
  }
}

const circular: Record<string, unknown> = { a: 1 };
circular.self = circular;
circular.list = [circular];

describe('F17 one normaliser for everything that a tool can return', () => {
  test.each<[string, unknown, ToolResult]>([
    ['undefined', undefined, { content: [{ type: 'text', text: '' }] }],
    ['a string', 'ok', { content: [{ type: 'text', text: 'ok' }] }],
    ['a lone surrogate', 'a\ud800', { content: [{ type: 'text', text: 'a\ud800' }] }],
    ['a bigint', 10n, { content: [{ type: 'text', text: '10' }] }],
    ['a date', new Date(0), { content: [{ type: 'text', text: '1970-01-01T00:00:00.000Z' }] }],
    ['a function', () => 1, { content: [{ type: 'text', text: '' }] }],
    ['a symbol', Symbol('s'), { content: [{ type: 'text', text: '' }] }],
    ['a number', 5, json(5)],
    ['false', false, json(false)],
    ['null', null, json(null)],
    ['NaN', Number.NaN, json(null)],
    ['an invalid date', new Date('x'), json(null)],
    ['an array', [1, [2n]], json([1, ['2']])],
    [
      'an object',
      { n: 1n, u: undefined, f: () => 1, s: Symbol('s'), d: new Date(0) },
      json({ n: '1', d: '1970-01-01T00:00:00.000Z' }),
    ],
    ['holes and functions in arrays', [undefined, () => 1, new Array(1), -0], json([null, null, [null], 0])],
    ['numbers that are none', { a: Number.NaN, b: -Infinity }, json({ a: null, b: null })],
    ['a cycle', circular, json({ a: 1, self: '[Circular]', list: ['[Circular]'] })],
    ['one object twice', [{ a: 1 }].flatMap((item) => [item, item]), json([{ a: 1 }, { a: 1 }])],
    ['a map', new Map([['a', new Map([['b', 1]])]]), json({ a: { b: 1 } })],
    ['a map with other keys', new Map<unknown, unknown>([[1, 'x']]), json([[1, 'x']])],
    ['an empty map', new Map(), json({})],
    ['a set', new Set([1, 'a']), json([1, 'a'])],
    ['a class instance', new Point(), json({ x: 1 })],
    [
      'toJSON',
      { price: new Money(), url: new URL('https://a.example/') },
      json({ price: { cents: '100' }, url: 'https://a.example/' }),
    ],
    ['a bare object', Object.assign(Object.create(null), { a: 1 }), json({ a: 1 })],
    ['a nested error', { reason: new Error('no') }, json({ reason: { error: 'no' } })],
    [
      'nested bytes',
      { b: new Uint8Array([1, 2]) },
      json({ b: { mimeType: 'application/octet-stream', data: 'AQI=' } }),
    ],
    ['numbers', new Float32Array([1.5]), json([1.5])],
    ['boxed values', [Object(1), Object('a'), Object(1n)], json([1, 'a', '1'])],
    ['an error', new Error('boom'), errorResult('failed', 'boom')],
    ['__proto__', JSON.parse('{"__proto__": 1}'), json(JSON.parse('{"__proto__": 1}'))],
  ])('%s', (_, value, expected) => {
    expect(normaliseReturn(value)).toEqual(expected);
  });

  test.each([
    ['Uint8Array', new Uint8Array([1, 2])],
    ['Buffer', Buffer.from([1, 2])],
    ['ArrayBuffer', new Uint8Array([1, 2]).buffer],
    ['DataView', new DataView(new Uint8Array([0, 1, 2, 3]).buffer, 1, 2)],
  ])('%s is media', (_, value) => {
    expect(normaliseReturn(value)).toEqual({
      content: [{ type: 'media', mimeType: 'application/octet-stream', data: 'AQI=' }],
    });
  });

  test('what cannot be read costs only itself', () => {
    const value = {
      ok: 1,
      get broken() {
        throw new Error('getter');
      },
      json: {
        toJSON() {
          throw new Error('toJSON');
        },
      },
    };
    expect(normaliseReturn(value)).toEqual(json({ ok: 1, broken: '[Unreadable]', json: '[Unreadable]' }));
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(normaliseReturn({ proxy })).toEqual(json({ proxy: '[Unreadable]' }));
    expect(normaliseReturn(proxy)).toMatchObject({ isError: true, errorType: 'failed' });
  });

  test('depth and size are bounded', () => {
    let deep: unknown = 'bottom';
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(JSON.stringify(normaliseReturn(deep).structuredContent)).toBe(
      `${'['.repeat(200)}"[Too deep]"${']'.repeat(200)}`,
    );
    let wide: unknown = { leaf: 1 };
    for (let i = 0; i < 60; i++) wide = { a: wide, b: wide };
    expect(Object.keys(toJsonValue(wide) as object)).toEqual(['a', '[Truncated]']);
  });

  test('a value that cannot be converted to a string either is still a result', () => {
    const error = Object.assign(new Error('x'), { message: Object.create(null) });
    expect(normaliseReturn(error)).toMatchObject({ isError: true });
  });

  test('never throws, is always a valid result and plain JSON', () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withObjectString: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
      withUnicodeString: true,
    });
    const types = [
      'text',
      'media',
      'thought',
      'reference',
      'citation',
      'code_result',
      'function_call',
      'table',
      'diff',
      'ext:x',
    ];
    const names = [
      'text',
      'mimeType',
      'data',
      'uri',
      'output',
      'exitCode',
      'id',
      'name',
      'args',
      'columns',
      'rows',
      '_meta',
    ];
    const part = fc
      .tuple(fc.constantFrom(...types), fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.string(), anything)))
      .map(([type, members]) => ({ ...members, type }));
    const parts = fc.array(part);
    const resultOfParts = fc.record({ content: parts, display: parts }, { requiredKeys: ['content'] });
    const resultLike = fc.record(
      {
        content: anything,
        llmContent: anything,
        structuredContent: anything,
        display: anything,
        isError: anything,
        tailCalls: anything,
        _meta: anything,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(anything, resultLike, resultOfParts), (value) => {
        const result = normaliseReturn(value);
        expect(toolResult.safeParse(result).success).toBe(true);
        expect(JSON.parse(JSON.stringify(result))).toEqual(result);
        expect(toJsonValue(result)).toEqual(result);
      }),
      { numRuns: 500 },
    );
  });
});

describe('ToolResult', () => {
  test('a full one is copied and cleaned', () => {
    const value = {
      content: [text('found 2')],
      structuredContent: { at: new Date(0) },
      display: [{ type: 'table', columns: ['a'], rows: [[1n]] }],
      isError: false,
      tailCalls: [{ name: 'next', args: { a: 1 } }, { name: 5 }, 'x'],
      _meta: { k: undefined },
    };
    expect(normaliseReturn(value)).toEqual({
      content: [text('found 2')],
      structuredContent: { at: '1970-01-01T00:00:00.000Z' },
      display: [{ type: 'table', columns: ['a'], rows: [['1']] }],
      tailCalls: [{ name: 'next', args: { a: 1 } }],
      _meta: {},
    });
  });

  test('S3-51 llmContent and displayContent are the older names', () => {
    expect(normaliseReturn({ llmContent: 'for the model', displayContent: 'for people' })).toEqual({
      content: [text('for the model')],
      display: [text('for people')],
    });
    expect(
      normaliseReturn({ llmContent: [text('a'), 'b'], displayContent: { type: 'diff', path: 'p', newText: 'n' } }),
    ).toEqual({
      content: [text('a'), text('b')],
      display: [{ type: 'diff', path: 'p', newText: 'n' }],
    });
  });

  test('structuredContent alone is said in words too', () => {
    expect(normaliseReturn({ structuredContent: { a: 1 } })).toEqual(json({ a: 1 }));
    expect(normaliseReturn({ content: [], structuredContent: [1] })).toEqual(json([1]));
  });

  test('parts are mended or said in words', () => {
    const content = [
      { type: 'media', data: new Uint8Array([1, 2]) },
      { type: 'text', text: 5 },
      { type: 'media', mimeType: 'image/png', data: Buffer.from([1, 2]) },
      { type: 'ext:chart', points: [1n] },
    ];
    expect(normaliseReturn({ content }).content).toEqual([
      { type: 'media', mimeType: 'application/octet-stream', data: 'AQI=' },
      text('{"type":"text","text":5}'),
      { type: 'media', mimeType: 'image/png', data: 'AQI=' },
      { type: 'ext:chart', points: ['1'] },
    ]);
  });

  test.each([
    ['a document', { type: 'doc', content: [{ type: 'paragraph' }] }],
    ['parts of something else', { content: [{ type: 'paragraph' }] }],
    ['a string under content', { content: 'hello' }],
    ['another member', { content: [text('a')], title: 't' }],
    ['isError alone', { isError: true }],
  ])('%s is a value', (_, value) => {
    expect(normaliseReturn(value)).toEqual(json(value));
  });

  test('errorResult', () => {
    expect(errorResult('denied', 'no', { _meta: { ruleId: 'r' } })).toEqual({
      content: [text('no')],
      isError: true,
      errorType: 'denied',
      _meta: { ruleId: 'r' },
    });
  });
});
