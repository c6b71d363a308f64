import { describe, expect, test } from 'vitest';
import type { SchemaLike } from '../../src/contracts/index.ts';
import {
  boundedTest,
  compilePredicate,
  compileSchema,
  Undecided,
  validateArgs,
  withEffort,
} from '../../src/gate/index.ts';
import { spend } from '../../src/gate/pattern/effort.ts';

type Schema = Record<string, unknown>;
const tooLong = expect.stringContaining('would take too long');
const objects = (count: number) => Array.from({ length: count }, (_, b) => ({ a: 1, b }));

/** Twenty schemas, each of which applies the next one twice to the same value. */
function doubling(
  nameOf: (n: number) => string,
  refTo: (n: number) => Schema,
  more: (n: number) => Schema = () => ({}),
) {
  const twice = (n: number) => ({ ...more(n), anyOf: [refTo(n + 1), refTo(n + 1)] });
  const made = Array.from({ length: 20 }, (_, n) => [nameOf(n), twice(n)]);
  return Object.fromEntries([...made, [nameOf(20), { ...more(20), type: 'string' }]]) as Schema;
}
const object = (q: Schema, more: Schema = {}) => ({ type: 'object', ...more, properties: { q } });

describe('ATT-B3 siblings: what a schema costs is counted, wherever it comes from', () => {
  const name = (n: number) => `d${n}`;
  test.each<[string, Schema, Schema]>([
    [
      'a default that is compared item by item',
      object({ type: 'array', uniqueItems: true, default: objects(8000) }),
      {},
    ],
    [
      'a default of a wrong type under unions that multiply',
      object({ $ref: '#/$defs/d0', default: 5 }, { $defs: doubling(name, (n) => ({ $ref: `#/$defs/d${n}` })) }),
      {},
    ],
    [
      'defaults that items get before they are compared',
      object({
        type: 'array',
        allOf: [{ items: { properties: { z: { default: [[...Array(5000).keys()]] } } } }],
        uniqueItems: true,
      }),
      { q: objects(150) },
    ],
    [
      'references that are written with escapes',
      object(
        { $ref: '#/$defs/d%2F0' },
        {
          $defs: doubling(
            (n) => `d/${n}`,
            (n) => ({ $ref: `#/$defs/d%2F${n}` }),
          ),
        },
      ),
      { q: 5 },
    ],
    [
      'ids below a keyword that nobody knows',
      object(
        { $ref: 'http://d/0' },
        {
          'x-d': doubling(
            name,
            (n) => ({ $ref: `http://d/${n}` }),
            (n) => ({ $id: `http://d/${n}` }),
          ),
        },
      ),
      { q: 5 },
    ],
    [
      'anchors below a keyword that nobody knows',
      object(
        { $ref: '#d0' },
        {
          'x-d': doubling(
            name,
            (n) => ({ $ref: `#d${n}` }),
            (n) => ({ $anchor: `d${n}` }),
          ),
        },
      ),
      { q: 5 },
    ],
  ])('%s', (_, inputSchema, args) => {
    expect(validateArgs({ inputSchema }, args)).toEqual({ ok: false, message: tooLong });
  });

  test('MUT-G16 a value that takes more than two hundred thousand steps is not checked, though all of them could be made', () => {
    const inputSchema = object({ items: { enum: Array.from({ length: 500 }, (_, n) => `v${n}`) } });
    const args = (length: number) => ({ q: Array.from({ length }, () => 'v1') });
    expect(validateArgs({ inputSchema }, args(1000))).toEqual({ ok: false, message: tooLong });
    expect(validateArgs({ inputSchema }, args(300))).toMatchObject({ ok: true });
  });

  test.each<[string, Schema]>([
    ['names that a member requires', { dependentRequired: { a: Array.from({ length: 20_000 }, (_, n) => `k${n}`) } }],
    ['data', { default: { list: [objects(60_000)] } }],
    ['what is reached by a reference only', { $ref: '#/x', x: { required: Array.from({ length: 20_000 }, String) } }],
  ])('a schema is too large by %s', (_, schema) => {
    expect(() => compileSchema(schema)).toThrow('the schema is too large');
  });

  test('a schema does not refer to the language of schemas, which may refer back', () => {
    expect(() => compileSchema({ $ref: 'https://json-schema.org/draft/2020-12/schema' })).toThrow('resolve');
  });

  test('counted repetitions cost what they look at', () => {
    const fits = boundedTest(/[ab]{4000}b/);
    let tested = 0;
    const all = () => {
      for (; tested < 1000; tested++) fits('a'.repeat(9000));
    };
    expect(() => withEffort(all)).toThrow(Undecided);
    expect(tested).toBeLessThan(10);
  });

  test('compiling and counting take from the allowance of whoever asks', () => {
    const owner = {};
    // Most of it is gone: what is left is enough for two of these.
    for (let n = 0; n < 3; n++) withEffort(() => spend(5_000_000), owner);
    // Equal ones would be compiled once.
    let made = 0;
    const large = () => ({
      type: 'object',
      title: `schema ${made++}`,
      properties: Object.fromEntries(Array.from({ length: 2400 }, (_, n) => [`p${n}`, { type: 'string' }])),
    });
    const one = () => withEffort(() => validateArgs({ inputSchema: large() }, {}).ok, owner);
    expect(Array.from({ length: 5 }, one)).toEqual([true, true, false, false, false]);
  });

  test('conditions have one allowance together', () => {
    const fits = compilePredicate({ properties: { q: { items: { anyOf: [{ minimum: 5 }, { maximum: 2 }] } } } });
    const value = { q: Array.from({ length: 10_000 }, () => 1) };
    expect(fits(value)).toBe(true);
    expect(() => withEffort(() => Array.from({ length: 500 }, () => fits(value)))).toThrow(Undecided);
  });
});

