import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod-3';
import type { JsonSchema, SchemaLike } from '../../src/contracts/index.ts';
import { ensureValidator, toJsonSchema, validateArgs } from '../../src/gate/index.ts';

const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more });
const check = (inputSchema: JsonSchema, args: unknown) => validateArgs({ inputSchema }, args);
const checkZod = (source: SchemaLike, args: unknown) =>
  validateArgs({ inputSchema: toJsonSchema(source), source }, args);

describe('CASE-P2 IOP-C1 null for what is absent', () => {
  const schema = object(
    {
      a: { type: 'string' },
      b: { type: 'number' },
      e: { enum: ['x', 'y'] },
      d: { type: 'number', default: 3 },
      n: { type: ['string', 'null'] },
      l: { type: 'array', items: object({ z: { type: 'string' } }) },
      u: { anyOf: [object({ t: { const: 'p' }, o: { type: 'string' } }), { type: 'boolean' }] },
    },
    { required: ['a'] },
  );

  test('is left out where the member is optional and takes none, and a default stands in for it', () => {
    const args = { a: 'x', b: null, e: null, d: null, n: null, l: [{ z: null }, { z: 'q' }], u: { t: 'p', o: null } };
    const before = structuredClone(args);
    expect(check(schema, args)).toEqual({
      ok: true,
      args: { a: 'x', d: 3, n: null, l: [{}, { z: 'q' }], u: { t: 'p' } },
    });
    expect(args).toEqual(before);
    expect(check(schema, { a: 'x', b: null, l: '[{"z": null}]' })).toEqual({
      ok: true,
      args: { a: 'x', d: 3, l: [{}] },
    });
  });

  test('of a required member, or in a list, is refused as it is', () => {
    expect(check(schema, { a: null, b: null })).toMatchObject({
      ok: false,
      message: expect.stringContaining('a: expected string, got null'),
    });
    expect(check(object({ l: { type: 'array', items: { type: 'string' } } }), { l: [null] })).toMatchObject({
      ok: false,
    });
    expect(check(schema, { a: 'x', b: null, e: 'z' })).toMatchObject({ ok: false });
  });
});

describe('F13 strings that hold JSON', () => {
  const ids = object({ ids: { type: 'array', items: { type: 'string' } }, n: { type: 'number' } });

  test('are parsed where an array or a number was expected', () => {
    const args = { ids: '["a"]', n: '5' };
    expect(check(ids, args)).toEqual({ ok: true, args: { ids: ['a'], n: 5 } });
    expect(args).toEqual({ ids: '["a"]', n: '5' });
  });

  test('also inside one another', () => {
    const numbers = object({
      list: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } },
    });
    expect(check(numbers, { list: '["{\\"n\\": \\"5\\"}"]' })).toEqual({ ok: true, args: { list: [{ n: 5 }] } });
  });

  test.each([
    ['boolean', 'true', true],
    ['null', 'null', null],
    ['object', '{"a":1}', { a: 1 }],
    ['integer', '-3', -3],
    ['number', '1.5', 1.5],
  ])('%s', (type, text, value) => {
    expect(check(object({ v: { type } }), { v: text })).toEqual({ ok: true, args: { v: value } });
  });

  test('stay as they are where a string fits', () => {
    expect(check(object({ v: { type: 'string' } }), { v: '5' })).toEqual({ ok: true, args: { v: '5' } });
    expect(check(object({ v: { type: ['string', 'number'] } }), { v: '5' })).toEqual({ ok: true, args: { v: '5' } });
    expect(check(object({ v: {} }), { v: '[1]' })).toEqual({ ok: true, args: { v: '[1]' } });
  });

  test('are parsed for one branch of a union', () => {
    const nullable = object({ v: { anyOf: [{ type: 'array', items: { type: 'number' } }, { type: 'null' }] } });
    expect(check(nullable, { v: '[1]' })).toEqual({ ok: true, args: { v: [1] } });
  });

  test.each([
    ['five', 'number'],
    ['1e999', 'number'],
    ['12345678901234567890', 'number'],
    ['1.5', 'integer'],
    ['[1', 'array'],
    ['{"a":1}', 'array'],
    ['"true"', 'boolean'],
  ])('%j is no %s', (text, type) => {
    const result = check(object({ v: { type } }), { v: text });
    expect(result).toMatchObject({ ok: false, message: expect.stringContaining(`v: expected ${type}, got "`) });
  });

  test('HUNT-P1 also the arguments as a whole', () => {
    expect(check(ids, '{"ids": "[\\"a\\"]"}')).toEqual({ ok: true, args: { ids: ['a'] } });
    for (const text of ['[1]', '"{}"', '5', 'null', '{"ids":', '']) {
      expect(check(ids, text)).toEqual({ ok: false, message: 'arguments: expected object, got string' });
    }
  });

  test('nothing is taken over unless everything fits', () => {
    const result = check(ids, { ids: '[1]', n: '5' });
    expect(result).toEqual({ ok: false, message: expect.stringContaining('ids: expected array') });
  });
});

