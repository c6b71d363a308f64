import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../src/contracts/index.ts';
import { compilePredicate, compileSchema, fitsSchema, toJsonSchema, validateArgs } from '../../src/gate/index.ts';
import { toCommonZodForm, toDraft2020, walkSchema } from '../../src/gate/schema/dialect.ts';

const bad = expect.objectContaining({ code: 'E_SCHEMA' });

describe('the root of arguments', () => {
  const A = { type: 'object' };
  test.each<[string, JsonSchema]>([
    ['an object', { type: 'object' }],
    ['an object or nothing', { type: ['null', 'object'] }],
    ['properties', { properties: {} }],
    ['patternProperties', { patternProperties: {} }],
    ['additionalProperties', { additionalProperties: false }],
    ['required', { required: [] }],
    ['propertyNames', { propertyNames: {} }],
    ['a branch of anyOf', { anyOf: [{ type: 'string' }, A] }],
    ['a branch of oneOf', { oneOf: [{ type: 'string' }, A] }],
    ['a branch of allOf', { allOf: [A] }],
    ['a definition', { $ref: '#/$defs/A', $defs: { A } }],
    ['an older definition', { $ref: '#/definitions/A', definitions: { A } }],
    ['a branch that is a definition', { anyOf: [{ $ref: '#/$defs/A' }], $defs: { A } }],
    ['a branch that is the whole', { anyOf: [{ type: 'string' }, { $ref: '#' }] }],
  ])('%s may be an object, and is one', (_, schema) => {
    expect(toJsonSchema(schema)).toEqual({ ...schema, type: 'object' });
  });

  test.each<[string, JsonSchema]>([
    ['text', { type: 'string' }],
    ['text or a list', { type: ['string', 'array'] }],
    ['text with members', { type: 'string', properties: {} }],
    ['words alone', { description: 'x' }],
    ['branches of text', { anyOf: [{ type: 'string' }, true] }],
    ['a definition of text', { $ref: '#/$defs/A', $defs: { A: { type: 'string' } } }],
    ['a definition that is not there', { $ref: '#/$defs/B', $defs: { A } }],
    ['a definition without definitions', { $ref: '#/$defs/A' }],
    ['a definition that refers to another', { $ref: '#/$defs/B', $defs: { A, B: { $ref: '#/$defs/A' } } }],
    ['a part of a definition', { $ref: '#/$defs/B/properties', $defs: { B: { properties: A } } }],
    ['another place', { $ref: 'x#/$defs/A', $defs: { A } }],
    ['another document', { $ref: 'https://x/y' }],
  ])('%s is none', (_, schema) => {
    expect(() => toJsonSchema(schema)).toThrow(bad);
    expect(toJsonSchema(schema, { anyRoot: true })).toMatchObject(schema);
  });

  test('one schema may be both: any value as an output, an object as arguments', () => {
    const schema = { properties: { a: { type: 'string' } } };
    expect(toJsonSchema(schema, { anyRoot: true })).toEqual(schema);
    expect(toJsonSchema(schema)).toEqual({ ...schema, type: 'object' });
    expect(toJsonSchema(schema, { anyRoot: true })).not.toHaveProperty('type');
    expect(toJsonSchema(schema)).toBe(toJsonSchema(schema));
    expect(() => toJsonSchema(schema, { anyRoot: 'yes' } as never)).toThrow(
      expect.objectContaining({ code: 'E_BAD_INPUT' }),
    );
  });

  test('members that look like those of a library make no schema of one', () => {
    for (const _def of [{}, null, 'x']) expect(toJsonSchema({ type: 'object', _def } as never)).toHaveProperty('_def');
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const value of [proxy, [], [{}]]) expect(() => toJsonSchema(value as never)).toThrow(bad);
  });
});

