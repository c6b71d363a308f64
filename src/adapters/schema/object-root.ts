import type { JsonSchema } from '../../contracts/index.ts';
import { isSchema, membersOf, namesIn, resolveRef, schemasIn } from './node.ts';

/**
 * The schema with a plain object at its root, as OpenAI and Anthropic want it: unions and references at the root
 * become one object that takes what any branch takes. Everything below is left alone.
 */
export function withObjectRoot(schema: JsonSchema): JsonSchema {
  const {
    $schema: _schema,
    $id: _id,
    id: _draft4,
    $ref,
    anyOf,
    oneOf,
    allOf,
    not: _not,
    enum: _enum,
    ...rest
  } = schema;
  const target = $ref === undefined ? undefined : resolveRef($ref, schema);
  const branches = [...schemasIn(anyOf), ...schemasIn(oneOf)];
  const parts = [...(target && target !== schema ? [target] : []), ...schemasIn(allOf)];
  if (branches.length === 0 && parts.length === 0) {
    return { ...rest, type: 'object', properties: isSchema(rest.properties) ? rest.properties : {} };
  }
  let properties: Record<string, JsonSchema> = Object.fromEntries(membersOf(rest.properties));
  const required = new Set(namesIn(rest.required));
  for (const part of parts.map((node) => flat(node, schema))) {
    properties = union(properties, part.properties);
    for (const name of namesIn(part.required)) required.add(name);
  }
  const flats = branches.map((node) => flat(node, schema));
  for (const branch of flats) properties = union(properties, branch.properties);
  const inAll = namesIn(flats[0]?.required).filter((name) =>
    flats.every((node) => namesIn(node.required).includes(name)),
  );
  for (const name of inAll) required.add(name);
  const { additionalProperties: _additional, ...open } = rest;
  return { ...open, type: 'object', properties, ...(required.size > 0 ? { required: [...required] } : {}) };
}

function flat(node: JsonSchema, root: JsonSchema): JsonSchema {
  const target = node.$ref === undefined ? node : resolveRef(node.$ref, root);
  if (!target || target === root) return {};
  // References inside a branch still resolve: definitions stay at the root.
  const { $defs: _defs, definitions: _definitions, ...own } = target;
  return own.anyOf || own.oneOf || own.allOf ? withObjectRoot(own) : own;
}

function union(into: Record<string, JsonSchema>, more: unknown): Record<string, JsonSchema> {
  const merged = { ...into };
  for (const [name, schema] of membersOf(more)) {
    const present = merged[name];
    merged[name] =
      present === undefined || JSON.stringify(present) === JSON.stringify(schema)
        ? schema
        : { anyOf: [...(Array.isArray(present.anyOf) ? schemasIn(present.anyOf) : [present]), schema] };
  }
  return merged;
}
