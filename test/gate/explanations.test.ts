import { describe, expect, test } from 'vitest';
import type { JsonSchema, SchemaLike } from '../../src/contracts/index.ts';
import { validateArgs } from '../../src/gate/index.ts';

const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more });
function said(inputSchema: JsonSchema, args: unknown, source?: SchemaLike): unknown {
  const result = validateArgs({ inputSchema, source } as { inputSchema: JsonSchema }, args);
  return result.ok ? 'ok' : result.message;
}

describe('what is wrong, for a model to read', () => {
  const text = { type: 'string' };
  test.each<[string, JsonSchema, unknown, string]>([
    ['a list', object({ a: text }), { a: [1] }, 'a: expected string, got array [1]'],
    ['an object', object({ a: text }), { a: { b: 1 } }, 'a: expected string, got object {"b":1}'],
    ['null', object({ a: text }, { required: ['a'] }), { a: null }, 'a: expected string, got null'],
    ['a flag', object({ a: text }), { a: true }, 'a: expected string, got true'],
    [
      'one of several types',
      object({ a: { type: ['number', 'null'] } }),
      { a: [] },
      'a: expected number or null, got array []',
    ],
    [
      'a member deep inside',
      object({ a: object({ b: { items: text } }) }),
      { a: { b: [[]] } },
      'a.b[0]: expected string, got array []',
    ],
    ['a member that is a number', object({ 7: text }), { 7: 1 }, '[7]: expected string, got 1'],
    ['a name with a slash', object({ 'a/b~c': text }), { 'a/b~c': 1 }, 'a/b~c: expected string, got 1'],
    ['an unknown member', object({}, { unevaluatedProperties: false }), { q: 1 }, 'arguments: unknown member "q"'],
    ['a missing member inside', object({ a: object({}, { required: ['b'] }) }), { a: {} }, 'a.b: is required'],
    ['two missing members', object({}, { required: ['a', 'b'] }), {}, 'a: is required; b: is required'],
    ['too many', object({ a: { maxItems: 1 } }), { a: [1, 2] }, 'a: must NOT have more than 1 items, got array [1,2]'],
    [
      'the whole',
      object({}, { minProperties: 1 }),
      {},
      'arguments: must NOT have fewer than 1 properties, got object {}',
    ],
    [
      'two of which one may hold',
      object({ a: { oneOf: [{ type: 'number' }, { minimum: 1 }] } }),
      { a: 5 },
      'a: must match exactly one schema in oneOf, got 5',
    ],
    [
      'branches, without the verdict on them',
      object({ a: { anyOf: [{ minimum: 5 }, { const: 1 }] } }),
      { a: 3 },
      'a: must be >= 5, got 3; a: expected 1, got 3',
    ],
    [
      'branches in branches, each type once',
      object({ a: { anyOf: [{ type: 'number' }, { oneOf: [{ type: 'null' }, { type: 'number' }] }] } }),
      { a: 'x' },
      'a: expected number or null, got "x"',
    ],
  ])('%s', (_, schema, args, message) => {
    expect(said(schema, args)).toBe(message);
  });

  test('five things at once, and how many more there are', () => {
    const schema = object({ a: { items: { type: 'number' } } });
    const of = (length: number) => String(said(schema, { a: Array.from({ length }, () => 'x') })).split('; ');
    expect([of(5).length, of(5).at(-1)]).toEqual([5, 'a[4]: expected number, got "x"']);
    expect([of(6).length, of(6).at(-1)]).toEqual([6, 'and 1 more']);
    expect(of(9).at(-1)).toBe('and 4 more');
  });

  test('sixty characters of what was given, and no half ones', () => {
    const of = (value: string) => said(object({ a: { type: 'number' } }), { a: value });
    expect(of('x'.repeat(58))).toBe(`a: expected number, got "${'x'.repeat(58)}"`);
    expect(of('x'.repeat(59))).toBe(`a: expected number, got "${'x'.repeat(59)}…`);
    expect(String(of(`${'x'.repeat(58)}\u{1f600}`)).isWellFormed()).toBe(true);
  });

  test.each<[string, unknown, string]>([
    ['nothing', [], 'arguments: refused by the schema'],
    ['a message', [{ message: 'no' }], 'arguments: no'],
    ['a place', [{ path: ['a', 0, 'b'], message: 'no' }], 'a[0].b: no'],
    ['a place by keys', [{ path: [{ key: 'a' }, { key: 1 }], message: 'no' }], 'a[1]: no'],
    [
      'two',
      [
        { path: ['a'], message: 'no' },
        { path: ['b'], message: 'nor' },
      ],
      'a: no; b: nor',
    ],
  ])('what a schema library finds: %s', (_, issues, message) => {
    const source = { '~standard': { version: 1, vendor: 'v', validate: () => ({ issues }) } } as unknown as SchemaLike;
    expect(said(object({}), {}, source)).toBe(message);
  });

  test.each([
    ['text', 'x', 'string'],
    ['a list', [], 'array'],
    ['a list of the text of an object', ['{"a":1}'], 'array'],
    ['null', null, 'null'],
    ['nothing', undefined, 'undefined'],
    ['a number', 5, 'number'],
  ])('arguments that are %s', (_, args, kind) => {
    expect(said(object({}), args)).toBe(`arguments: expected object, got ${kind}`);
    expect(said({}, args)).toBe(`arguments: expected object, got ${kind}`);
  });
});

