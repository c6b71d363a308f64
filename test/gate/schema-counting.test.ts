import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../src/contracts/index.ts';
import { charge, spend, Undecided, withEffort } from '../../src/gate/pattern/effort.ts';
import { SchemaEffort } from '../../src/gate/schema/schema-effort.ts';
import { CHARACTERS, valueSize } from '../../src/gate/schema/value-size.ts';

const cost = (schema: JsonSchema, value: unknown) => new SchemaEffort(schema).of(value, 0);

/** A schema that costs so many keywords more each time that it is applied. */
const costing = (keywords: number): JsonSchema => ({ enum: Array.from({ length: keywords }, () => 1) });
const times = (of: (part: JsonSchema) => JsonSchema, value: unknown) =>
  (cost(of(costing(100)), value) - cost(of(costing(0)), value)) / 100;
const two = { minimum: 1, maximum: 2 };

describe('a schema in another one is counted as often as it is applied', () => {
  test.each<[string, (part: JsonSchema) => JsonSchema, unknown, number]>([
    ['allOf', (part) => ({ allOf: [part] }), 5, 1],
    ['anyOf, twice', (part) => ({ anyOf: [part, {}, part] }), 5, 2],
    ['oneOf', (part) => ({ oneOf: [part] }), 5, 1],
    ['not', (part) => ({ not: part }), 5, 1],
    ['if', (part) => ({ if: part }), 5, 1],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of schemas
    ['then', (part) => ({ if: {}, then: part }), 5, 1],
    ['else', (part) => ({ if: {}, else: part }), 5, 1],
    ['dependentSchemas', (part) => ({ dependentSchemas: { a: part } }), { a: 1 }, 1],
    ['dependencies', (part) => ({ dependencies: { a: part } }), { a: 1 }, 1],
    ['items of a list', (part) => ({ items: part }), [1, 2, 3], 3],
    ['items of an empty list', (part) => ({ items: part }), [], 0],
    ['items of no list', (part) => ({ items: part }), 5, 0],
    ['contains', (part) => ({ contains: part }), [1, 2, 3], 3],
    ['unevaluatedItems', (part) => ({ unevaluatedItems: part }), [1, 2, 3], 3],
    ['prefixItems, the first', (part) => ({ prefixItems: [part] }), [1, 2], 1],
    ['prefixItems, the second', (part) => ({ prefixItems: [{}, part] }), [1, 2], 1],
    ['prefixItems beyond the list', (part) => ({ prefixItems: [{}, {}, part] }), [1, 2], 0],
    ['properties', (part) => ({ properties: { a: part } }), { a: 1, b: 2 }, 1],
    ['properties that are not there', (part) => ({ properties: { a: part } }), { b: 2 }, 0],
    ['properties of no object', (part) => ({ properties: { a: part } }), null, 0],
    ['patternProperties', (part) => ({ patternProperties: { '^a': part } }), { a: 1, b: 2 }, 2],
    ['additionalProperties', (part) => ({ additionalProperties: part }), { a: 1, b: 2 }, 2],
    ['unevaluatedProperties', (part) => ({ unevaluatedProperties: part }), { a: 1, b: 2 }, 2],
    ['propertyNames', (part) => ({ propertyNames: part }), { a: 1, b: 2 }, 2],
    ['a schema inside of one', (part) => ({ items: { properties: { a: part } } }), [{ a: 1 }, { a: 2 }], 2],
    ['a reference', (part) => ({ $ref: '#/$defs/a', $defs: { a: part } }), 5, 1],
    ['two references to one', (part) => ({ allOf: [{ $ref: '#/d' }, { $ref: '#/d' }], d: part }), 5, 2],
    ['a reference by a name', (part) => ({ $ref: '#n', $defs: { a: { ...part, $anchor: 'n' } } }), 5, 1],
    ['a reference by a dynamic name', (part) => ({ $dynamicRef: '#n', a: { ...part, $dynamicAnchor: 'n' } }), 5, 1],
    [
      'a reference that may mean two',
      (part) => ({ $ref: '#n', a: { $anchor: 'n' }, b: { ...part, $anchor: 'n' } }),
      5,
      1,
    ],
    ['a reference in a document inside', (part) => ({ $ref: 'u#/d', x: { $id: 'u', d: part } }), 5, 1],
    ['a definition that nobody refers to', (part) => ({ $defs: { a: part } }), 5, 0],
    ['data', (part) => ({ default: { a: [part] } }), 5, 0],
    ['a default of a member', (part) => ({ properties: { a: { default: [1, 2], items: part } } }), {}, 2],
    ['a default that is not needed', (part) => ({ properties: { a: { default: [1, 2], items: part } } }), { a: [] }, 0],
    [
      'a default that something beside looks at',
      (part) => ({ properties: { a: { default: 1 } }, patternProperties: { a: part } }),
      {},
      1,
    ],
    [
      'a default of a member that has a schema is no other member',
      (part) => ({ properties: { a: { default: 1 } }, additionalProperties: part }),
      {},
      0,
    ],
    [
      'a default of a member elsewhere is one',
      (part) => ({ allOf: [{ properties: { a: { default: 1 } } }], additionalProperties: part }),
      {},
      1,
    ],
    ['a default of an item', (part) => ({ prefixItems: [{ default: [1], items: part }] }), [], 1],
    ['a default of an item that others look at', (part) => ({ prefixItems: [{ default: 1 }], contains: part }), [], 1],
  ])('%s', (_, of, value, count) => {
    expect(times(of, value)).toBe(count);
  });

  test('one that contains itself has no end, unless the value has', () => {
    expect(cost({ $ref: '#' }, 5)).toBe(Infinity);
    expect(cost({ anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: { not: { $ref: '#' } } } }, 5)).toBe(Infinity);
    const list = { items: { $ref: '#' } };
    expect(cost(list, [[], [[]]])).toBeLessThan(50);
    expect(cost(list, [[], [[]]])).toBeGreaterThan(cost(list, []));
  });

  test.each(['#/nowhere', '#name', 'http://x/y#z', '#/d/minimum/0'])('a reference to %s cannot be counted', ($ref) => {
    expect(cost({ properties: { a: { $ref } }, d: two }, { a: 1 })).toBe(Infinity);
  });

  test('what is written with escapes is found', () => {
    const $defs = { 'a/b~c d%': two };
    expect(cost({ $ref: '#/$defs/a~1b~0c%20d%25', $defs }, 5)).toBeLessThan(20);
    expect(cost({ $ref: '#/$defs/100%', $defs: { '100%': two } }, 5)).toBeLessThan(20);
  });

  test.each<[string, JsonSchema, JsonSchema, number]>([
    ['each keyword', { minimum: 1, maximum: 2 }, { minimum: 1 }, 1],
    ['what enum lists', { enum: [1, [2], 3] }, { enum: [1] }, 3],
    ['what const holds', { const: [[1, 2, 3]] }, { const: [] }, 4],
    ['names that are required', { required: ['a', 'b'] }, { required: [] }, 2],
    ['members', { properties: { a: true, b: true } }, { properties: {} }, 2],
    ['members that others require', { dependentRequired: { a: ['b', 'c'] } }, { dependentRequired: {} }, 3],
    ['and in the older way', { dependencies: { a: ['b', 'c'] } }, { dependencies: {} }, 4],
    ['no data', { default: { a: 1, b: 2 } }, { default: {} }, 0],
  ])('%s', (_, larger, smaller, difference) => {
    expect(cost(larger, 5) - cost(smaller, 5)).toBe(difference);
    const size = (schema: JsonSchema) => new SchemaEffort(schema).size;
    expect(size(larger) - size(smaller)).toBe(difference - (_.startsWith('and') ? 1 : 0));
  });

  test('a long text, and long names, cost what they are long', () => {
    expect(cost({ pattern: 'a' }, 'a'.repeat(10 * CHARACTERS)) - cost({ pattern: 'a' }, '')).toBe(10);
    const named = (length: number) => cost({}, { ['a'.repeat(length)]: 1 });
    expect(named(5 * CHARACTERS) - named(CHARACTERS)).toBe(4);
  });

  test('items that are compared cost each with each, unless they are found in a table', () => {
    const unique = (items: JsonSchema, length: number) => {
      const value = Array.from({ length }, (_, n) => n);
      return cost({ uniqueItems: true, items }, value) - cost({ uniqueItems: false, items }, value);
    };
    for (const type of ['string', 'number', 'integer', 'boolean', 'null']) expect(unique({ type }, 80)).toBe(80);
    expect(unique({}, 80)).toBe((80 * 81) / 8);
    expect(unique({ type: 'object' }, 80)).toBe((80 * 81) / 8);
    expect(unique({ type: ['string', 'null'] }, 80)).toBe((80 * 81) / 8);
  });

  test('members that are kept in mind are counted', () => {
    const value = { a: 1, b: [1, 2, 3] };
    const of = (schema: JsonSchema) => cost({ properties: { b: schema } }, value);
    expect(of({ unevaluatedItems: true }) - of({ minItems: 1 })).toBe(2 + 3);
    expect(of({ unevaluatedProperties: true }) - of({ minItems: 1 })).toBe(2 + 3);
  });
});

