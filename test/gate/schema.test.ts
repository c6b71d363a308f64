import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod-3';
import { z as z40 } from 'zod-3/v4';
import { defineTool } from '../../src/contracts/index.ts';
import { compileSchema, describeTool, toJsonSchema } from '../../src/gate/index.ts';

const refused = expect.objectContaining({ status: 'INVALID_ARGUMENT', code: 'E_SCHEMA' });

// One text for two libraries: their types are unrelated, their calls are the same.
function sample(zod: typeof z): z.ZodType {
  const pair = zod.object({ k: zod.string().describe('K') });
  return zod
    .object({
      described: zod.string().describe('A'),
      choice: zod.enum(['x', 'y']).describe('E').optional(),
      record: zod.record(zod.string(), zod.number()),
      anything: zod.record(zod.string(), zod.unknown()),
      list: zod.array(zod.string()).min(1).max(3),
      count: zod.number().int().default(3).describe('D'),
      both: zod.string().default('q').optional(),
      nested: zod.object({ deep: zod.object({ k: zod.boolean() }) }).describe('N'),
      nullable: zod.string().nullable(),
      tuple: zod.tuple([zod.string(), zod.number()]),
      union: zod.union([zod.string(), zod.number()]),
      kinds: zod.discriminatedUnion('t', [
        zod.object({ t: zod.literal('a'), n: zod.number() }),
        zod.object({ t: zod.literal('b') }),
      ]),
      transformed: zod.string().transform((text) => text.length),
      open: zod.object({}).passthrough(),
      closed: zod.object({ q: zod.string() }).strict(),
      twice: pair,
      again: pair.optional(),
    })
    .describe('root') as unknown as z.ZodType;
}

describe('S3-03 Zod or JSON Schema becomes JSON Schema', () => {
  const ours = toJsonSchema(sample(z));

  test('F14 zod 3 and zod 4 come out equal', () => {
    const three = toJsonSchema(sample(z3 as unknown as typeof z));
    expect(sorted(three)).toEqual(sorted(ours));
  });

  test('F14 so does an early zod 4 of another copy, which cannot convert itself', () => {
    const early = sample(z40 as unknown as typeof z);
    expect('toJSONSchema' in early).toBe(false);
    expect(sorted(toJsonSchema(early))).toEqual(sorted(ours));
  });

  test('descriptions, enums, records, arrays, defaults and nesting are there', () => {
    expect(ours).toMatchObject({
      type: 'object',
      description: 'root',
      properties: {
        described: { type: 'string', description: 'A' },
        choice: { enum: ['x', 'y'], description: 'E' },
        record: { type: 'object', additionalProperties: { type: 'number' } },
        list: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3 },
        count: { type: 'integer', default: 3, description: 'D' },
        both: { type: 'string', default: 'q' },
        nested: { properties: { deep: { properties: { k: { type: 'boolean' } } } }, description: 'N' },
        nullable: { type: ['string', 'null'] },
        tuple: { prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
        transformed: { type: 'string' },
        again: { properties: { k: { description: 'K' } } },
      },
    });
    expect(ours).not.toHaveProperty('$schema');
    expect(ours.required).not.toContain('choice');
    expect(ours.required).not.toContain('count');
  });

  test.each([
    [
      'zod 4',
      z.object({
        name: z.string(),
        get kids() {
          return z.array(z.object({ of: z.string() }));
        },
      }),
    ],
    ['zod 4 recursive', recursive4()],
    ['zod 3 recursive', recursive3()],
  ])('%s compiles', (_, schema) => {
    expect(compileSchema(toJsonSchema(schema))({ name: 'a', kids: [] })).toBe(true);
  });

  test('zod 3 recursion stays a reference instead of being cut off', () => {
    const validate = compileSchema(toJsonSchema(recursive3()));
    expect(validate({ name: 'a', kids: [{ name: 'b', kids: [] }] })).toBe(true);
    expect(validate({ name: 'a', kids: [{ name: 'b', kids: [{ name: 5, kids: [] }] }] })).toBe(false);
  });

  test('converted once, frozen, and the JSON Schema of the caller is left alone', () => {
    const schema = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { a: {} } };
    const converted = toJsonSchema(schema);
    expect(toJsonSchema(schema)).toBe(converted);
    expect(converted).toEqual({ type: 'object', properties: { a: {} } });
    expect(Object.isFrozen(converted.properties)).toBe(true);
    expect(schema.$schema).toContain('draft-07');
    expect(Object.isFrozen(schema)).toBe(false);
  });

  test('absent and empty schemas take no arguments', () => {
    expect(toJsonSchema(undefined)).toEqual({ type: 'object', properties: {} });
    expect(toJsonSchema({})).toEqual({ type: 'object', properties: {} });
  });

  test('older drafts are rewritten so that one validator reads them', () => {
    const schema = toJsonSchema({
      id: 'urn:old',
      type: 'object',
      properties: {
        pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false },
        above: { type: 'number', minimum: 0, exclusiveMinimum: true },
        items: { default: { items: [1] } },
      },
    });
    expect(schema.properties).toEqual({
      pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
      above: { type: 'number', exclusiveMinimum: 0 },
      items: { default: { items: [1] } },
    });
    expect(compileSchema(schema)({ pair: ['a', 1], above: 1 })).toBe(true);
  });

  test('a root made of object branches is an object', () => {
    const union = z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), z.object({ t: z.literal('b') })]);
    expect(toJsonSchema(union)).toMatchObject({ type: 'object', anyOf: [{ type: 'object' }, { type: 'object' }] });
  });

  test.each<[string, unknown]>([
    ['zod 4 string', z.string()],
    ['zod 3 string', z3.string()],
    ['zod 4 any', z.any()],
    ['zod 3 any', z3.any()],
    ['union without an object', z.union([z.string(), z.number()])],
    ['zod 4 date inside', z.object({ at: z.date() })],
    ['zod 3 date inside', z3.object({ at: z3.date() })],
    ['zod 4 bigint inside', z.object({ n: z.bigint() })],
    ['zod 3 map inside', z3.object({ m: z3.map(z3.string(), z3.string()) })],
    ['zod 4 custom inside', z.object({ c: z.custom() })],
    ['array schema', { type: 'array' }],
    ['not JSON', { type: 'object', properties: { f: () => 1 } }],
    ['an instance of something', new (class Foo {})()],
    ['another library', { '~standard': { version: 1, vendor: 'other', validate: () => ({ value: 1 }) } }],
    ['a string', 'object'],
    ['null', null],
    ['endless', endless()],
  ])('%s is refused', (_, schema) => {
    expect(() => toJsonSchema(schema as never)).toThrow(refused);
  });

  test('another library that offers JSON Schema is read', () => {
    const input = () => ({ type: 'object', properties: { a: { type: 'string' } } });
    const schema = { '~standard': { version: 1, vendor: 'other', jsonSchema: { input } } };
    expect(toJsonSchema(schema)).toEqual({ type: 'object', properties: { a: { type: 'string' } } });
  });
});

