import type { JsonSchema } from '../../contracts/index.ts';

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function schemasIn(value: unknown): JsonSchema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

/** Types that a node names; none for a node that takes any. */
export function typesOf(node: JsonSchema): string[] {
  const { type } = node;
  if (typeof type === 'string') return [type];
  return Array.isArray(type) ? type.filter((item): item is string => typeof item === 'string') : [];
}

/** The members of an object of schemas; `true` stands for any value, `false` members are left out. */
export function schemaMembers(value: unknown): [name: string, schema: JsonSchema][] {
  if (!isSchema(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (isSchema(member)) return [[name, member]] as [string, JsonSchema][];
    return member === true ? [[name, {}]] : [];
  });
}

export function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** What a local reference points to; undefined for a remote or dangling one. */
export function resolveRef(ref: unknown, root: JsonSchema): JsonSchema | undefined {
  if (ref === '#') return root;
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return undefined;
  let node: unknown = root;
  for (const step of ref.slice(2).split('/')) {
    const name = decodeStep(step);
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return undefined;
    node = (node as Record<string, unknown>)[name];
  }
  return isSchema(node) ? node : undefined;
}

function decodeStep(step: string): string {
  const text = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Nodes and references below one another that are looked at. */
export const MAX_DEPTH = 200;

/**
 * The nodes that hold together where this one does, without `$ref` and `allOf`: what it refers to, its parts, itself
 * last. `refs` are those that are not followed (again); the ones followed are added.
 */
export function conjuncts(node: JsonSchema, root: JsonSchema, refs: Set<unknown>, depth = 0): JsonSchema[] {
  const { $ref, allOf, ...own } = node;
  if (depth > MAX_DEPTH) return [own];
  const target = $ref === undefined || refs.has($ref) ? undefined : resolveRef($ref, root);
  if (target) refs.add($ref);
  const parts = [...(target ? [target] : []), ...schemasIn(allOf)];
  return [...parts.flatMap((part) => conjuncts(part, root, refs, depth + 1)), own];
}

/** Keywords that hold a schema or a list of them, and those that hold schemas by name. Everything else is data. */
const ofSchemas = new Set(
  (
    'items prefixItems additionalItems contains unevaluatedItems anyOf oneOf allOf not if then else ' +
    'additionalProperties unevaluatedProperties propertyNames contentSchema'
  ).split(' '),
);
const ofNames = new Set('properties patternProperties dependentSchemas dependencies $defs definitions'.split(' '));
/** A copy in which every node is changed, innermost first; what is nested beyond reason stays as it is. */
export function mapSchema(node: JsonSchema, change: (node: JsonSchema) => JsonSchema, depth = 0): JsonSchema {
  if (depth > MAX_DEPTH) return node;
  const mapped = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(mapped);
    return isSchema(value) ? mapSchema(value, change, depth + 1) : value;
  };
  const entries = Object.entries(node).map(([key, value]) => {
    if (ofSchemas.has(key)) return [key, mapped(value)];
    if (!ofNames.has(key) || !isSchema(value)) return [key, value];
    return [key, Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapped(member)]))];
  });
  return change(Object.fromEntries(entries));
}

/** Adds what a dialect cannot say to what the model reads. */
export function describe(node: JsonSchema, hints: readonly string[]): string | undefined {
  const own = typeof node.description === 'string' ? node.description : '';
  if (hints.length === 0) return own === '' ? undefined : own;
  const text = hints.join('; ');
  return own === '' ? text : `${own} (${text})`;
}
