import { z } from 'zod';

/**
 * JSON Schemas (2020-12) of what comes in by these names. They refer to one another by `uri` of the name, wherever one is
 * part of another.
 */
export function jsonSchemasOf(
  schemas: Readonly<Record<string, z.ZodType>>,
  uri: (name: string) => string,
): Record<string, object> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const { schemas: made } = z.toJSONSchema(registry, { target: 'draft-2020-12', io: 'input', uri });
  return Object.fromEntries(Object.entries(made).map(([id, { $id: _, $schema: __, ...schema }]) => [id, schema]));
}
