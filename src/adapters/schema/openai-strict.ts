import type { JsonSchema } from '../../contracts/index.ts';
import { bag, checkIs, checkOptions, oneOf as wordOf } from '../../session/index.ts';
import { isSchema, MAX_DEPTH, namesIn, resolveRef, schemaMembers, schemasIn, typesOf } from './node.ts';

/** Keywords that strict mode understands; the rest is enforced locally. */
const kept = [
  'description',
  'title',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
];
const keptOfArrays = ['minItems', 'maxItems', 'multipleOf'];
const MAX_STRICT_DEPTH = 10;
const MAX_PROPERTIES = 5000;

class Inexpressible extends Error {}

export interface StrictOptions {
  /**
   * What becomes of optional members. Default `nullable`; `refuse` where nobody takes the nulls back ({@link
   * fromStrictArgs}), so that a schema with some is not expressible.
   */
  optionals?: 'nullable' | 'refuse';
}

/**
 * The schema in OpenAI's strict dialect: every object closed, every member required, what was optional nullable.
 * Undefined where strict mode cannot say it (records, open objects, values of any type, too deep or too large).
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 */
export function toStrictSchema(schema: JsonSchema, options: StrictOptions = {}): JsonSchema | undefined {
  checkIs(schema, 'toStrictSchema: schema', bag);
  checkOptions<StrictOptions>(options, 'toStrictSchema: options', { optionals: wordOf('nullable', 'refuse') });
  const { anyOf, oneOf, allOf, $ref } = schema;
  if (anyOf || oneOf || allOf || $ref !== undefined || schema.enum || schema.const !== undefined) return undefined;
  const work = { root: schema, properties: 0, refuses: options.optionals === 'refuse' };
  try {
    if (!typesOf(schema).includes('object')) return undefined;
    // Arguments are an object, whatever else the schema would take at its root.
    const strict = convert({ ...schema, type: 'object' }, work, 0);
    for (const key of ['$defs', 'definitions']) {
      const definitions = schemaMembers(schema[key]);
      if (definitions.length === 0) continue;
      strict[key] = Object.fromEntries(definitions.map(([name, node]) => [name, convert(node, work, 1)]));
    }
    return strict;
  } catch (error) {
    if (error instanceof Inexpressible) return undefined;
    throw error;
  }
}

interface Work {
  root: JsonSchema;
  properties: number;
  refuses: boolean;
}

function convert(node: JsonSchema, work: Work, depth: number): JsonSchema {
  if (depth > MAX_STRICT_DEPTH) throw new Inexpressible();
  if (typeof node.$ref === 'string') {
    const target = resolveRef(node.$ref, work.root);
    if (!target || (target === work.root && typesOf(target).length > 1)) throw new Inexpressible();
    return { $ref: node.$ref };
  }
  if (node.allOf || node.not || node.if || node.patternProperties || node.prefixItems) throw new Inexpressible();
  const out: JsonSchema = {};
  for (const key of [...kept, ...keptOfArrays]) if (node[key] !== undefined) out[key] = node[key];
  const branches = [...schemasIn(node.anyOf), ...schemasIn(node.oneOf)];
  if (branches.length > 0) {
    if (typesOf(node).includes('object')) throw new Inexpressible();
    out.anyOf = branches.map((branch) => convert(branch, work, depth + 1));
    return out;
  }
  if (node.const !== undefined) out.enum = [node.const];
  else if (Array.isArray(node.enum)) out.enum = node.enum;
  const types = typesOf(node);
  if (types.length > 0) out.type = node.type;
  else if (out.enum) out.type = typeOfValues(out.enum as unknown[]);
  else throw new Inexpressible();
  if (types.includes('object')) closeObject(node, out, work, depth);
  if (types.includes('array')) {
    if (!isSchema(node.items)) throw new Inexpressible();
    out.items = convert(node.items, work, depth + 1);
  }
  return out;
}

function closeObject(node: JsonSchema, out: JsonSchema, work: Work, depth: number): void {
  const open = node.additionalProperties;
  const members = schemaMembers(node.properties);
  if ((open !== undefined && open !== false) || (members.length === 0 && open !== false && depth > 0)) {
    throw new Inexpressible();
  }
  work.properties += members.length;
  if (work.properties > MAX_PROPERTIES) throw new Inexpressible();
  const required = namesIn(node.required);
  if (work.refuses && members.some(([name]) => !required.includes(name))) throw new Inexpressible();
  out.properties = Object.fromEntries(
    members.map(([name, member]) => {
      const converted = convert(member, work, depth + 1);
      return [name, required.includes(name) ? converted : orNull(converted)];
    }),
  );
  out.required = members.map(([name]) => name);
  out.additionalProperties = false;
}

