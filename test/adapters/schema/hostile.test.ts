import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
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

const object = (properties: Record<string, unknown>, ...required: string[]): JsonSchema => ({
  type: 'object',
  properties,
  ...(required.length > 0 ? { required } : {}),
});
const ref = (name: string) => ({ $ref: `#/$defs/${name}` });
const dialects = ['openai', 'openai-strict', 'anthropic', 'gemini'] as const;

/** Each of `levels` definitions made of two references to the next. */
function doubled(levels: number, pair: (both: JsonSchema[]) => JsonSchema): JsonSchema {
  const $defs: Record<string, JsonSchema> = {};
  for (let level = 0; level < levels; level++) $defs[`d${level}`] = pair([ref(`d${level + 1}`), ref(`d${level + 1}`)]);
  $defs[`d${levels}`] = object({ end: { type: 'string' } });
  return { ...object({ p: ref('d0') }, 'p'), $defs };
}

describe('F10 a hostile schema of one tool breaks no request', () => {
  const a = { allOf: [ref('A')] };
  test.each<[string, JsonSchema]>([
    ['a part that is itself', { ...object({ p: ref('A') }), $defs: { A: a } }],
    ['parts of one another', { ...object({ p: ref('A') }), $defs: { A: { allOf: [ref('B')] }, B: a } }],
    ['a root that is its own part', { ...object({ p: {} }), allOf: [{ $ref: '#' }] }],
    ['a root that is its own branch', { ...object({ p: {} }), anyOf: [{ $ref: '#' }, object({ q: {} })] }],
    ['a root that refers to itself', { $ref: '#' }],
    ['a branch that is itself', { ...object({ p: ref('A') }), $defs: { A: { anyOf: [ref('A'), { type: 'null' }] } } }],
    [
      'a member that is the whole, as a part',
      { ...object({ p: ref('A') }), $defs: { A: object({ next: { allOf: [ref('A')], description: 'more' } }) } },
    ],
  ])('%s', (_what, schema) => {
    for (const dialect of dialects) expect(() => toDialect(schema, dialect), dialect).not.toThrow();
    toStrictSchema(schema);
    toAnthropicOutput(schema);
    expect(fromStrictArgs(schema, { p: { p: null } })).toBeDefined();
  });

  test('what refers to itself as a part ends in an open object that keeps its words', () => {
    const $defs = { A: object({ next: { allOf: [ref('A')], description: 'more' }, n: { type: 'number' } }, 'n') };
    expect(toGeminiSchema({ ...object({ p: ref('A') }), $defs })).toEqual({
      type: 'OBJECT',
      properties: {
        p: {
          type: 'OBJECT',
          properties: { next: { type: 'OBJECT', description: 'more' }, n: { type: 'NUMBER' } },
          required: ['n'],
        },
      },
    });
  });

  test('a value of any depth is not said to be an object', () => {
    const json = { anyOf: [{ type: 'string' }, { type: 'array', items: ref('Json') }] };
    const converted = toGeminiSchema({ ...object({ p: ref('Json') }), $defs: { Json: json } });
    expect(converted).toMatchObject({
      properties: {
        p: { anyOf: [{ type: 'STRING' }, { items: { anyOf: expect.arrayContaining([{ type: 'STRING' }]) } }] },
      },
    });
  });

  test.each<[string, (both: JsonSchema[]) => JsonSchema]>([
    ['members', ([l, r]) => object({ l, r })],
    ['branches', (anyOf) => ({ anyOf })],
    ['branches beside members', ([l, r]) => ({ ...object({ l }), anyOf: [r as JsonSchema, object({ q: l })] })],
    ['parts', (allOf) => ({ allOf })],
  ])('references doubled at each level do not blow up: %s', (_what, pair) => {
    const schema = doubled(40, pair);
    const size = JSON.stringify(schema).length;
    for (const dialect of dialects) {
      const converted = JSON.stringify(toDialect(schema, dialect).schema);
      expect(converted.length, dialect).toBeLessThan(dialect === 'gemini' ? 1_000_000 : 3 * size);
    }
    expect(fromStrictArgs(schema, { p: null })).toBeDefined();
    for (const convert of [toOpenAISchema, toAnthropicSchema]) {
      const root = convert({ ...ref('d0'), $defs: schema.$defs as JsonSchema });
      expect(JSON.stringify(root).length).toBeLessThan(3 * size);
    }
  });

  test('distinct forms of a member, met again and again, are listed once', () => {
    const $defs: Record<string, JsonSchema> = { d30: object({ x: { const: 30 } }) };
    for (let at = 0; at < 30; at++) {
      $defs[`d${at}`] = { anyOf: [ref(`d${at + 1}`), { ...object({ x: { const: at } }), anyOf: [ref(`d${at + 1}`)] }] };
    }
    const { properties } = toAnthropicSchema({ ...ref('d0'), $defs }) as { properties: { x: { anyOf: unknown[] } } };
    expect(properties.x.anyOf).toHaveLength(31);
  });

  test('nested beyond reason', () => {
    let deep: JsonSchema = { type: 'string' };
    for (let level = 0; level < 4000; level++) deep = object({ p: deep });
    for (const dialect of dialects) expect(() => toDialect(deep, dialect), dialect).not.toThrow();
    const chain: Record<string, JsonSchema> = { d8000: object({ x: {} }) };
    for (let at = 0; at < 8000; at++) chain[`d${at}`] = ref(`d${at + 1}`);
    for (const dialect of dialects) {
      expect(() => toDialect({ ...ref('d0'), $defs: chain }, dialect), dialect).not.toThrow();
    }
  });
});