test('MUT-G15 sibling: schemas with one id below a keyword that nobody knows do not see one another', () => {
  const made = (type: string) =>
    object({ $ref: 'http://parts/one' }, { 'x-parts': { one: { $id: 'http://parts/one', type } } });
  const [text, number] = [compileSchema(made('string')), compileSchema(made('number'))];
  expect([text({ q: 'a' }), text({ q: 1 }), number({ q: 'a' }), number({ q: 1 })]).toEqual([true, false, false, true]);
  expect(() => compileSchema({ $ref: 'http://parts/one' })).toThrow('resolve');
});

test.each([
  ['{"q":"[1,2]"}', { q: [1, 2] }],
  ['  {"q":[]}\n', { q: [] }],
  ['"{\\"q\\":[]}"', undefined],
  ['[{"q":[]}]', undefined],
  ['{"q":[]} and more', undefined],
])('HUNT-P1 sibling: %j', (text, args) => {
  const result = validateArgs({ inputSchema: object({ type: 'array' }) }, text);
  expect(result.ok ? result.args : undefined).toEqual(args);
});

type Settle = (done: (value: unknown) => void, fail: (error: unknown) => void) => unknown;

/** As a library of promises of its own makes them. */
function thenable(settle: Settle): object {
  return Object.defineProperty({}, 'then', {
    value: (done: (value: unknown) => void, fail: (error: unknown) => void) => {
      const returned = settle(done, fail);
      if (returned instanceof Promise) void returned.catch(fail);
    },
  });
}

describe('ATT-B7, REV-F1 siblings: a check of a library', () => {
  const check = (validate: (value: { q: string }) => unknown) => {
    const source = {
      '~standard': { version: 1, vendor: 'v', validate, jsonSchema: { input: () => ({}) } },
    } as unknown as SchemaLike;
    return validateArgs({ inputSchema: object({ type: 'string' }), source }, { q: 'a' });
  };

  test.each<[string, (value: { q: string }) => unknown]>([
    ['changes what it is given', (value) => Object.assign(value, { q: `${value.q}!` }) && { value }],
    ['gives another each time', () => ({ value: { q: String(Math.random()) } })],
    ['gives issues and a value', (value) => ({ value, issues: [{ message: 'no' }] })],
    ['gives issues that are none', (value) => ({ value, issues: null })],
    ['gives nothing', () => undefined],
    ['gives a list', () => ({ value: [] })],
    ['gives what its schema does not take', () => ({ value: { q: 1 } })],
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['is a thenable that throws', () => thenable(() => Promise.reject(new Error('no')))],
    ['is a thenable of issues', () => thenable((done) => done({ issues: [] }))],
  ])('%s: refused', async (_, validate) => {
    expect(await check(validate)).toMatchObject({ ok: false });
  });

  test('may keep what it was given, and changes nothing by it later', async () => {
    let kept: { q: string } = { q: '' };
    const result = await check((value) => {
      kept = value;
      return { value };
    });
    kept.q = 'rm';
    expect(result).toEqual({ ok: true, args: { q: 'a' } });
  });
});

test('equal schemas are compiled once, as they were first given; of a thousand others the oldest goes', () => {
  const made = () => ({ type: 'object', properties: { n: { enum: [1, 2] } }, title: 'shared' });
  const [one, other, changed] = [made(), made(), made()];
  const check = compileSchema(one);
  expect(compileSchema(other)).toBe(check);
  one.properties.n.enum = [3];
  expect([compileSchema(one)({ n: 1 }), compileSchema(made())({ n: 3 })]).toEqual([true, false]);
  changed.properties.n.enum = [3];
  expect(compileSchema(changed)({ n: 3 })).toBe(true);
  for (let n = 0; n < 1000; n++) compileSchema({ title: `other ${n}` });
  expect(compileSchema(made())).not.toBe(check);
  expect(compileSchema(other)).toBe(check);
});