test('what is known roughly is never less than what is counted', () => {
  const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<JsonSchema>(
        {},
        { type: 'string' },
        { minimum: 1 },
        { default: [1, { a: 1 }] },
        { uniqueItems: true },
      ),
      fc.array(tie('schema'), { maxLength: 3 }).map((anyOf) => ({ anyOf })),
      fc.tuple(tie('schema'), tie('schema')).map(([items, contains]) => ({ items, contains, uniqueItems: true })),
      fc.tuple(tie('schema'), tie('schema')).map(([a, b]) => ({ properties: { a, b }, additionalProperties: a })),
      fc.tuple(tie('schema'), tie('schema')).map(([a, b]) => ({ prefixItems: [a, b], unevaluatedItems: b })),
    ),
  }));
  const value = fc.jsonValue({ maxDepth: 3 });
  fc.assert(
    fc.property(schema, value, (made, given) => {
      const effort = new SchemaEffort(made);
      expect(effort.of(given, Infinity)).toBeGreaterThanOrEqual(effort.of(given, 0));
    }),
  );
});

test.each<[string, JsonSchema]>([
  ['compared with one another', { uniqueItems: true }],
  ['compared where a default may be added', { uniqueItems: true, prefixItems: [{ default: [1, 2, 3] }] }],
  ['kept in mind', { unevaluatedItems: true }],
])('nor where many items are %s', (_, schema) => {
  const effort = new SchemaEffort(schema);
  const value = Array.from({ length: 200 }, (_item, n) => [n]);
  expect(effort.of(value, Infinity)).toBeGreaterThanOrEqual(effort.of(value, 0));
});