describe('a union at the root', () => {
  const $defs = {
    Pet: { oneOf: [ref('Cat'), ref('Dog')] },
    Cat: object({ kind: { const: 'cat' }, lives: { type: 'number' } }, 'kind', 'lives'),
    Dog: { allOf: [object({ kind: { const: 'dog' } }, 'kind'), object({ tricks: { type: 'number' } })] },
  };
  test.each([
    ['OpenAI', toOpenAISchema],
    ['Anthropic', toAnthropicSchema],
  ])('%s: a branch that refers to another union has all of its members', (_title, convert) => {
    const schema = { anyOf: [ref('Pet'), object({ kind: { const: 'stone' } }, 'kind')], $defs };
    expect(convert(schema)).toEqual({
      type: 'object',
      properties: {
        kind: { anyOf: [{ const: 'cat' }, { const: 'dog' }, { const: 'stone' }] },
        lives: { type: 'number' },
        tricks: { type: 'number' },
      },
      required: ['kind'],
      $defs,
    });
    expect(convert({ ...ref('Pet'), $defs })).toMatchObject({
      required: ['kind'],
      properties: { lives: {}, tricks: {} },
    });
  });

  test('a reference into a branch that is gone is any value', () => {
    const converted = toAnthropicSchema({
      anyOf: [
        object({ a: { type: 'string' } }),
        object({ b: { $ref: '#/anyOf/0/properties/a', description: 'as a' } }),
      ],
    });
    expect(converted.properties).toEqual({ a: { type: 'string' }, b: { description: 'as a' } });
  });
});

describe('members named like keywords', () => {
  const names = (
    '$schema $id id $ref $defs definitions type title description default examples example format enum const items ' +
    'prefixItems properties patternProperties additionalProperties required anyOf oneOf allOf not if then else nullable ' +
    'minimum maximum pattern minItems maxItems contains dependencies constructor toString hasOwnProperty __proto__'
  ).split(' ');
  const members = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  const args = Object.fromEntries(names.map((name) => [name, 'v']));
  const inner = { ...object(members, ...names), additionalProperties: false };
  const ajv = new Ajv2020({ strict: false });

  test.each<[string, JsonSchema, unknown]>([
    ['at the root', inner, args],
    ['below', object({ p: inner, l: { type: 'array', items: inner } }, 'p', 'l'), { p: args, l: [args] }],
    ['in a union at the root', { anyOf: [inner, object({ q: {} }, 'q')] }, args],
    ['by reference', { ...object({ p: ref('I') }, 'p'), $defs: { I: inner } }, { p: args }],
  ])('%s: each is there, with its own schema', (_where, schema, value) => {
    for (const dialect of ['openai', 'openai-strict', 'anthropic'] as const) {
      const converted = toDialect(schema, dialect).schema as JsonSchema;
      const holder = JSON.stringify(converted);
      for (const name of names)
        expect(holder, `${dialect} ${name}`).toContain(`${JSON.stringify(name)}:{"type":"string"}`);
      expect(ajv.compile(converted)(value), dialect).toBe(true);
    }
    const gemini = JSON.stringify(toGeminiSchema(schema));
    // Which the SDK would lose from the members, but not from the required names.
    expect(gemini).not.toContain('__proto__');
    for (const name of names.filter((each) => each !== '__proto__'))
      expect(gemini, name).toContain(`${JSON.stringify(name)}:{"type":"STRING"}`);
    expect(JSON.stringify(toAnthropicOutput(inner)?.properties)).toBe(JSON.stringify(members));
    expect(fromStrictArgs(schema, value)).toEqual(value);
  });
});