describe('S3-49 describeTool', () => {
  test('holds what models, policies and people need, and no handler', () => {
    const tool = defineTool({
      name: 'search',
      displayName: 'Search',
      description: 'Finds things',
      inputSchema: z.object({ q: z.string() }),
      outputSchema: z.array(z.string()),
      kind: 'search',
      annotations: { readOnly: true, longRunning: false },
      execute: () => [],
    });
    const descriptor = describeTool(tool);
    expect(descriptor).toEqual({
      name: 'search',
      displayName: 'Search',
      description: 'Finds things',
      inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
      outputSchema: { type: 'array', items: { type: 'string' } },
      kind: 'search',
      annotations: { readOnly: true, longRunning: false },
    });
    expect(JSON.parse(JSON.stringify(descriptor))).toEqual(descriptor);
    expect(describeTool(tool)).toBe(descriptor);
    expect(Object.isFrozen(descriptor)).toBe(true);
  });

  test('parametersSchema is the older name', () => {
    const parametersSchema = { type: 'object', properties: { a: { type: 'number' } } };
    expect(describeTool({ name: 't', description: '', parametersSchema }).inputSchema).toEqual(parametersSchema);
  });

  test('has no members of what there is not', () => {
    const inputSchema = { type: 'object' };
    expect(describeTool({ name: 't', description: 'd', inputSchema })).toStrictEqual({
      name: 't',
      description: 'd',
      inputSchema,
    });
  });

  test.each([
    [{ name: 'pay', description: '', timeoutMs: 'x' }, 'tool "pay"'],
    [{ name: 'x'.repeat(70), description: '', timeoutMs: 'x' }, `tool "${'x'.repeat(64)}"`],
    [{ name: 5, description: '' }, 'tool 5'],
    [null, 'tool null'],
  ])('%j names the tool where a member is wrong', (tool, name) => {
    expect(() => describeTool(tool as never)).toThrow(
      expect.objectContaining({ code: 'E_BAD_INPUT', message: expect.stringContaining(name) }),
    );
  });

  test('a bad schema names the tool', () => {
    expect(() => describeTool({ name: 'bad', description: '', inputSchema: z.string() })).toThrow(/tool "bad"/);
  });
});

test('importing the gate loads neither zod nor a validator', () => {
  const gate = join(import.meta.dirname, '../../src/gate/index.ts');
  const script = `const seen = [];
    const { registerHooks } = await import('node:module');
    registerHooks({ resolve(s, c, n) { seen.push(s); return n(s, c); } });
    const gate = await import(${JSON.stringify(gate)});
    console.log(JSON.stringify(seen.filter((s) => /^(zod|ajv|yaml)/.test(s))));
    gate.validateArgs({ inputSchema: { type: 'object' } }, {});
    console.log(JSON.stringify(seen.filter((s) => /^(zod|yaml)/.test(s))));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(output.trim().split('\n')).toEqual(['[]', '[]']);
});

function recursive4() {
  const node = z.object({
    name: z.string(),
    get kids() {
      return z.array(node);
    },
  });
  return node;
}

function recursive3() {
  interface Node {
    name: string;
    kids: Node[];
  }
  const node: z3.ZodType<Node> = z3.object({ name: z3.string(), kids: z3.lazy(() => z3.array(node)) });
  return node;
}

function endless(): unknown {
  const schema: Record<string, unknown> = { type: 'object' };
  schema.properties = { self: schema };
  return schema;
}

/** Order of keys and of `required` says nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(sorted);
    return items.every((item) => typeof item === 'string') ? items.sort() : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}

test('F10 a root that is a branch of itself is refused', () => {
  const loop = { anyOf: [{ $ref: '#/$defs/A' }] };
  expect(() => toJsonSchema({ $ref: '#/$defs/A', $defs: { A: loop } })).toThrow(refused);
});
