import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  fromStrictArgs,
  toAnthropicOutput,
  toAnthropicSchema,
  toDialect,
  toGeminiSchema,
  toOpenAISchema,
  toStrictSchema,
} from '../../../src/adapters/schema/index.ts';
import type { JsonSchema } from '../../../src/contracts/index.ts';
import { toJsonSchema } from '../../../src/gate/index.ts';

const object = (properties: Record<string, unknown>, ...required: string[]): JsonSchema => ({
  type: 'object',
  properties,
  ...(required.length > 0 ? { required } : {}),
});
const gemini = (member: unknown) => {
  const converted = toGeminiSchema(object({ p: member })) as { properties: { p: unknown } };
  return converted.properties.p;
};

/** Keys of every node, as Gemini would meet them. */
function keysIn(node: unknown, found = new Set<string>()): Set<string> {
  if (typeof node !== 'object' || node === null) return found;
  for (const [key, value] of Object.entries(node)) {
    found.add(key);
    if (key === 'properties') for (const member of Object.values(value as object)) keysIn(member, found);
    else if (key === 'items') keysIn(value, found);
    else if (key === 'anyOf') for (const member of value as unknown[]) keysIn(member, found);
  }
  return found;
}

const known = 'type nullable description properties required items anyOf enum format minimum maximum minItems maxItems';

describe('F10 Gemini', () => {
  test('one type a node, nullable, no unknown keyword, at every depth', () => {
    const children = [
      { type: ['string', 'null'] },
      { type: 'integer', exclusiveMinimum: 0 },
      { type: 'object', properties: { k: { const: 'x' } }, additionalProperties: false, $schema: 'y' },
    ];
    const converted = toGeminiSchema({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        a: { type: ['string', 'null'] },
        b: { type: 'integer', exclusiveMinimum: 0 },
        c: { anyOf: children },
        d: { type: 'array', items: { anyOf: children }, uniqueItems: true, contains: {} },
        e: { const: 'only' },
      },
      patternProperties: { x: {} },
      additionalProperties: false,
    });
    const nested = [
      { type: 'STRING' },
      { type: 'INTEGER', minimum: 0, description: 'more than 0' },
      { type: 'OBJECT', properties: { k: { type: 'STRING', enum: ['x'], format: 'enum' } } },
    ];
    expect(converted).toEqual({
      type: 'OBJECT',
      properties: {
        a: { type: 'STRING', nullable: true },
        b: { type: 'INTEGER', minimum: 0, description: 'more than 0' },
        c: { anyOf: nested, nullable: true },
        d: { type: 'ARRAY', items: { anyOf: nested, nullable: true } },
        e: { type: 'STRING', enum: ['only'], format: 'enum' },
      },
    });
    for (const key of keysIn(converted)) expect(known.split(' ')).toContain(key);
  });

  test.each<[string, unknown, unknown]>([
    [
      'a type list',
      { type: ['string', 'integer', 'null'] },
      { anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }], nullable: true },
    ],
    [
      'anyOf with null',
      { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'd' },
      { type: 'STRING', nullable: true, description: 'd' },
    ],
    [
      'oneOf',
      { oneOf: [{ type: 'string' }, { type: 'boolean' }] },
      { anyOf: [{ type: 'STRING' }, { type: 'BOOLEAN' }] },
    ],
    [
      'nested unions',
      { anyOf: [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'number' }] },
      { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }], nullable: true },
    ],
    ['an enum with null', { enum: ['a', null] }, { type: 'STRING', enum: ['a'], format: 'enum', nullable: true }],
    ['numbers to choose from', { type: 'integer', enum: [1, 2] }, { type: 'INTEGER', description: 'one of [1,2]' }],
    [
      'an empty string to choose',
      { type: 'string', enum: ['', 'a'] },
      { type: 'STRING', description: 'one of ["","a"]' },
    ],
    [
      'a format it does not know',
      { type: 'string', format: 'email', description: 'to' },
      { type: 'STRING', description: 'to (format email)' },
    ],
    ['a format it knows', { type: 'string', format: 'date-time' }, { type: 'STRING', format: 'date-time' }],
    ['a record', { type: 'object', additionalProperties: { type: 'string' } }, { type: 'OBJECT' }],
    [
      'an array of anything',
      { type: 'array' },
      {
        type: 'ARRAY',
        items: { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }, { type: 'BOOLEAN' }, { type: 'OBJECT' }] },
      },
    ],
    [
      'a tuple',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'string' }], items: false },
      { type: 'ARRAY', items: { type: 'STRING' } },
    ],
    [
      'allOf',
      { allOf: [object({ a: { type: 'string' } }, 'a'), object({ b: { type: 'number' } })] },
      { type: 'OBJECT', properties: { a: { type: 'STRING' }, b: { type: 'NUMBER' } }, required: ['a'] },
    ],
    [
      'null alone',
      { type: 'null' },
      { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }, { type: 'BOOLEAN' }, { type: 'OBJECT' }], nullable: true },
    ],
    ['a reference to nowhere', { $ref: '#/$defs/none', description: 'd' }, { type: 'OBJECT', description: 'd' }],
  ])('%s', (_what, schema, expected) => {
    expect(gemini(schema)).toEqual(expected);
  });

  test('references are written out; one that leads back to itself ends', () => {
    const tree = object({ name: { type: 'string' }, kids: { type: 'array', items: { $ref: '#/$defs/tree' } } }, 'name');
    const converted = toGeminiSchema({ ...object({ root: { $ref: '#/$defs/tree' } }), $defs: { tree } });
    expect(converted).toEqual({
      type: 'OBJECT',
      properties: {
        root: {
          type: 'OBJECT',
          properties: { name: { type: 'STRING' }, kids: { type: 'ARRAY', items: { type: 'OBJECT' } } },
          required: ['name'],
        },
      },
    });
  });

  test('no arguments: no schema', () => {
    expect(toGeminiSchema(object({}))).toBeUndefined();
  });

  test('a union at the root is one object of all members', () => {
    const converted = toGeminiSchema({
      type: 'object',
      anyOf: [object({ k: { const: 'a' }, x: { type: 'string' } }, 'k', 'x'), object({ k: { const: 'b' } }, 'k')],
    });
    expect(converted).toMatchObject({ type: 'OBJECT', required: ['k'] });
    expect(Object.keys(converted?.properties as object)).toEqual(['k', 'x']);
  });

  test('the original is left as it was', () => {
    const schema = object({ a: { type: ['string', 'null'] } });
    const before = JSON.stringify(schema);
    toDialect(schema, 'gemini');
    expect(JSON.stringify(schema)).toBe(before);
  });
});

