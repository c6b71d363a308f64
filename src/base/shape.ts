import { CoxswainError } from '../contracts/index.ts';
import { nearest } from './nearest.ts';
import { isObject } from './objects.ts';

/** What a member may be. Absent ones are fine, unless it is {@link required}. */
export interface Check {
  /** Completes "give …". */
  readonly needs: string;
  readonly fits: (value: unknown) => boolean;
  readonly required?: true;
  /** A text that is wrong is repeated in the error: it is never a secret. */
  readonly shown?: true;
}

/** A check for every member: one that is added to the type and forgotten here does not compile. */
export type Shape<T> = { readonly [K in keyof Required<T>]: Check };

const check = (needs: string, fits: (value: unknown) => boolean): Check => ({ needs, fits });

export const anything = check('anything', () => true);
export const text = check('text', (value) => typeof value === 'string');
export const name = check('text that is not empty', (value) => typeof value === 'string' && value !== '');
export const flag = check('true or false', (value) => typeof value === 'boolean');
/** For what can be switched off. */
export const off = check('false', (value) => value === false);
export const fn = check('a function', (value) => typeof value === 'function');
export const number = check('a number', (value) => typeof value === 'number');
/** Infinity is one: it says that there is no limit. */
export const amount = check('a number from 0', (value) => typeof value === 'number' && value >= 0);
export const count = check('a whole number from 0', (value) => amount.fits(value) && isWhole(value));
export const object = check('an object', isObject);
/** What is copied as it stands: each member can be read. */
export const bag = check('an object', (value) => isObject(value) && isPlain(value) && Object.values(value).length >= 0);
export const list = check('a list', Array.isArray);
/** For what permits something by what it lacks: a promise, a Set or an instance of a class has no members either. */
export const literal = check('a plain object', (value) => isObject(value) && isLiteral(value));
export const names = check('a list of names', (value) => Array.isArray(value) && value.every(text.fits));
export const texts = check('an object of texts', (value) => isObject(value) && Object.values(value).every(text.fits));
export const signal = check('an AbortSignal', (value) => isObject(value) && has(value, ['addEventListener']));

export const iterable = check(
  'an iterable, or an async one',
  (value) => has(value, [Symbol.asyncIterator]) || has(value, [Symbol.iterator]),
);

export const oneOf = (...values: readonly string[]): Check => ({
  ...check(`one of ${values.join(', ')}`, (value) => typeof value === 'string' && values.includes(value)),
  shown: true,
});

/** An object, an instance or a function with these methods: what it does is its own business. */
export const having = (...methods: readonly string[]): Check =>
  check(`an object with ${methods.map((method) => `${method}()`).join(', ')}`, (value) => has(value, methods));

export const listOf = (item: Check): Check =>
  check(`a list, each ${item.needs}`, (value) => Array.isArray(value) && value.every(item.fits));

export const either = (a: Check, b: Check): Check =>
  check(`${a.needs} or ${b.needs}`, (value) => a.fits(value) || b.fits(value));

export const required = (member: Check): Check => ({ ...member, required: true });

/**
 * Looks at what a caller gave, once and before anything is done with it: whoever writes plain JavaScript has no
 * compiler that would. What is not named in the shape is the caller's, but for a name that is nearly one of it.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` naming the member and what to give
 */
export function checkShape<T>(value: unknown, where: string, shape: Shape<T>): asserts value is T {
  look(value, where, shape as Readonly<Record<string, Check>>, false);
}

/**
 * The same for options of this package's own: one that is not known leaves something as it was not meant.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` naming the member and the one that was probably meant
 */
export function checkOptions<T>(value: unknown, where: string, shape: Shape<T>): asserts value is T {
  look(value, where, shape as Readonly<Record<string, Check>>, true);
}

function look(value: unknown, where: string, members: Readonly<Record<string, Check>>, isClosed: boolean): void {
  try {
    if (!isObject(value)) throw bad(where, value, object);
    if (isClosed && isNoOptions(value)) throw bad(where, value, literal);
    // Of an ordinary object only what is there is looked at: this is done for each session and each stream.
    const isOrdinary = Object.getPrototypeOf(value) === Object.prototype && isPlain(value);
    const looked = isOrdinary ? requiredOf(members) : Object.keys(members);
    for (const member of looked) checkMember(value, where, member, members[member] as Check);
    for (const member in value) {
      if (Object.hasOwn(members, member)) {
        checkMember(value, where, member, members[member] as Check);
        continue;
      }
      readMember(value, where, member);
      if (isClosed) throw unknownMember(where, member, Object.keys(members));
      const known = strangersTo(members);
      if (known.has(member)) continue;
      const meant = nearest(member, Object.keys(members));
      if (meant !== undefined) throw badInput(`${where}.${member} is not known; write ${meant}`);
      if (known.size < MOST_STRANGERS) known.add(member);
    }
  } catch (error) {
    throw unreadable(where, error);
  }
}

/**
 * Members of a value that permits something: one that is not known may have been meant to change or narrow what is
 * permitted, so there is none that may be passed by.
 * @param also known too, and nobody is told to give them
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` naming the member and the one that was probably meant
 */