describe('messages for a model', () => {
  test.each<[string, JsonSchema, unknown, string]>([
    ['missing', object({ a: { type: 'string' } }, { required: ['a'] }), {}, 'a: is required'],
    [
      'nested',
      object({ a: { type: 'array', items: object({ b: { type: 'string' } }) } }),
      { a: [{ b: 1 }] },
      'a[0].b: expected string, got 1',
    ],
    ['enum', object({ a: { enum: ['x', 'y'] } }), { a: 'z' }, 'a: expected one of "x", "y", got "z"'],
    ['const', object({ a: { const: 1 } }), { a: 2 }, 'a: expected 1, got 2'],
    ['unknown', object({}, { additionalProperties: false }), { q: 1 }, 'arguments: unknown member "q"'],
    [
      'union',
      object({ a: { anyOf: [{ type: 'number' }, { type: 'null' }] } }),
      { a: 'x' },
      'a: expected number or null, got "x"',
    ],
    ['range', object({ a: { type: 'number', minimum: 1 } }), { a: 0 }, 'a: must be >= 1, got 0'],
    ['inherited', object({ toString: { type: 'string' } }, { required: ['toString'] }), {}, 'toString: is required'],
  ])('%s', (_, schema, args, message) => {
    expect(check(schema, args)).toEqual({ ok: false, message });
  });

  test('are short whatever the arguments are', () => {
    const numbers = object({ a: { type: 'array', items: { type: 'number' } } });
    const result = check(numbers, { a: Array.from({ length: 1000 }, () => 'x'.repeat(1000)) });
    expect(result).toMatchObject({ ok: false, message: expect.stringMatching(/and 995 more$/) });
    expect(result.ok ? '' : result.message).toSatisfy((message: string) => message.length < 1000);
  });

  test.each([null, undefined, 'text', 5, [1]])('%j is no object of arguments', (args) => {
    expect(check({ type: 'object' }, args)).toMatchObject({
      ok: false,
      message: expect.stringMatching(/expected object/),
    });
  });
});

describe('defaults and copies', () => {
  test('defaults are filled in on a copy', () => {
    const args = { nested: {} };
    const schema = object({ a: { default: [1] }, nested: object({ b: { type: 'number', default: 2 } }) });
    expect(check(schema, args)).toEqual({ ok: true, args: { a: [1], nested: { b: 2 } } });
    expect(args).toEqual({ nested: {} });
  });

  test('what is accepted shares nothing with what was passed', () => {
    const args = { list: [1] };
    const result = check({ type: 'object' }, args);
    args.list.push(2);
    expect(result).toEqual({ ok: true, args: { list: [1] } });
  });
});

