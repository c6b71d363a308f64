import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import {
  canonicalJson,
  copyJson,
  deepFreeze,
  isCoxswainError,
  isNestedDeeper,
  isSameJson,
  MAX_JSON_DEPTH,
  parseJson,
  setOwn,
} from '../../src/contracts/index.ts';

/** `{"a":{"a":…1}}` with that many objects. */
function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = { a: value };
  return value;
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (isCoxswainError(error)) return error.code;
    throw error;
  }
  return 'nothing was thrown';
}

const cycle: Record<string, unknown> = {};
cycle.self = { again: [cycle] };
class Point {
  x = 1;
}

const notJson: [what: string, value: unknown][] = [
  ['NaN', Number.NaN],
  ['infinity', Number.NEGATIVE_INFINITY],
  ['a BigInt', 1n],
  ['a function', () => 1],
  ['a symbol', Symbol('s')],
  ['a date', new Date(0)],
  ['a map', new Map()],
  ['bytes', new Uint8Array(1)],
  ['an instance', new Point()],
];

describe('copyJson', () => {
  test('gives an equal, independent copy', () => {
    const value = { a: [1, 'x', true, null, { b: [] }], c: {} };
    const copy = copyJson(value);
    expect(copy).toEqual(value);
    (value.a[4] as { b: unknown[] }).b.push(1);
    expect(copy.a[4]).toEqual({ b: [] });
  });

  test('gives what a round trip through JSON would give', () => {
    const value = { gone: undefined, zero: -0, nothing: Object.assign(Object.create(null), { a: 1 }) };
    const copy = copyJson(value);
    expect(Object.keys(copy)).toEqual(['zero', 'nothing']);
    expect(Object.is(copy.zero, 0)).toBe(true);
    expect(Object.getPrototypeOf(copy.nothing)).toBe(Object.prototype);
  });

  test('takes objects of another realm', () => {
    expect(copyJson(runInNewContext('({ a: [{ b: 1 }] })'))).toEqual({ a: [{ b: 1 }] });
  });

  test.each([...notJson, ['undefined in a list', undefined]])('refuses %s and names its place', (_, value) => {
    expect(() => copyJson({ list: [0, value] }, 'state "k"')).toThrow(/^state "k"\.list\[1\] is not JSON/);
    expect(codeOf(() => copyJson({ list: [0, value] }))).toBe('E_NOT_JSON');
  });

  test('refuses a hole in a list', () => {
    // biome-ignore lint/suspicious/noSparseArray: the hole is the subject
    expect(codeOf(() => copyJson([1, , 3]))).toBe('E_NOT_JSON');
  });

  test('a place far down is named in few words', () => {
    const value = { ['k'.repeat(1000)]: { ['l'.repeat(1000)]: 1n } };
    expect(() => copyJson(value)).toThrow(/^value\.k+…l+ is not JSON: bigint$/);
    expect(codeOf(() => copyJson(value))).toBe('E_NOT_JSON');
  });

  test('__proto__ is data', () => {
    const copy = copyJson(JSON.parse('{"__proto__":{"polluted":1},"list":[{"__proto__":null}]}'));
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":1},"list":[{"__proto__":null}]}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(copy.polluted).toBeUndefined();
  });

  test('takes the deepest value allowed, refuses one level more, 10,000 levels and cycles', () => {
    expect(copyJson(nested(MAX_JSON_DEPTH))).toEqual(nested(MAX_JSON_DEPTH));
    for (const value of [nested(MAX_JSON_DEPTH + 1), nested(10_000), cycle]) {
      expect(codeOf(() => copyJson(value))).toBe('E_TOO_DEEP');
    }
  });

  test('keeps strings of 5 MB and lone surrogates as they are', () => {
    const value = { big: 'é'.repeat(5_000_000), lone: 'a\ud800b', '\udc00': 1 };
    expect(copyJson(value)).toEqual(value);
  });
});