export function checkMembers(
  value: object,
  where: string,
  known: readonly string[],
  also: readonly string[] = [],
): void {
  const unknown = Object.keys(value).find((member) => !known.includes(member) && !also.includes(member));
  if (unknown !== undefined) throw unknownMember(where, unknown, known);
}

/**
 * For what a function of a caller gave where nothing waits for it: a promise would count as true, or as options without
 * members.
 * @param caught is called with what the promise rejects with, so that its rejection does not end the process
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 */
export function checkNoPromise(value: unknown, where: string, caught: (error: unknown) => void): void {
  if (!guarded(where, () => has(value, ['then']))) return;
  Promise.resolve(value).then(undefined, caught);
  throw badInput(`${where} is a promise, and nothing waits for it; give the value itself`);
}

/** What has its content elsewhere than in members: it would be taken for options that set nothing. */
function isNoOptions(value: object): boolean {
  if (isLiteral(value)) return false;
  return has(value, ['then']) || has(value, [Symbol.iterator]) || value instanceof Date;
}

/** An object literal or parsed JSON, also one of another realm. */
function isLiteral(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

const nobodys = Symbol('nobodys');

/** A proxy gives something for any name, or throws: no module of Node's is needed to tell, which browsers have not. */
function isPlain(value: object): boolean {
  return (value as Record<symbol, unknown>)[nobodys] === undefined;
}

/** Names that are no slip of one of a shape: objects of the same kind come again and again. */
const strangers = new WeakMap<object, Set<string>>();
const MOST_STRANGERS = 64;

function strangersTo(members: object): Set<string> {
  let known = strangers.get(members);
  if (!known) {
    known = new Set();
    strangers.set(members, known);
  }
  return known;
}

const requiredMembers = new WeakMap<object, readonly string[]>();

function requiredOf(members: Readonly<Record<string, Check>>): readonly string[] {
  let known = requiredMembers.get(members);
  if (!known) {
    known = Object.keys(members).filter((member) => members[member]?.required);
    requiredMembers.set(members, known);
  }
  return known;
}

function checkMember(value: object, where: string, member: string, wanted: Check): void {
  const given = readMember(value, where, member);
  if (given === undefined ? !wanted.required : wanted.fits(given)) return;
  throw bad(`${where}.${member}`, given, wanted);
}

function unknownMember(where: string, member: string, known: readonly string[]): CoxswainError {
  const slip = nearest(member, known);
  if (slip !== undefined) return badInput(`${where}.${member} is not known; write ${slip}`);
  const plain = member.toLowerCase();
  const meant = known.find((one) => one.toLowerCase().startsWith(plain) || plain.startsWith(one.toLowerCase()));
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return badInput(`${where}.${member} is not known${hint}; give nothing but ${known.join(', ')}`);
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` saying what to give */
export function checkIs(value: unknown, where: string, wanted: Check): void {
  guarded(where, () => {
    if (!wanted.fits(value)) throw bad(where, value, wanted);
  });
}

/**
 * Looks at what a caller gave: a getter or a proxy of theirs may throw whatever it likes. For looking only: what goes
 * wrong in this package must not be put down to its caller.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 */
export function guarded<T>(where: string, look: () => T): T {
  try {
    return look();
  } catch (error) {
    throw unreadable(where, error);
  }
}

function unreadable(where: string, error: unknown): CoxswainError {
  if (error instanceof CoxswainError) return error;
  return badInput(`${where} cannot be read: a getter or proxy of it throws`, error);
}

function readMember(value: object, where: string, member: string): unknown {
  try {
    return (value as Record<string, unknown>)[member];
  } catch (error) {
    throw badInput(`${where}.${member} cannot be read: its getter throws`, error);
  }
}

function bad(where: string, value: unknown, { needs, shown }: Check): CoxswainError {
  const what = shown && typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : kindOf(value);
  return badInput(`${where} is ${what}; give ${needs}`);
}

export function badInput(what: string, cause?: unknown): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `bad input: ${what}`, { cause });
}

/** What something is, in words. Never a text's own: it may be a secret in the wrong place. */
export function kindOf(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return 'missing';
    case 'string':
      return value === '' ? 'empty' : 'text';
    case 'number':
    case 'boolean':
      return String(value);
    case 'object':
      break;
    default:
      return `a ${typeof value}`;
  }
  if (value === null) return 'null';
  try {
    if (value instanceof Promise) return 'a promise (await it)';
    for (const kind of [Set, Map, Date]) if (value instanceof kind) return `a ${kind.name}`;
    return Array.isArray(value) ? 'a list' : 'an object';
  } catch {
    return 'an object';
  }
}

function isWhole(value: unknown): boolean {
  return Number.isInteger(value) || value === Number.POSITIVE_INFINITY;
}

function has(value: unknown, methods: readonly (string | symbol)[]): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return methods.every((method) => typeof (value as Record<string | symbol, unknown>)[method] === 'function');
}