describe('F14 zod sources', () => {
  const sources: [string, typeof z][] = [
    ['zod 4', z],
    ['zod 3', z3 as unknown as typeof z],
  ];

  test.each(sources)('%s: refinements are checked', async (_, zod) => {
    const range = zod.object({ from: zod.number(), to: zod.number() }).refine((v) => v.from <= v.to, {
      message: 'from must not be above to',
      path: ['from'],
    });
    expect(await checkZod(range, { from: 1, to: 2 })).toEqual({ ok: true, args: { from: 1, to: 2 } });
    expect(await checkZod(range, { from: 3, to: '2' })).toEqual({
      ok: false,
      message: 'from: from must not be above to',
    });
  });

  test.each(sources)('ATT-B7 %s: validated arguments are what the schema makes of them', async (_, zod) => {
    const source = zod.object({
      cmd: zod
        .string()
        .trim()
        .transform((text) => text.normalize('NFKC').toLowerCase()),
      both: zod.string().default('q').optional(),
    });
    const args = { cmd: '  ＲＭ -rf /', extra: 1 };
    expect(await checkZod(source, args)).toEqual({ ok: true, args: { cmd: 'rm -rf /', both: 'q' } });
    expect(args).toEqual({ cmd: '  ＲＭ -rf /', extra: 1 });
  });

  test.each(sources)('ATT-B7 %s: an output that is no JSON, or not taken again, is refused', async (_, zod) => {
    let n = 0;
    const cases: [(text: string) => unknown, string][] = [
      [(text: string) => new Date(text), "the output of the tool's schema.a is not JSON: Date"],
      [(text: string) => new Map([[text, 1]]), 'Map'],
      [(text: string) => text.length, 'does not take its own output'],
      [(text: string) => `${text}!`, 'does not take its own output'],
      [() => `${n++}`, 'does not take its own output'],
    ];
    for (const [transform, message] of cases) {
      const source = zod.object({ a: zod.string().transform(transform) });
      expect(await checkZod(source, { a: '2026-11-28' })).toMatchObject({
        ok: false,
        message: expect.stringContaining(message),
      });
    }
    const whole = zod.object({ a: zod.string() }).transform(({ a }) => a);
    expect(await checkZod(whole, { a: 'x' })).toMatchObject({
      ok: false,
      message: expect.stringContaining('no object'),
    });
  });

  test.each(sources)('ATT-B7 %s: asynchronous refinements and transforms are awaited', async (_, zod) => {
    const source = zod.object({
      a: zod
        .string()
        .refine(async (text) => text !== 'no', 'said no')
        .transform(async (text) => text.trim()),
    });
    expect(await checkZod(source, { a: ' yes ' })).toEqual({ ok: true, args: { a: 'yes' } });
    expect(await checkZod(source, { a: 'no' })).toEqual({ ok: false, message: 'a: said no' });
  });

  test.each(sources)('%s: a refinement that cannot be run is a message, not a throw', async (_, zod) => {
    const slow = zod.object({
      a: zod.string().refine(async () => {
        throw new Error('broken slowly');
      }),
    });
    const broken = zod.object({
      a: zod.string().refine(() => {
        throw new Error('broken check');
      }),
    });
    expect(await checkZod(slow, { a: '' })).toMatchObject({
      ok: false,
      message: expect.stringContaining('broken slowly'),
    });
    expect(await checkZod(broken, { a: '' })).toMatchObject({
      ok: false,
      message: expect.stringContaining('broken check'),
    });
  });
});

describe('REV-F1 Standard Schemas of other libraries', () => {
  type Validate = (value: unknown) => unknown;
  const inputSchema = object({ to: { type: 'string' } }, { required: ['to'] });
  const standard = (validate: Validate) => ({
    version: 1 as const,
    vendor: 'by-hand',
    validate,
    jsonSchema: { input: () => inputSchema, output: () => inputSchema },
  });
  const objectOf = (validate: Validate) => ({ '~standard': standard(validate) }) as SchemaLike;
  const functionOf = (validate: Validate) => Object.assign(() => {}, { '~standard': standard(validate) }) as SchemaLike;
  const refuseEve: Validate = (value) => {
    const { to } = value as { to: string };
    return to.startsWith('eve@') ? { issues: [{ message: 'not to eve', path: [{ key: 'to' }] }] } : { value };
  };
  const later =
    (validate: Validate): Validate =>
    async (value) =>
      validate(value);
  // Some libraries have promises of their own.
  const thenable =
    (validate: Validate): Validate =>
    // biome-ignore lint/suspicious/noThenProperty: what is tested
    (value) => ({ then: (resolve: (result: unknown) => void) => resolve(validate(value)) });

  test.each([
    ['an object', objectOf, refuseEve],
    ['a function', functionOf, refuseEve],
    ['asynchronous', objectOf, later(refuseEve)],
    ['with a promise of its own', objectOf, thenable(refuseEve)],
  ] as const)('%s: its own check refuses', async (_, schemaOf, validate) => {
    const source = schemaOf(validate);
    expect(await checkZod(source, { to: 'ann@x' })).toEqual({ ok: true, args: { to: 'ann@x' } });
    expect(await checkZod(source, { to: 'eve@x' })).toEqual({ ok: false, message: 'to: not to eve' });
  });

  test('its output is what is taken', async () => {
    const trims = objectOf((value) => ({ value: { to: (value as { to: string }).to.trim() } }));
    expect(await checkZod(trims, { to: ' ann ' })).toEqual({ ok: true, args: { to: 'ann' } });
  });

  test('one that throws, rejects, or says nothing that is known lets nothing through', async () => {
    const throws = () => {
      throw new Error('broken check');
    };
    for (const validate of [throws, later(throws), () => undefined, () => ({}), () => 'yes', later(() => null)]) {
      expect(await checkZod(objectOf(validate), { to: 'x' })).toMatchObject({ ok: false });
    }
    expect(
      await checkZod(
        objectOf(() => ({ issues: [] })),
        { to: 'x' },
      ),
    ).toMatchObject({ ok: false });
  });

  test('a function that is no schema is none', () => {
    expect(() => toJsonSchema((() => {}) as never)).toThrow(/E_SCHEMA|no schema/);
  });
});

