import { CoxswainError } from './errors.ts';

/** A JSON Schema document. */
export type JsonSchema = Record<string, unknown>;

/** Nesting beyond which a value is refused: deeper JSON is an attack or a mistake. */
export const MAX_JSON_DEPTH = 200;

/** Canonical text is taken of whole events too, which hold accepted values some levels down. */
const MAX_CANONICAL_DEPTH = 2 * MAX_JSON_DEPTH;

/**
 * Whether lists and objects stand in one another on more than `max` levels. Counted level by level without recursion:
 * what a stack that runs over does is not the same each time, and it may run over in somebody else's code.
 */
export function isNestedDeeper(value: unknown, max: number): boolean {
  if (max > 0 && isFlat(value)) return false;
  let level: Iterable<unknown> = [value];
  for (let depth = 0; ; depth++) {
    // Each object once on a level: what is shared would else be counted as often as it is reached.
    const nodes = new Set<object>();
    for (const member of level) if (typeof member === 'object' && member !== null) nodes.add(member);
    if (nodes.size === 0) return false;
    if (depth === max) return true;
    level = membersOf(nodes);
  }
}

/** It has no lists or objects in it: most arguments of calls. */
function isFlat(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    if (typeof member === 'object' && member !== null) return false;
  }
  return true;
}

function* membersOf(nodes: Iterable<object>): Iterable<unknown> {
  for (const node of nodes) yield* Array.isArray(node) ? node : Object.values(node);
}

/** Whether two JSON values say the same, in whatever order their members stand. As deep as the first one is. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [ofA, ofB] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(ofA);
  if (keys.length !== Object.keys(ofB).length) return false;
  for (const key of keys) if (!Object.hasOwn(ofB, key) || !isSameJson(ofA[key], ofB[key])) return false;
  return true;
}

/** Keys and indexes from the outermost value to the one at hand; the first names the value itself. */
type Path = [name: string, ...(string | number)[]];

/**
 * An independent copy of a JSON value, as `JSON.parse(JSON.stringify(value))` would make it, except that
 * what JSON cannot hold is refused with its place named instead of being dropped or changed.
 *
 * `undefined` members are left out. `__proto__` is an ordinary key.
 * @throws CoxswainError `INVALID_ARGUMENT / E_NOT_JSON`, `E_TOO_DEEP`
 */
export function copyJson<T>(value: T, name = 'value', maxDepth = MAX_JSON_DEPTH): T {
  const path: Path = [name];
  try {
    return copy(value, path, maxDepth) as T;
  } catch (error) {
    if (error instanceof CoxswainError) throw error;
    // A getter or a proxy of the caller's.
    throw notJson(path, 'it cannot be read', error);
  }
}

function copy(value: unknown, path: Path, maxDepth: number): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw notJson(path, String(value));
      return value + 0; // -0 reads back as 0
    case 'object':
      break;
    default:
      throw notJson(path, typeof value);
  }
  if (value === null) return null;
  if (path.length > maxDepth) throw tooDeep(path[0], maxDepth);
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    // By index, so that a hole is met as undefined and refused.
    for (let index = 0; index < value.length; index++) {
      path.push(index);
      items.push(copy(value[index], path, maxDepth));
      path.pop();
    }
    return items;
  }
  // A class that knows its JSON form (URL, Date, …) would read back as something else: say so at the write.
  if (!isPlain(value)) throw notJson(path, classOf(value));
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    path.push(key);
    setOwn(result, key, copy(member, path, maxDepth));
    path.pop();
  }
  return result;
}

