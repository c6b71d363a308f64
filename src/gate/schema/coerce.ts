import type { ErrorObject } from './error-object.ts';

/** A JSON pointer's steps, unescaped. */
export function pointerSteps(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value that a pointer names; undefined if there is none. Only own members count. */
export function valueAt(root: unknown, steps: readonly string[]): unknown {
  let at: unknown = root;
  for (const step of steps) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<string, unknown>)[step];
  }
  return at;
}

/**
 * Models write `"5"` for 5 and `"[\"a\"]"` for an array. Replaces, in place, the strings that type errors point at
 * by the JSON they hold, if it is of a type that was expected there.
 * @returns whether anything was replaced
 */
export function parseMistypedStrings(root: Record<string, unknown>, errors: readonly ErrorObject[]): boolean {
  const expected = new Map<string, Set<string>>();
  for (const error of errors) {
    if (error.keyword !== 'type' || error.instancePath === '') continue;
    const types = expected.get(error.instancePath) ?? new Set();
    for (const type of typesOfError(error)) types.add(type);
    expected.set(error.instancePath, types);
  }
  let hasChanged = false;
  for (const [pointer, types] of expected) {
    const steps = pointerSteps(pointer);
    const key = steps.at(-1) ?? '';
    const parent = valueAt(root, steps.slice(0, -1));
    const text = valueAt(parent, [key]);
    if (typeof text !== 'string') continue;
    const parsed = parseAs(text, types);
    // An own member exists under this key, `__proto__` included, so that this sets data and nothing else.
    if (parsed !== undefined) Object.defineProperty(parent, key, { ...plainMember, value: parsed });
    hasChanged ||= parsed !== undefined;
  }
  return hasChanged;
}

const REFUSES_NULL = new Set(['type', 'enum', 'const', 'anyOf', 'oneOf']);

/**
 * Models write null for what is absent, strict modes of providers make them. Removes, in place, the members that are
 * null where errors say that null does not fit; a required one is then told to be missing.
 * @returns whether anything was removed
 */
export function dropRefusedNulls(root: Record<string, unknown>, errors: readonly ErrorObject[]): boolean {
  let hasChanged = false;
  for (const { keyword, instancePath } of errors) {
    if (!REFUSES_NULL.has(keyword) || instancePath === '') continue;
    const steps = pointerSteps(instancePath);
    const key = steps.at(-1) ?? '';
    const parent = valueAt(root, steps.slice(0, -1));
    if (typeof parent !== 'object' || parent === null || Array.isArray(parent) || valueAt(parent, [key]) !== null)
      continue;
    Reflect.deleteProperty(parent, key);
    hasChanged = true;
  }
  return hasChanged;
}

/** Arguments that were encoded twice as a whole: the object that a text holds, or the text. */
export function parseWhole(text: string): unknown {
  return parseAs(text, onlyObjects) ?? text;
}

const onlyObjects: ReadonlySet<string> = new Set(['object']);
const plainMember = { enumerable: true, configurable: true, writable: true };

/** Type names of a type error. */
export function typesOfError(error: ErrorObject): string[] {
  const { type } = error.params as { type: string | string[] };
  return typeof type === 'string' ? type.split(',') : type;
}

function parseAs(text: string, types: ReadonlySet<string>): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value === 'number') {
    // An id of twenty digits is not the number that it rounds to.
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return undefined;
    return types.has('number') || (types.has('integer') && Number.isInteger(value)) ? value : undefined;
  }
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return type !== 'string' && types.has(type) ? value : undefined;
}