describe('F12 OpenAI strict', () => {
  test('what it cannot say sends the tool as it is', () => {
    const shape = { a: z.string(), b: z.number().optional() };
    const withRecord = toJsonSchema(z.object({ ...shape, m: z.record(z.string(), z.string()) }));
    expect(toDialect(withRecord, 'openai-strict').strict).toBe(false);
    expect(toDialect(toJsonSchema(z.object(shape)), 'openai-strict')).toEqual({
      strict: true,
      schema: {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: ['number', 'null'] } },
        required: ['a', 'b'],
        additionalProperties: false,
      },
    });
  });

  test('closed and complete at every depth; nullable but required stays required', () => {
    const schema = object(
      {
        n: { type: ['string', 'null'] },
        o: object({ p: { enum: ['x', 'y'] }, q: { anyOf: [{ type: 'string' }, object({ r: { type: 'boolean' } })] } }),
        l: { type: 'array', items: object({ s: { $ref: '#/$defs/s' } }) },
      },
      'n',
    );
    expect(toStrictSchema({ ...schema, $defs: { s: object({ t: { type: 'string' } }, 't') } })).toEqual({
      type: 'object',
      properties: {
        n: { type: ['string', 'null'] },
        o: {
          type: ['object', 'null'],
          properties: {
            p: { type: ['string', 'null'], enum: ['x', 'y', null] },
            q: {
              anyOf: [
                { type: 'string' },
                {
                  type: 'object',
                  properties: { r: { type: ['boolean', 'null'] } },
                  required: ['r'],
                  additionalProperties: false,
                },
                { type: 'null' },
              ],
            },
          },
          required: ['p', 'q'],
          additionalProperties: false,
        },
        l: {
          type: ['array', 'null'],
          items: {
            type: 'object',
            properties: { s: { anyOf: [{ $ref: '#/$defs/s' }, { type: 'null' }] } },
            required: ['s'],
            additionalProperties: false,
          },
        },
      },
      required: ['n', 'o', 'l'],
      additionalProperties: false,
      $defs: {
        s: { type: 'object', properties: { t: { type: 'string' } }, required: ['t'], additionalProperties: false },
      },
    });
  });

  test.each<[string, JsonSchema]>([
    ['a record', object({ m: { type: 'object', additionalProperties: { type: 'string' } } })],
    [
      'an open object',
      object({ m: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true } }),
    ],
    ['any value', object({ m: {} })],
    ['an array of anything', object({ m: { type: 'array' } })],
    ['allOf', object({ m: { allOf: [{ type: 'string' }] } })],
    ['a union at the root', { type: 'object', anyOf: [object({})] }],
    ['a dangling reference', object({ m: { $ref: '#/$defs/x' } })],
    ['an open root', { ...object({ a: { type: 'string' } }), additionalProperties: { type: 'string' } }],
  ])('not %s', (_what, schema) => {
    expect(toStrictSchema(schema)).toBeUndefined();
  });

  test('nulls that strictness made are taken back, no others', () => {
    const schema: JsonSchema = {
      ...object(
        {
          opt: { type: 'string' },
          may: { type: ['string', 'null'] },
          must: { type: ['string', 'null'] },
          deep: object({ x: { type: 'number' }, any: {} }),
          list: { type: 'array', items: { $ref: '#/$defs/item' } },
          either: { anyOf: [{ type: 'string' }, object({ y: { type: 'string' } })] },
        },
        'must',
      ),
      $defs: { item: object({ z: { type: 'string' } }) },
    };
    const args = {
      opt: null,
      may: null,
      must: null,
      deep: { x: null, any: null },
      list: [{ z: null }, { z: 'q' }],
      either: { y: null },
    };
    const before = JSON.stringify(args);
    expect(fromStrictArgs(schema, args)).toEqual({
      may: null,
      must: null,
      deep: { any: null },
      list: [{}, { z: 'q' }],
      either: {},
    });
    expect(JSON.stringify(args)).toBe(before);
    const clean = { must: 'a' };
    expect(fromStrictArgs(schema, clean)).toBe(clean);
    expect(fromStrictArgs(schema, 'text')).toBe('text');
  });
});