/** An object literal or parsed JSON, also one of another realm; not an instance of a class. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function classOf(value: object): string {
  const maker: unknown = value.constructor;
  return typeof maker === 'function' ? maker.name : 'object';
}

/** Assigns a member so that `__proto__` is data, not a prototype. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}

function notJson(path: Path, what: string, cause?: unknown): CoxswainError {
  const at = place(path);
  return new CoxswainError('INVALID_ARGUMENT', 'E_NOT_JSON', `${at} is not JSON: ${what}`, { details: { at }, cause });
}

function tooDeep(name: string, limit: number): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_TOO_DEEP', `${name} is nested deeper than ${limit} levels`);
}

function place([name, ...keys]: Path): string {
  const full = name + keys.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
  return full.length <= 240 ? full : `${full.slice(0, 119)}…${full.slice(-120)}`;
}

/** Freezes a JSON value at every depth; stops at what is frozen already. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  // A list of its own rather than recursion: any depth, and cycles end at what is frozen.
  const open: object[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const key of Object.keys(next)) {
      const member = (next as Record<string, unknown>)[key];
      // Most members are text, and need no turn of their own.
      if (typeof member === 'object' && member !== null) open.push(member);
    }
  }
  return value;
}

/**
 * `JSON.parse`, but names with escapes are what they say: V8 reads such a name as another one with a backslash that it
 * has met in that place before (https://github.com/nodejs/node/issues/63785). They are parsed under plain names.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  // A column of a damaged row may hold anything.
  if (typeof text !== 'string' || !text.includes('\\')) return JSON.parse(text);
  const found = escapedNames(text);
  if (found.length === 0) return JSON.parse(text);
  let mark = '@';
  while (text.includes(`"${mark}`)) mark += '@';
  const names: string[] = [];
  let plain = '';
  let done = 0;
  for (const [start, end] of found) {
    plain += `${text.slice(done, start)}"${mark}${names.length}"`;
    names.push(JSON.parse(text.slice(start, end)));
    done = end;
  }
  return renamed(JSON.parse(plain + text.slice(done)), mark, names);
}

/**
 * Where the names with escapes stand, from quote to behind quote. From quote to quote rather than by a pattern, which
 * would need a stack as deep as a string has escapes.
 */
function escapedNames(text: string): [start: number, end: number][] {
  const found: [number, number][] = [];
  let slash = -1;
  for (let start = text.indexOf('"'); start >= 0; ) {
    let end = text.indexOf('"', start + 1);
    while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
    // No JSON: the parser says so.
    if (end < 0) return [];
    end++;
    if (slash < start) slash = text.indexOf('\\', start);
    if (slash < 0) return found;
    if (slash < end && isName(text, end)) found.push([start, end]);
    start = text.indexOf('"', end);
  }
  return found;
}

function isEscaped(text: string, at: number): boolean {
  let from = at;
  while (text.charCodeAt(from - 1) === BACKSLASH) from--;
  return (at - from) % 2 === 1;
}

/** A colon follows, behind white space. */
function isName(text: string, end: number): boolean {
  let at = end;
  while (WHITE_SPACE.has(text.charCodeAt(at))) at++;
  return text.charCodeAt(at) === COLON;
}

const BACKSLASH = 0x5c;
const COLON = 0x3a;
const WHITE_SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** In place: it was parsed just now. With a list of its own rather than recursion: nobody has counted its levels. */
function renamed(value: unknown, mark: string, names: readonly string[]): unknown {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const node = open.pop();
    if (typeof node !== 'object' || node === null) continue;
    if (!Array.isArray(node)) renameMembers(node as Record<string, unknown>, mark, names);
    for (const member of Object.values(node)) if (typeof member === 'object') open.push(member);
  }
  return value;
}

function renameMembers(node: Record<string, unknown>, mark: string, names: readonly string[]): void {
  const members = Object.entries(node);
  if (!members.some(([key]) => key.startsWith(mark))) return;
  // All of them, so that they stay in their order.
  for (const [key] of members) delete node[key];
  for (const [key, member] of members) {
    setOwn(node, key.startsWith(mark) ? (names[Number(key.slice(mark.length))] ?? key) : key, member);
  }
}

/**
 * Canonical JSON (RFC 8785): keys ordered by UTF-16 code unit, no white space. Two values with the same
 * text are the same value; digests and idempotency checks are taken over it.
 *
 * `undefined` is treated as `JSON.stringify` does: a member is left out, anywhere else it is null. A lone
 * surrogate is written as its escape.
 * @throws CoxswainError `INVALID_ARGUMENT / E_NOT_JSON`, `E_TOO_DEEP`
 */
export function canonicalJson(value: unknown): string {
  const path: Path = ['value'];
  try {
    return canonical(value, path);
  } catch (error) {
    if (error instanceof CoxswainError) throw error;
    throw notJson(path, 'it cannot be read', error);
  }
}

function canonical(value: unknown, path: Path): string {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'undefined':
      return 'null';
    case 'number':
      if (!Number.isFinite(value)) throw notJson(path, String(value));
      return JSON.stringify(value);
    case 'object':
      break;
    default:
      throw notJson(path, typeof value);
  }
  if (value === null) return 'null';
  if (path.length > MAX_CANONICAL_DEPTH) throw tooDeep(path[0], MAX_CANONICAL_DEPTH);
  let text = '';
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      path.push(index);
      text += `${index === 0 ? '' : ','}${canonical(value[index], path)}`;
      path.pop();
    }
    return `[${text}]`;
  }
  if (!isPlain(value)) throw notJson(path, classOf(value));
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    path.push(key);
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonical(member, path)}`;
    path.pop();
  }
  return `{${text}}`;
}