describe('setOwn', () => {
  test('sets __proto__ as an ordinary member', () => {
    const target: Record<string, unknown> = {};
    setOwn(target, '__proto__', { polluted: 1 });
    setOwn(target, 'a', 2);
    setOwn(target, '__proto__', 3);
    expect(Object.entries(target)).toEqual([
      ['__proto__', 3],
      ['a', 2],
    ]);
    expect(Object.getPrototypeOf(target)).toBe(Object.prototype);
  });
});

describe('deepFreeze', () => {
  test('freezes every level and returns the value itself', () => {
    const value = { a: [{ b: {} }] };
    expect(deepFreeze(value)).toBe(value);
    for (const part of [value, value.a, value.a[0], value.a[0]?.b]) expect(Object.isFrozen(part)).toBe(true);
  });

  test('ends with cycles and at 10,000 levels', () => {
    const own: Record<string, unknown> = { deep: nested(10_000) };
    own.self = own;
    let inner: unknown = deepFreeze(own).deep;
    while (typeof inner === 'object') inner = Object.isFrozen(inner) && (inner as { a: unknown }).a;
    expect(inner).toBe(1);
  });

  test('freezes what __proto__ holds as data', () => {
    const value = JSON.parse('{"__proto__":{"a":1}}');
    deepFreeze(value);
    expect(Object.isFrozen(Object.entries(value)[0]?.[1])).toBe(true);
    expect(Object.isFrozen(Object.prototype)).toBe(false);
  });
});