describe('CASE-P2 a null that strictness made is taken back by the branch that the value is of', () => {
  const p = object({ t: { const: 'p' }, o: { type: 'string' } }, 't');
  const q = object({ t: { const: 'q' }, o: { type: ['string', 'null'] } }, 't', 'o');
  const schema = object({ u: { anyOf: [p, q] } }, 'u');

  test.each([
    ['p', { u: { t: 'p' } }],
    ['q', { u: { t: 'q', o: null } }],
  ])('which its constant %s names', (t, expected) => {
    expect(toDialect(schema, 'openai-strict').strict).toBe(true);
    expect(fromStrictArgs(schema, { u: { t, o: null } })).toEqual(expected);
  });

  test('which its values and its members name', () => {
    const kinds = { anyOf: [object({ t: { enum: ['a', 'b'] }, o: { type: 'string' } }, 't'), q] };
    const list = object({ l: { type: 'array', items: kinds } }, 'l');
    expect(fromStrictArgs(list, { l: ['b', 'q'].map((t) => ({ t, o: null })) })).toEqual({
      l: [{ t: 'b' }, { t: 'q', o: null }],
    });
    const other = {
      anyOf: [object({ x: { type: 'string' }, o: { type: 'string' } }, 'x'), object({ o: { type: 'null' } })],
    };
    expect(fromStrictArgs(object({ u: other }), { u: { x: 'a', o: null } })).toEqual({ u: { x: 'a' } });
  });

  test('and stays where that is not told', () => {
    const open = object({ u: { anyOf: [object({ o: { type: 'string' } }), object({ o: { type: 'null' } })] } });
    expect(fromStrictArgs(open, { u: { o: null } })).toEqual({ u: { o: null } });
  });
});

describe('CASE-P6 what else than an object a root takes', () => {
  const nullable = { ...object({ a: { type: 'string' } }), type: ['object', 'null'] };

  test('is left out in strict mode', () => {
    expect(toDialect(nullable, 'openai-strict')).toEqual({
      strict: true,
      schema: { ...object({ a: { type: ['string', 'null'] } }, 'a'), additionalProperties: false },
    });
  });

  test.each([
    ['a root that is no object', { type: ['string', 'null'] }],
    ['a reference to the root that may be null', { ...nullable, properties: { a: { $ref: '#' } }, required: ['a'] }],
    ['values for the root', { ...object({ a: { type: 'string' } }), enum: [{ a: 'x' }] }],
  ])('is not strict for %s', (_, schema) => {
    const { strict, schema: declared } = toDialect(schema, 'openai-strict');
    expect([strict, declared?.type]).toEqual([false, 'object']);
  });
});

