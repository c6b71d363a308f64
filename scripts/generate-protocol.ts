import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { rpcParams } from '../src/contracts/schemas/index.ts';
import { published } from './generate-spec.ts';

/** Where the bundle is kept. */
export const bundleFile = join(import.meta.dirname, '..', 'spec', 'protocol.schema.json');

/** Every message of a client as one JSON Schema (2020-12); `spec/PROTOCOL.md` says what it means. */
export function generateBundle(): string {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(published)) registry.add(schema, { id });
  for (const [method, schema] of Object.entries(rpcParams)) registry.add(schema, { id: nameOf(method) });
  const { schemas } = z.toJSONSchema(registry, { target: 'draft-2020-12', io: 'input', uri: (id) => `#/$defs/${id}` });
  const $defs = Object.fromEntries(
    Object.entries(schemas)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { $id: _, $schema: __, ...schema }]) => [id, schema]),
  );
  const oneOf = Object.keys(rpcParams).map((method) => ({
    properties: { method: { const: method }, params: { $ref: `#/$defs/${nameOf(method)}` } },
    required: ['method'],
  }));
  const bundle = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A message of a client, Coxswain protocol version 1',
    type: 'object',
    properties: { jsonrpc: { const: '2.0' }, id: { type: ['string', 'number'] } },
    required: ['jsonrpc', 'method'],
    oneOf,
    $defs,
  };
  return `${JSON.stringify(bundle, null, 1)}\n`;
}

/** A name that needs no escape in a JSON pointer. */
function nameOf(method: string): string {
  return `params.${method.replace('/', '.')}`;
}

if (import.meta.main) writeFileSync(bundleFile, generateBundle());
