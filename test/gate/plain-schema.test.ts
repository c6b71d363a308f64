import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { isPlainSchema } from '../../src/gate/schema/plain-schema.ts';
import { compileSchema } from '../../src/gate/schema/validator.ts';

const meta = new Ajv2020({ strict: false, logger: false });

test('what most tools ask for is plain', () => {
  const schema = {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'where', minLength: 1 },
      mode: { enum: ['a', 'b'], default: 'a' },
      list: {
        type: ['array', 'null'],
        items: { anyOf: [{ type: 'number', minimum: 0 }, { const: null }] },
        maxItems: 3,
      },
    },
    required: ['path'],
    additionalProperties: false,
  };
  expect(isPlainSchema(schema)).toBe(true);
});

/** Values that a keyword may be given, rightly or not. */
const contents: unknown[] = [
  'string',
  'text',
  '',
  0,
  3,
  -1,
  1.5,
  true,
  null,
  [],
  ['string'],
  ['string', 'string'],
  ['string', 'null'],
  [{}],
  [true],
  [1],
  {},
  { a: {} },
  { a: 1 },
  { a: { type: 'thing' } },
  { type: 'string' },
  [{ type: 'thing' }],
];
const keywords = [
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', 'default', 'title'],
  ...['description', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'uniqueItems', 'anyOf', 'oneOf', 'allOf', 'not', '$ref', '$id', 'format', 'pattern'],
];

test.each(keywords)('whatever %s is given, what is called plain is what the meta-schema takes', (keyword) => {
  const plain = contents.filter((content) => isPlainSchema({ [keyword]: content }));
  for (const content of plain) expect(meta.validateSchema({ [keyword]: content })).toBe(true);
  const nested = contents.filter((content) => isPlainSchema({ properties: { a: { [keyword]: content } } }));
  expect(nested).toEqual(plain);
});

test('what is not plain is still judged by the meta-schema', () => {
  expect(() => compileSchema({ type: 'thing' })).toThrow('schema is invalid');
  expect(() => compileSchema({ properties: { a: { minLength: -1 } } })).toThrow('schema is invalid');
  expect(compileSchema({ type: 'string', pattern: 'a' })('a')).toBe(true);
});

test('a schema without end is not plain', () => {
  const schema: Record<string, unknown> = { type: 'object' };
  schema.additionalProperties = schema;
  expect(isPlainSchema(schema)).toBe(false);
});