describe('the others take JSON Schema, with an object at the root', () => {
  const union: JsonSchema = {
    $schema: 'x',
    type: 'object',
    $defs: { b: object({ k: { const: 'b' } }, 'k') },
    oneOf: [object({ k: { const: 'a' }, n: { type: 'number' } }, 'k', 'n'), { $ref: '#/$defs/b' }],
  };
  test.each([
    ['OpenAI', toOpenAISchema],
    ['Anthropic', toAnthropicSchema],
  ])('%s: a union at the root becomes one object', (_title, convert) => {
    expect(convert(union)).toEqual({
      type: 'object',
      $defs: union.$defs,
      properties: { k: { anyOf: [{ const: 'a' }, { const: 'b' }] }, n: { type: 'number' } },
      required: ['k'],
    });
  });

  test('allOf and a reference at the root', () => {
    const schema = { $ref: '#/$defs/a', $defs: { a: object({ x: { type: 'string' } }, 'x') } };
    expect(toAnthropicSchema(schema)).toMatchObject({
      type: 'object',
      properties: { x: { type: 'string' } },
      required: ['x'],
    });
    const both = { allOf: [object({ x: {} }, 'x'), object({ y: {} })] };
    expect(toAnthropicSchema(both)).toEqual({ type: 'object', properties: { x: {}, y: {} }, required: ['x'] });
  });

  test('OpenAI wants to know what an array holds', () => {
    const schema = object({ l: { type: 'array' }, e: { enum: [{ type: 'array' }] } });
    expect(toOpenAISchema(schema)).toEqual(
      object({ l: { type: 'array', items: {} }, e: { enum: [{ type: 'array' }] } }),
    );
  });

  test('everything else is left alone', () => {
    const schema = object(
      { a: { type: ['string', 'null'], pattern: '^x' }, b: { anyOf: [{ const: 1 }, { not: {} }] } },
      'a',
    );
    expect(toAnthropicSchema(schema)).toEqual(schema);
    expect(toOpenAISchema(schema)).toEqual(schema);
  });
});

describe('the format of an answer', () => {
  const schema = object(
    {
      a: { type: 'string', minLength: 1, format: 'email' },
      l: { type: 'array', items: object({ n: { type: 'number', minimum: 0 } }) },
    },
    'a',
  );

  test('Anthropic: closed objects, optional members, no limits', () => {
    expect(toAnthropicOutput(schema)).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string', format: 'email' },
        l: {
          type: 'array',
          items: { type: 'object', properties: { n: { type: 'number' } }, additionalProperties: false },
        },
      },
      required: ['a'],
      additionalProperties: false,
    });
    expect(
      toAnthropicOutput(object({ m: { type: 'object', additionalProperties: { type: 'string' } } })),
    ).toBeUndefined();
  });

  test('OpenAI: strict only where nothing is optional, since the text is checked as it is', () => {
    expect(toStrictSchema(schema, { optionals: 'refuse' })).toBeUndefined();
    expect(toStrictSchema(object({ a: { type: 'string' } }, 'a'), { optionals: 'refuse' })).toBeDefined();
  });
});

test('F10 what fits the original fits every dialect that is JSON Schema', () => {
  const ajv = new Ajv2020({ strict: false });
  const samples: [JsonSchema, unknown[]][] = [
    [object({ a: { type: 'string', minLength: 3 } }, 'a'), [{ a: 'abc' }]],
    [
      { type: 'object', anyOf: [object({ a: { type: 'string' } }, 'a'), object({ b: { type: 'number' } }, 'b')] },
      [{ a: 'x' }, { b: 1 }],
    ],
    [{ type: 'object', additionalProperties: { type: 'number' } }, [{ q: 1 }, {}]],
  ];
  for (const [schema, values] of samples) {
    for (const dialect of ['openai', 'anthropic'] as const) {
      const check = ajv.compile(toDialect(schema, dialect).schema ?? {});
      for (const value of values) expect(check(value), JSON.stringify([dialect, schema, value])).toBe(true);
    }
  }
});