describe('older drafts', () => {
  const modern = (schema: JsonSchema) => {
    const copy = structuredClone(schema);
    toDraft2020(copy);
    return copy;
  };
  test.each<[string, JsonSchema, JsonSchema]>([
    ['a version', { $schema: 'x', not: { $schema: 'y' } }, { not: {} }],
    ['a name of the document', { id: 'urn:x' }, {}],
    ['a name that is none', { id: 5 }, { id: 5 }],
    ['a member called id', { properties: { id: { type: 'string' } } }, { properties: { id: { type: 'string' } } }],
    ['items in order', { items: [{ minimum: 1 }] }, { prefixItems: [{ minimum: 1 }] }],
    [
      'items in order and others',
      { items: [{}], additionalItems: { minimum: 1 } },
      { prefixItems: [{}], items: { minimum: 1 } },
    ],
    ['others where no order is', { items: { minimum: 1 }, additionalItems: false }, { items: { minimum: 1 } }],
    ['an exclusive minimum', { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    ['an exclusive maximum', { maximum: 1, exclusiveMaximum: true }, { exclusiveMaximum: 1 }],
    ['an inclusive one', { minimum: 1, exclusiveMinimum: false }, { minimum: 1 }],
    ['an exclusive one of nothing', { exclusiveMinimum: true }, {}],
    ['one as it is today', { minimum: 1, exclusiveMinimum: 5 }, { minimum: 1, exclusiveMinimum: 5 }],
  ])('%s', (_, old, expected) => {
    expect(modern(old)).toStrictEqual(expected);
    const places: ((part: JsonSchema) => JsonSchema)[] = [
      ...['additionalProperties', 'contains', 'else', 'if', 'items', 'not', 'propertyNames', 'then'],
      ...['unevaluatedItems', 'unevaluatedProperties'],
    ].map((key) => (part) => ({ [key]: part }));
    places.push(
      ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].map((key) => (part: JsonSchema) => ({ [key]: [{}, part] })),
    );
    places.push(
      ...['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'].map(
        (key) => (part: JsonSchema) => ({ [key]: { a: {}, b: part } }),
      ),
    );
    if ('id' in old) return;
    for (const at of places) expect(modern(at(old))).toEqual(at(expected));
    for (const key of ['default', 'enum', 'const', 'examples'])
      expect(modern({ [key]: [old] })).toEqual({ [key]: [old] });
  });

  test('what is inside is visited before what it is inside of', () => {
    const seen: unknown[] = [];
    const inner = { title: 'inner' };
    walkSchema({ title: 'outer', items: inner, anyOf: [true, inner], properties: { a: inner, b: false } }, (node) =>
      seen.push(node.title),
    );
    expect(seen).toEqual(['inner', 'inner', 'inner', 'outer']);
    for (const none of [null, true, 'x', [inner]]) walkSchema(none, () => expect.unreachable());
  });
});

describe('what libraries write differently', () => {
  test.each<[string, JsonSchema, JsonSchema]>([
    [
      'the range of integers',
      { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'integer' },
    ],
    ['another range', { type: 'integer', minimum: 1, maximum: 2 }, { type: 'integer', minimum: 1, maximum: 2 }],
    [
      'that range of numbers',
      { type: 'number', minimum: Number.MIN_SAFE_INTEGER },
      { type: 'number', minimum: Number.MIN_SAFE_INTEGER },
    ],
    ['an open object', { properties: {}, additionalProperties: true }, { properties: {} }],
    ['an open object by an empty schema', { properties: {}, additionalProperties: {} }, { properties: {} }],
    [
      'a closed object',
      { properties: {}, additionalProperties: false },
      { properties: {}, additionalProperties: false },
    ],
    ['a record', { additionalProperties: {} }, { additionalProperties: {} }],
    [
      'others of a kind',
      { properties: {}, additionalProperties: { minimum: 1 } },
      { properties: {}, additionalProperties: { minimum: 1 } },
    ],
    ['names that are text', { propertyNames: { type: 'string' } }, {}],
    [
      'names of a kind',
      { propertyNames: { type: 'string', maxLength: 1 } },
      { propertyNames: { type: 'string', maxLength: 1 } },
    ],
    ['names of another type', { propertyNames: { type: 'number' } }, { propertyNames: { type: 'number' } }],
    ['branches of which one fits', { oneOf: [{ minimum: 1 }] }, { anyOf: [{ minimum: 1 }] }],
    [
      'branches of both kinds',
      { oneOf: [{ minimum: 1 }], anyOf: [{ minimum: 2 }] },
      { oneOf: [{ minimum: 1 }], anyOf: [{ minimum: 2 }] },
    ],
    ['bare types', { anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: ['string', 'null'] }],
    [
      'types with more',
      { anyOf: [{ type: 'string', minLength: 1 }, { type: 'null' }] },
      { anyOf: [{ type: 'string', minLength: 1 }, { type: 'null' }] },
    ],
    [
      'bare types under a type',
      { type: 'string', anyOf: [{ type: 'string' }] },
      { type: 'string', anyOf: [{ type: 'string' }] },
    ],
    [
      'a tuple by counts',
      { prefixItems: [{}, {}], minItems: 2, maxItems: 2 },
      { prefixItems: [{}, {}], items: false, minItems: 2, maxItems: 2 },
    ],
    [
      'a tuple that ends',
      { prefixItems: [{}], items: false },
      { prefixItems: [{}], items: false, minItems: 1, maxItems: 1 },
    ],
    [
      'a tuple that goes on',
      { prefixItems: [{}], items: { minimum: 1 } },
      { prefixItems: [{}], items: { minimum: 1 }, minItems: 1 },
    ],
    [
      'a tuple of more',
      { prefixItems: [{}], maxItems: 5, minItems: 0 },
      { prefixItems: [{}], maxItems: 5, minItems: 0 },
    ],
  ])('%s', (_, written, expected) => {
    const copy = structuredClone(written);
    toCommonZodForm(copy);
    expect(copy).toEqual(expected);
  });
});

describe('a condition', () => {
  test('tests a value and leaves it as it is', () => {
    const fits = compilePredicate({
      type: 'object',
      properties: { a: { type: 'number', default: 5 } },
      required: ['a'],
    });
    const value = {};
    expect([fits(value), value, fits({ a: 1 }), fits({ a: '1' })]).toEqual([false, {}, true, false]);
  });

  test.each<[string, JsonSchema, string]>([
    ['a misspelt keyword', { propertys: {} }, 'propertys'],
    ['a format', { properties: { a: { format: 'email' } } }, '"format" is not checked'],
    ['a pattern that refers to its groups', { pattern: '(a)\\1' }, 'reference to a group'],
    ['a pattern that is too large', { pattern: '((a{100}){100}){100}' }, 'too many'],
    ['a wrong type', { type: 'text' }, 'schema is invalid'],
  ])('%s is refused', (_, schema, message) => {
    expect(() => compilePredicate(schema)).toThrow(
      expect.objectContaining({ code: 'E_SCHEMA', message: expect.stringContaining(message) }),
    );
  });

  test('is undecided on long texts, and on what is compared without end', () => {
    const fits = compilePredicate({ pattern: 'a$' });
    expect([fits(`${'b'.repeat(9_999)}a`), fits('b')]).toEqual([true, false]);
    expect(() => fits('a'.repeat(10_001))).toThrow('too long for a pattern');
    const unique = compilePredicate({ uniqueItems: true });
    expect(() => unique(Array.from({ length: 5000 }, (_, n) => ({ n })))).toThrow('would take too long');
  });

  test('of arguments has no such limit: they are tried on the schema of a tool', () => {
    expect(compileSchema({ pattern: 'a$', propertys: {}, format: 'email' })('a'.repeat(20_000))).toBe(true);
  });
});

describe('a check that is compiled', () => {
  test('is compiled once, and says why', () => {
    const schema = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } };
    const check = compileSchema(schema);
    expect(compileSchema(schema)).toBe(check);
    expect(check.errors).toEqual([]);
    expect([check({ a: 'x', b: 'y' }), check.errors.map(({ instancePath }) => instancePath)]).toEqual([
      false,
      ['/a', '/b'],
    ]);
    expect([check({ a: 1 }), check.errors]).toEqual([true, []]);
  });

  test('names the first fault alone where there is much to look at', () => {
    const schema = {
      type: 'object',
      properties: { rows: { type: 'array', items: { anyOf: Array.from({ length: 40 }, () => ({ type: 'number' })) } } },
    };
    const check = compileSchema(schema);
    expect(check({ rows: ['x', 'y'] })).toBe(false);
    expect(check.errors.length).toBeGreaterThan(80);
    const many = { rows: Array.from({ length: 1000 }, (_, n) => (n < 500 ? 1 : 'x')) };
    expect([check(many), check.errors.length < 100]).toEqual([false, true]);
    // And all of them again where there is little.
    expect([check({ rows: ['x', 'y'] }), check.errors.length > 80]).toEqual([false, true]);
  });

  test('of any value is a yes or a no', () => {
    expect([fitsSchema({ type: 'string' }, 'a'), fitsSchema({ type: 'string' }, 1)]).toEqual([true, false]);
    const itself = { anyOf: [{ $ref: '#' }] };
    expect(fitsSchema(itself, 1)).toBe(false);
    expect(() => fitsSchema({ type: 'nonsense' }, 1)).toThrow(bad);
  });

  test('looks at as much as the value is large', () => {
    const row = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
    const rows = Array.from({ length: 60_000 }, (_, a) => ({ a }));
    expect(fitsSchema({ type: 'array', items: row }, rows)).toBe(true);
    expect(fitsSchema({ type: 'array', items: row }, [...rows, {}])).toBe(false);
  });

  test('refuses what is asynchronous, and what is not there', () => {
    expect(() => compileSchema({ required: ['a', 5] })).toThrow('schema is invalid');
    expect(() => compileSchema({ $async: true })).toThrow('asynchronous schemas are not supported');
    expect(() => compileSchema({ $ref: '#/nowhere' })).toThrow(bad);
  });

  test.each([10, 150, 300, 5_000, 50_000])(
    'ATT-B12 of a value %s levels deep is a yes only where it can be told',
    (depth) => {
      const list: JsonSchema = { type: 'object', properties: { of: { $ref: '#' } } };
      const deep = nested(depth - 1, {}, (of) => ({ of }));
      expect(fitsSchema(list, deep)).toBe(depth <= 200);
      expect(validateArgs({ inputSchema: list }, deep)).toMatchObject({ ok: depth <= 200 });
      const fits = compilePredicate(list);
      if (depth <= 200) expect(fits(deep)).toBe(true);
      else expect(() => fits(deep)).toThrow('would go too deep');
    },
  );

  test.each([10, 150, 300, 5_000, 50_000])('ATT-B12 by a schema %s members deep is refused by its depth', (depth) => {
    const schema = nested(depth, { type: 'string' }, (a) => ({ type: 'object', properties: { a } }));
    const said = depth < 200 ? 'fits' : 'the schema is nested deeper than 400 levels';
    for (const compile of [compileSchema, compilePredicate]) {
      const outcome = () => (compile(schema)(nested(Math.min(depth, 199), 'x', (a) => ({ a }))) ? 'fits' : 'does not');
      if (said === 'fits') expect(outcome()).toBe(said);
      else expect(outcome).toThrow(said);
    }
  });

  test.each([10, 300, 5_000])('ATT-B12 by a chain of %s references comes to an end', (length) => {
    const $defs = Object.fromEntries(Array.from({ length }, (_, n) => [`d${n}`, { $ref: `#/$defs/d${n + 1}` }]));
    const schema = { $ref: '#/$defs/d0', $defs: { ...$defs, [`d${length}`]: { type: 'string' } } };
    const told = () => [fitsSchema(schema, 'x'), fitsSchema(schema, 1)];
    if (length < 5_000) expect(told()).toEqual([true, false]);
    else expect(told).toThrow('too large');
  });
});

function nested(depth: number, inner: unknown, around: (value: unknown) => JsonSchema): JsonSchema {
  let value = inner;
  for (let level = 0; level < depth; level++) value = around(value);
  return value as JsonSchema;
}