describe('canonicalJson', () => {
  test.each<[unknown, string]>([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    [
      { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, ö: 7 },
      '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
    ],
    [[Number('333333333.33333329'), 1e30, 4.5, 2e-3, 1e-27, -0], '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]'],
    ['€$\u000f\nA\'B"\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\"/"'],
    [{ a: undefined, b: [undefined] }, '{"b":[null]}'],
    [undefined, 'null'],
    [{}, '{}'],
    [[], '[]'],
    ['a\ud800', '"a\\ud800"'],
    [JSON.parse('{"b":1,"__proto__":2}'), '{"__proto__":2,"b":1}'],
  ])('case %#: %j', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  test('says that a hole is null, as JSON.stringify does', () => {
    // biome-ignore lint/suspicious/noSparseArray: the hole is the subject
    expect(canonicalJson([1, , 3])).toBe('[1,null,3]');
  });

  test.each(notJson)('refuses %s, which would have the text of another value', (_, value) => {
    expect(codeOf(() => canonicalJson({ a: value }))).toBe('E_NOT_JSON');
  });

  test('takes events that hold the deepest value allowed; refuses 10,000 levels and cycles', () => {
    const event = { content: [{ args: nested(MAX_JSON_DEPTH) }] };
    expect(canonicalJson(event)).toBe(JSON.stringify(event));
    expect(codeOf(() => canonicalJson(nested(10_000)))).toBe('E_TOO_DEEP');
    expect(codeOf(() => canonicalJson(cycle))).toBe('E_TOO_DEEP');
  });

  test('takes strings of 5 MB', () => {
    expect(canonicalJson({ big: 'x'.repeat(5_000_000) })).toHaveLength(5_000_010);
  });
});

test('F27 names with escapes are read as they are written, whatever was read before them', () => {
  const names = ['\\', '"', '\u0000', '\n', '\ud800', '\\n', '\nX', 'a\\', 'a"', '@0', '@', '__proto__', 'é'];
  for (const name of names) {
    for (const value of [{ seen: 0, [name]: 1 }, [{ 'seen too': '":', [name]: [{ [name]: '\\":' }] }]]) {
      const text = JSON.stringify(value);
      expect(JSON.stringify(parseJson(text))).toBe(text);
      expect(JSON.stringify(parseJson(JSON.stringify(value, null, 1)))).toBe(text);
    }
  }
  for (const text of ['{"a\\":1}', '{"\\x":1}', '"\\', '', '{"\\n":1,}'])
    expect(() => parseJson(text)).toThrow(SyntaxError);
});

test('a string may have more escapes than a stack is deep', () => {
  const value = { text: '\n'.repeat(10_000_000), 'a"b': 1 };
  expect(parseJson(JSON.stringify(value))).toEqual(value);
});

describe('ATT-B12 nesting is counted', () => {
  test.each([10, 150, 300, 5_000, 50_000])('of %s levels', (depth) => {
    const list = JSON.parse(`${'['.repeat(depth)}1${']'.repeat(depth)}`) as unknown;
    for (const value of [nested(depth), list, [0, list, 'x']]) {
      const levels = Array.isArray(value) && value.length > 1 ? depth + 1 : depth;
      expect([isNestedDeeper(value, levels), isNestedDeeper(value, levels - 1)]).toEqual([false, true]);
    }
    expect(isNestedDeeper(nested(depth), MAX_JSON_DEPTH)).toBe(depth > MAX_JSON_DEPTH);
  });

  test('also of what is no object, is shared many times, or stands in itself', () => {
    expect([isNestedDeeper('x', 0), isNestedDeeper(null, 0), isNestedDeeper({}, 0)]).toEqual([false, false, true]);
    for (const flat of [{}, [], { a: 1, b: null }]) expect(isNestedDeeper(flat, 1)).toBe(false);
    for (const deep of [{ a: {} }, [[]], { a: 1, b: [] }]) expect(isNestedDeeper(deep, 1)).toBe(true);
    expect(isNestedDeeper([1, 'a', null], 1)).toBe(false);
    let shared: unknown = 1;
    for (let level = 0; level < 100; level++) shared = [shared, shared];
    expect([isNestedDeeper(shared, 100), isNestedDeeper(shared, 99)]).toEqual([false, true]);
    expect(isNestedDeeper(cycle, MAX_JSON_DEPTH)).toBe(true);
  });

  test.each([10, 300, 5_000, 50_000])('for nothing where names with escapes stand %s levels deep', (depth) => {
    const text = `${'{"\\u0061":{"b":1,"c":'.repeat(depth)}1${'}}'.repeat(depth)}`;
    let value = parseJson(text) as Record<string, Record<string, unknown>>;
    for (let level = 0; level < depth; level++) {
      const [[name, inner]] = Object.entries(value) as [[string, Record<string, unknown>]];
      if (name !== 'a' || Object.keys(inner).join() !== 'b,c') throw new Error(`level ${level}: ${name}`);
      value = inner.c as typeof value;
    }
    expect(value).toBe(1);
  });
});

test('two values say the same in whatever order their members stand, and nothing else does', () => {
  const same: [unknown, unknown][] = [
    [
      { a: 1, b: [null, { c: 'x' }] },
      { b: [null, { c: 'x' }], a: 1 },
    ],
    [parseJson('{"__proto__":1}'), parseJson('{"__proto__":1}')],
    [[], []],
    ['x', 'x'],
  ];
  const other: [unknown, unknown][] = [
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { a: 1 }],
    [{ a: undefined }, { b: undefined }],
    [parseJson('{"__proto__":1}'), { a: 1 }],
    [{ a: 1 }, parseJson('{"__proto__":1}')],
    [{ toString: 1 }, { a: 1 }],
    [{ a: 1 }, { toString: 1 }],
    [
      [1, 2],
      [2, 1],
    ],
    [['a'], { 0: 'a' }],
    [{ 0: 'a' }, ['a']],
    [0, -0],
    [1, '1'],
    [null, {}],
    [{}, null],
    [undefined, null],
  ];
  for (const [a, b] of same) expect([a, b, isSameJson(a, b)]).toEqual([a, b, true]);
  for (const [a, b] of other) expect([a, b, isSameJson(a, b)]).toEqual([a, b, false]);
});