test('counting is charged itself, and ends', () => {
  const value = Array.from({ length: 500_001 }, () => 1);
  expect(cost({ items: {} }, value)).toBe(Infinity);
  expect(
    cost(
      { items: { $ref: '#/d' }, d: {} },
      value.slice(0, 40_000).map((_, n) => n),
    ),
  ).toBeLessThan(Infinity);
  expect(
    cost(
      { items: { $ref: '#/d' }, d: {} },
      value.slice(0, 60_000).map((_, n) => n),
    ),
  ).toBe(Infinity);
  const counting = () => {
    cost({ items: {} }, value.slice(0, 100_000));
    spend(4_600_000);
  };
  expect(() => withEffort(counting)).toThrow(Undecided);
});

describe('an allowance', () => {
  test('is 5,000,000 steps for one evaluation, and also without one', () => {
    expect(() => withEffort(() => spend(5_000_000))).not.toThrow();
    expect(() => withEffort(() => spend(5_000_001))).toThrow(Undecided);
    expect(() => spend(5_000_000)).not.toThrow();
    expect(() => spend(5_000_001)).toThrow(Undecided);
    expect(() => charge(1)).not.toThrow();
  });

  test('inside another one is that one', () => {
    const nested = () => {
      withEffort(() => spend(3_000_000));
      withEffort(() => spend(3_000_000));
    };
    expect(() => withEffort(nested)).toThrow(Undecided);
    expect(nested).not.toThrow();
  });

  test('of an owner is four times as much', () => {
    const owner = {};
    const once = () => withEffort(() => spend(5_000_000), owner);
    for (let n = 0; n < 4; n++) once();
    expect(() => withEffort(() => spend(1), owner)).toThrow(Undecided);
    expect(() => withEffort(() => spend(1), {})).not.toThrow();
    expect(withEffort(() => 'free', owner)).toBe('free');
  });

  test('is taken where the work fails, and cannot be charged below nothing', () => {
    const owner = {};
    const fail = () => {
      charge(50_000_000);
      throw new Error('no');
    };
    for (let n = 0; n < 4; n++) expect(() => withEffort(fail, owner)).toThrow('no');
    expect(() => withEffort(() => spend(1), owner)).toThrow(Undecided);
    expect(() => withEffort(() => spend(0), owner)).not.toThrow();
  });
});

test.each<[unknown, number]>([
  [5, 1],
  [null, 1],
  [undefined, 1],
  ['', 1],
  ['a'.repeat(CHARACTERS), 2],
  [[], 1],
  [[1, [2, 3]], 5],
  [{}, 1],
  [{ ['a'.repeat(CHARACTERS)]: [1] }, 5],
])('%j holds %d values', (value, size) => {
  expect(valueSize(value)).toBe(size);
});