function orNull(node: JsonSchema): JsonSchema {
  if (acceptsNull(node)) return node;
  if (Array.isArray(node.anyOf)) return { ...node, anyOf: [...node.anyOf, { type: 'null' }] };
  if (node.$ref !== undefined) return { anyOf: [node, { type: 'null' }] };
  return {
    ...node,
    type: [...typesOf(node), 'null'],
    ...(Array.isArray(node.enum) ? { enum: [...node.enum, null] } : {}),
  };
}

function typeOfValues(values: readonly unknown[]): string | string[] {
  const types = [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
  if (types.includes('object')) throw new Inexpressible();
  return types.length === 1 ? (types[0] as string) : types;
}

function acceptsNull(node: JsonSchema): boolean {
  if (typesOf(node).includes('null')) return !Array.isArray(node.enum) || node.enum.includes(null);
  if (Array.isArray(node.enum) && node.type === undefined) return node.enum.includes(null);
  if (node.const === null) return true;
  return [...schemasIn(node.anyOf), ...schemasIn(node.oneOf)].some(acceptsNull);
}

/**
 * Takes back what strict mode made a model say: a null in place of a member that is optional and may not be null is
 * left out. A required member's null stays. Gives the same value if there is nothing to take back.
 */
export function fromStrictArgs(schema: JsonSchema, args: unknown): unknown {
  return restore(args, [schema], schema, 0);
}

function restore(value: unknown, nodes: readonly JsonSchema[], root: JsonSchema, depth: number): unknown {
  if (depth > 100 || typeof value !== 'object' || value === null) return value;
  const candidates = fittingOf(
    nodes.flatMap((node) => alternatives(node, root)),
    value,
  );
  if (Array.isArray(value)) {
    const items = candidates.flatMap((node) => (isSchema(node.items) ? [node.items] : []));
    const next = value.map((item) => restore(item, items, root, depth + 1));
    return next.some((item, index) => item !== value[index]) ? next : value;
  }
  const result: Record<string, unknown> = {};
  let changed = false;
  for (const [name, member] of Object.entries(value)) {
    const holders = candidates.filter((node) => isSchema(node.properties) && Object.hasOwn(node.properties, name));
    const schemas = holders.map((node) => (node.properties as Record<string, JsonSchema>)[name]).filter(isSchema);
    const optional = holders.length > 0 && holders.every((node) => !namesIn(node.required).includes(name));
    if (member === null && optional && !schemas.some((node) => takesNull(node, root))) {
      changed = true;
      continue;
    }
    const next = restore(member, schemas, root, depth + 1);
    if (next !== member) changed = true;
    Object.defineProperty(result, name, { value: next, enumerable: true, configurable: true, writable: true });
  }
  return changed ? result : value;
}

/** The branches that an object is of, by the members and constants that they have; all, where that does not tell. */
function fittingOf(nodes: readonly JsonSchema[], value: object): readonly JsonSchema[] {
  const members = Object.entries(value);
  const fitting = nodes.filter(({ properties }) => {
    if (!isSchema(properties)) return false;
    return members.every(([name, member]) => {
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return isSchema(schema) && (member === null || mayBe(schema, member));
    });
  });
  return fitting.length > 0 ? fitting : nodes;
}

function mayBe(node: JsonSchema, value: unknown): boolean {
  if (typeof value === 'object') return true;
  if ('const' in node) return node.const === value;
  return !Array.isArray(node.enum) || node.enum.includes(value);
}

/** The node and its branches, each once, whatever refers to whatever. */
function alternatives(node: JsonSchema, root: JsonSchema, seen = new Set<JsonSchema>(), depth = 0): JsonSchema[] {
  if (depth > MAX_DEPTH || seen.has(node)) return [];
  seen.add(node);
  if (node.$ref !== undefined) {
    const target = resolveRef(node.$ref, root);
    return target ? alternatives(target, root, seen, depth + 1) : [];
  }
  const branches = [...schemasIn(node.anyOf), ...schemasIn(node.oneOf)];
  return [node, ...branches.flatMap((branch) => alternatives(branch, root, seen, depth + 1))];
}

function takesNull(node: JsonSchema, root: JsonSchema): boolean {
  return alternatives(node, root).some(
    (each) =>
      acceptsNull(each) ||
      (typesOf(each).length === 0 && !each.enum && !('const' in each) && !each.anyOf && !each.oneOf && !each.$ref),
  );
}