describe('hostile input', () => {
  test('ATT-B3 a pattern that its text makes slow, of a foreign server and of a model, holds nobody up', () => {
    for (const pattern of ['^(a+)+$', '^(a|aa)+$', '^((a+)b?)*$']) {
      const inputSchema = { type: 'object', properties: { x: { type: 'string', pattern } } };
      expect(validateArgs({ inputSchema }, { x: 'a'.repeat(30) })).toMatchObject({ ok: true });
      expect(validateArgs({ inputSchema }, { x: `${'a'.repeat(20_000)}!` })).toEqual({
        ok: false,
        message: expect.stringContaining('x: must match pattern'),
      });
      const ofItself = { ...inputSchema, properties: { x: { type: 'string', pattern, default: 'a'.repeat(3000) } } };
      expect(validateArgs({ inputSchema: ofItself }, {})).toMatchObject({ ok: true });
    }
  });

  test('ATT-B3 a schema whose unions multiply is not evaluated where that would take long', () => {
    const $defs: Record<string, JsonSchema> = { d24: { type: 'string' } };
    for (let n = 0; n < 24; n++) $defs[`d${n}`] = { anyOf: Array(2).fill({ $ref: `#/$defs/d${n + 1}` }) };
    const of = (from: number) => object({ x: { $ref: `#/$defs/d${from}` } }, { $defs });
    expect(check(of(0), { x: 1 })).toEqual({ ok: false, message: expect.stringContaining('would take too long') });
    expect(check(of(0), {})).toEqual({ ok: true, args: {} });
    expect(check(of(18), { x: 1 })).toEqual({ ok: false, message: 'x: expected string, got 1' });
    expect(check(of(18), { x: 'a' })).toEqual({ ok: true, args: { x: 'a' } });
  });

  test('ATT-B3 a schema that applies itself to the same value, and lists that are compared each with each, neither', () => {
    const itself = object({ x: { $ref: '#/$defs/a' } }, { $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }] } } });
    expect(check(itself, { x: 1 })).toEqual({ ok: false, message: expect.stringContaining('would take too long') });
    const unique = object({ x: { type: 'array', uniqueItems: true } });
    const items = (length: number) => Array.from({ length }, (_, n) => ({ n }));
    expect(check(unique, { x: items(300) })).toMatchObject({ ok: true });
    expect(check(unique, { x: items(3000) })).toEqual({
      ok: false,
      message: expect.stringContaining('would take too long'),
    });
  });

  test('what is only large is evaluated, also a tree of a schema that refers to itself', () => {
    const tree = object({ n: { type: 'number' }, of: { type: 'array', items: { $ref: '#' } } });
    let deep: Record<string, unknown> = { n: 0 };
    for (let n = 1; n < 90; n++) deep = { n, of: [deep, { n }] };
    expect(check(tree, deep)).toMatchObject({ ok: true });
    const rows = object({ rows: { type: 'array', items: object({ a: { type: 'number' } }, { required: ['a'] }) } });
    expect(check(rows, { rows: Array.from({ length: 20_000 }, (_, a) => ({ a })) })).toMatchObject({ ok: true });
  });

  test('a schema above ten thousand keywords is none', () => {
    const properties = Object.fromEntries(Array.from({ length: 6000 }, (_, n) => [`p${n}`, { type: 'string' }]));
    expect(check(object(properties), {})).toEqual({ ok: false, message: expect.stringContaining('too large') });
  });

  test('MUT-G15 two schemas of one $id have each a validator of its own', () => {
    const of = (name: string) => ({ $id: 'https://x/y', type: 'object', required: [name] });
    expect([check(of('a'), { a: 1 }).ok, check(of('b'), { b: 1 }).ok, check(of('b'), { a: 1 }).ok]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('__proto__ is data', () => {
    const args = JSON.parse('{"__proto__": {"polluted": "1"}, "constructor": {"prototype": {"polluted": 1}}}');
    const schema = object({ ['__proto__']: object({ polluted: { type: 'number' } }) });
    const result = check(schema, args);
    expect(result.ok).toBe(true);
    expect(Object.getPrototypeOf(result.ok && result.args)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    const parsed = check(object({ v: { type: 'object' } }), { v: '{"__proto__": {"polluted": 1}}' });
    expect(parsed.ok && (parsed.args.v as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('depth is bounded, also when it comes in a string', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(check({ type: 'object' }, { v: JSON.parse(deep.slice(99_000, 101_000)) })).toMatchObject({
      ok: false,
      message: expect.stringMatching(/deeper/),
    });
    expect(check(object({ v: { type: 'array' } }), { v: deep })).toMatchObject({ ok: false });
  });

  test.each<[string, JsonSchema]>([
    ['invalid', { type: 'nonsense' }],
    ['remote', { type: 'object', properties: { a: { $ref: 'https://example.com/schema.json' } } }],
    ['asynchronous', { type: 'object', $async: true }],
  ])('a schema that is %s lets nothing pass', (_, schema) => {
    expect(check(schema, {})).toMatchObject({ ok: false });
  });

  test('ids of foreign schemas do not meet', () => {
    const meta = 'https://json-schema.org/draft/2020-12/schema';
    expect(check({ ...object({ a: { type: 'string' } }), $id: meta }, { a: 1 })).toMatchObject({ ok: false });
    for (const type of ['string', 'number']) {
      const schema = object({ a: { $id: 'urn:same', type } });
      expect(check(schema, { a: type === 'string' ? 'x' : 1 })).toMatchObject({ ok: true });
    }
    expect(check(object({ a: { type: 'string' } }), { a: 'x' })).toMatchObject({ ok: true });
  });

  test('patterns that only older engines take are taken', () => {
    const schema = object({ a: { type: 'string', pattern: '^[\\w-\\.]+$' } });
    expect(check(schema, { a: 'a.b-c' })).toMatchObject({ ok: true });
    expect(check(schema, { a: 'a b' })).toMatchObject({ ok: false });
  });

  test('F13 never throws, never changes its input', () => {
    const types = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'];
    const schemas = fc.dictionary(fc.string({ maxLength: 4 }), fc.record({ type: fc.constantFrom(...types) }), {
      maxKeys: 4,
    });
    const value = fc.oneof(fc.anything({ withBigInt: true, withDate: true, withMap: true }), fc.json());
    fc.assert(
      fc.property(schemas, fc.dictionary(fc.string({ maxLength: 4 }), value), (properties, args) => {
        const before = Object.entries(args);
        const result = check(object(properties), args);
        expect(typeof result.ok).toBe('boolean');
        expect(Object.entries(args)).toEqual(before);
        if (result.ok) expect(check(object(properties), result.args)).toEqual(result);
      }),
    );
    fc.assert(fc.property(fc.anything(), (args) => typeof check({ type: 'object' }, args).ok === 'boolean'));
  });
});

test('a loaded validator needs no waiting', async () => {
  await ensureValidator();
  expect(ensureValidator()).toBeUndefined();
});
