import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { generateSchemas, published, schemaFolder } from '../../scripts/generate-spec.ts';
import { accepted, rejected } from '../contracts/samples.ts';

describe('spec/schema', () => {
  const generated = generateSchemas();
  const stored = new Map(
    readdirSync(schemaFolder).map((name) => [name, readFileSync(join(schemaFolder, name), 'utf8')]),
  );

  test('holds a file for each published schema and no other', () => {
    expect([...stored.keys()].sort()).toEqual([...generated.keys()].sort());
  });

  test.each([...generated])('%s is what the contracts say now (else: npm run spec)', (name, text) => {
    expect(stored.get(name)).toBe(text);
  });

  test('generating twice gives the same text', () => {
    expect([...generateSchemas()]).toEqual([...generated]);
  });

  // ajv stands for the peers that know the contracts by their JSON Schemas only.
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  for (const [name, text] of generated) ajv.addSchema(JSON.parse(text), name);
  const accepts = (schema: keyof typeof published, value: unknown) => ({
    zod: published[schema].safeParse(value).success,
    json: ajv.validate(`${schema}.json`, wire(value)),
  });

  test.each(accepted)('$schema accepts $what, as the contracts do', ({ schema, value }) => {
    expect(accepts(schema, value)).toEqual({ zod: true, json: true });
  });

  test.each(rejected)('$schema refuses $what, as the contracts do', ({ schema, value }) => {
    expect(accepts(schema, value)).toEqual({ zod: false, json: false });
  });

  test('every published schema is tried with a sample', () => {
    const tried = new Set(accepted.map(({ schema }) => schema));
    expect(Object.keys(published).filter((name) => !tried.has(name as keyof typeof published))).toEqual([]);
  });
});

function wire(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
