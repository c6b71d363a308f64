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
export function membersOf(value: unknown): [name: string, schema: JsonSchema][] {
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
    if (typeof node !== 'object' || node === null) return undefined;
    node = (node as Record<string, unknown>)[decodeStep(step)];
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

/** Adds what a dialect cannot say to what the model reads. */
export function describe(node: JsonSchema, hints: readonly string[]): string | undefined {
  const own = typeof node.description === 'string' ? node.description : '';
  if (hints.length === 0) return own === '' ? undefined : own;
  const text = hints.join('; ');
  return own === '' ? text : `${own} (${text})`;
}
