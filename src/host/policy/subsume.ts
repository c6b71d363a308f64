import { isObject } from '../../base/index.ts';
import { canonicalJson } from '../../contracts/index.ts';
import { compilePredicate } from '../../gate/index.ts';
import { asList } from './conditions.ts';
import { compileGlob, covers } from './glob.ts';
import type { PolicyRule } from './rule.ts';

type List = string | readonly string[];

const isPart = (wide: List, narrow: List): boolean => asList(narrow).every((item) => asList(wide).includes(item));
const isCovered = (wide: List, narrow: List): boolean => covers(compileGlob(wide), compileGlob(narrow));
const isSame = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

/** Each member that the wide one has is there in the narrow one, and asks for the same. */
function hasAll(wide: Record<string, unknown>, narrow: Record<string, unknown>): boolean {
  return Object.keys(wide).every((key) => Object.hasOwn(narrow, key) && isSame(wide[key], narrow[key]));
}

function hasArgs(wide: Record<string, unknown>, narrow: Record<string, unknown>): boolean {
  const arePointers = (condition: object) => Object.keys(condition).every((key) => key.startsWith('/'));
  return arePointers(wide) && arePointers(narrow) ? hasAll(wide, narrow) : isSame(wide, narrow);
}

/**
 * Whether the conditions of one rule hold wherever those of another do; the tools' names are not among them. May say no
 * where the answer is yes, never the reverse.
 */
export function holdsWherever(wide: PolicyRule, narrow: PolicyRule): boolean {
  const fits = <T>(a: T | undefined, b: T | undefined, isWider: (a: T, b: T) => boolean): boolean =>
    a === undefined || (b !== undefined && isWider(a, b));
  return (
    fits(wide.mode, narrow.mode, isPart) &&
    fits(wide.kind, narrow.kind, isPart) &&
    fits(wide.source, narrow.source, isCovered) &&
    fits(wide.digest, narrow.digest, isPart) &&
    fits(wide.role, narrow.role, isPart) &&
    fits(wide.principal, narrow.principal, isCovered) &&
    fits(wide.agent, narrow.agent, isCovered) &&
    fits<Record<string, unknown>>(wide.annotations, narrow.annotations, hasAll) &&
    fits(wide.args, narrow.args, hasArgs)
  );
}

/** Why no arguments fit a condition; undefined if some may. */
export function contradictionIn(args: Record<string, unknown>): string | undefined {
  const pointers = Object.keys(args).filter((name) => name.startsWith('/'));
  if (pointers.length === 0) return contradiction(args);
  for (const pointer of pointers) {
    const schema = args[pointer];
    const fault = isObject(schema) ? contradiction(schema) : undefined;
    if (fault !== undefined) return `"${pointer}" ${fault}`;
  }
  return undefined;
}

const bounds: readonly (readonly [string, string])[] = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
];

function contradiction(schema: Record<string, unknown>): string | undefined {
  for (const [low, high] of bounds) {
    if (Number(schema[low]) > Number(schema[high])) return `has ${low} above ${high}`;
  }
  const { const: only, enum: some } = schema;
  const values = Object.hasOwn(schema, 'const') ? [only] : some;
  if (Array.isArray(values)) {
    const fits = compilePredicate(schema);
    if (!values.some((value) => fits(value))) return 'allows values that its other keywords do not';
  }
  const { properties, required } = schema;
  if (!isObject(properties) || !Array.isArray(required)) return undefined;
  for (const name of required) {
    const inner = typeof name === 'string' ? properties[name] : undefined;
    const fault = inner === false ? 'is never allowed' : isObject(inner) ? contradiction(inner) : undefined;
    if (fault !== undefined) return `${JSON.stringify(name)} ${fault}`;
  }
  return undefined;
}