test('what has no check of its own is checked by its JSON Schema', () => {
  for (const standard of [undefined, null, 'x', {}, { validate: 5 }]) {
    const source = { '~standard': standard } as unknown as SchemaLike;
    expect(said(object({ a: { type: 'number' } }), { a: 1 }, source)).toBe('ok');
  }
});

test('an output that is no object is none of arguments', () => {
  for (const value of [null, [], 'x']) {
    const source = { '~standard': { version: 1, vendor: 'v', validate: () => ({ value }) } } as unknown as SchemaLike;
    expect(said({}, {}, source)).toBe("the output of the tool's schema is no object");
  }
});

describe('strings that hold JSON', () => {
  test('are looked into three times at most', () => {
    const wrapped = (depth: number): unknown => {
      let value: unknown = 1;
      for (let n = 0; n < depth; n++) value = JSON.stringify([value]);
      return value;
    };
    let schema: JsonSchema = { type: 'number' };
    for (let n = 0; n < 4; n++) schema = { type: 'array', items: schema };
    const of = (depth: number) => {
      let inner: JsonSchema = { type: 'number' };
      for (let n = 0; n < depth; n++) inner = { type: 'array', items: inner };
      return said(object({ a: inner }), { a: wrapped(depth) });
    };
    expect([of(1), of(2), of(3)]).toEqual(['ok', 'ok', 'ok']);
    expect(of(4)).toContain('a: expected array');
  });

  test.each<[string, string, string]>([
    ['a number', 'number', '9007199254740993'],
    ['an integer', 'integer', '1.5'],
    ['no text', 'boolean', '"true"'],
    ['no null', 'object', 'null'],
    ['no list', 'object', '[]'],
  ])('%s: left as it is', (_, type, text) => {
    expect(said(object({ a: { type } }), { a: text })).toContain(`a: expected ${type}`);
  });

  test('numbers are read exactly', () => {
    const of = (type: string, text: string) => validateArgs({ inputSchema: object({ a: { type } }) }, { a: text });
    expect(of('number', '9007199254740991')).toEqual({ ok: true, args: { a: 9007199254740991 } });
    expect(of('integer', '2.0')).toEqual({ ok: true, args: { a: 2 } });
    expect(of('number', '-1.5e3')).toEqual({ ok: true, args: { a: -1500 } });
  });
});
