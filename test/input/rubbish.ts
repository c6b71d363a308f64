import { isPromise } from 'node:util/types';
import { expect } from 'vitest';
import { ERROR_CODES, isCoxswainError } from '../../src/contracts/index.ts';

/** Throws whatever is done with it. */
function touchy<T extends object>(target: T): T {
  const refuse = () => {
    throw new Error('do not touch');
  };
  const traps = ['get', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor', 'apply', 'construct'];
  return new Proxy(target, Object.fromEntries(traps.map((trap) => [trap, refuse])));
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function nested(depth: number): object {
  let value = {};
  for (let n = 0; n < depth; n++) value = { value };
  return value;
}

function cycle(): object {
  const value: Record<string, unknown> = {};
  value.self = value;
  return value;
}

const THING = {
  get name(): string {
    throw new Error('no name for you');
  },
};

/** What plain JavaScript may hand to anything, made anew for each use. */
export const RUBBISH: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  'a number': () => 5,
  NaN: () => Number.NaN,
  'a bigint': () => 5n,
  'a symbol': () => Symbol('rubbish'),
  true: () => true,
  'empty text': () => '',
  text: () => 'rubbish',
  'an empty list': () => [],
  'a list of numbers': () => [5],
  'a list of nulls': () => [null],
  'an empty object': () => ({}),
  'an object without prototype': () => Object.create(null),
  'an object in a circle': cycle,
  'a deep object': () => nested(10_000),
  'a throwing getter': () => THING,
  'a throwing proxy': () => touchy({}),
  'a proxy that throws when it is read': () =>
    new Proxy(
      {},
      {
        get() {
          throw new Error('do not read');
        },
      },
    ),
  'a throwing function': () => touchy(() => undefined),
  'a revoked proxy': revoked,
  'a function': () => () => undefined,
  'a class': () => class {},
  'a date': () => new Date(0),
  'a map': () => new Map(),
};

/** Never right where an object is asked for. */
export const NO_OBJECTS = ['null', 'a number', 'NaN', 'a bigint', 'a symbol', 'true', 'empty text', 'text'] as const;

export type Outcome = 'taken' | 'refused';

/** Whether it was taken. Anything but a documented error of the package fails the test. */
export async function outcomeOf(label: string, call: () => unknown): Promise<Outcome> {
  try {
    const result = call();
    // Not whatever else has been handed through: to look for a `then` is to touch it.
    if (isPromise(result)) await result;
    return 'taken';
  } catch (error) {
    if (!isCoxswainError(error)) throw new Error(`${label}: an error without a code`, { cause: error });
    expect(ERROR_CODES, label).toContain(error.code);
    expect(error.message, label).not.toBe('');
    return 'refused';
  }
}

type Door = (value: unknown) => unknown;

/** Functions that are called by what they are given to: what they throw is their caller's to see. */
export const CALLED = ['a throwing function', 'a class'];

/** What nobody can wait for, since that is to look at it. */
export const UNAWAITABLE = [
  'a proxy that throws when it is read',
  'a throwing proxy',
  'a throwing function',
  'a revoked proxy',
];

/** Throws everything at a door. The labels of what it took. */
export async function taken(name: string, door: Door, except: readonly string[] = []): Promise<string[]> {
  const labels: string[] = [];
  for (const [label, make] of Object.entries(RUBBISH)) {
    if (except.includes(label)) continue;
    if ((await outcomeOf(`${name} of ${label}`, () => door(make()))) === 'taken') labels.push(label);
  }
  return labels;
}

/** One door for each member of a set of options, the others as they should be. */
export function doorsOf<T extends object>(
  name: string,
  valid: T,
  members: readonly (keyof T & string)[],
  use: (options: T) => unknown,
): [name: string, door: Door][] {
  return members.map((member) => [`${name}.${member}`, (value) => use({ ...valid, [member]: value })]);
}
