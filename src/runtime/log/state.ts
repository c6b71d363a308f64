import type { LazyMap } from '../../base/index.ts';
import { isEmpty } from '../../base/index.ts';
import type { StateAccess } from '../../contracts/index.ts';
import { CoxswainError, copyJson, setOwn } from '../../contracts/index.ts';

/** State with nothing in it: most sessions have no more, so that one stands for all. */
export const noState: Readonly<Record<string, unknown>> = Object.freeze({});

export type StateScope = 'session' | 'app' | 'user' | 'temp';

/** The scope that a key's prefix names. */
export function scopeOf(key: string): StateScope {
  if (key.startsWith('app:')) return 'app';
  if (key.startsWith('user:')) return 'user';
  if (key.startsWith('temp:')) return 'temp';
  return 'session';
}

/** Applies a delta in place; a top-level null deletes, nested nulls stay. */
export function applyDelta(state: Record<string, unknown>, delta: Readonly<Record<string, unknown>>): void {
  for (const key of Object.keys(delta)) {
    const value = delta[key];
    if (value === null) delete state[key];
    else setOwn(state, key, value);
  }
}

/** Splits a delta by scope; prefixes are cut off (`app:model` → app.model). `temp:` keys are dropped. */
export function splitDelta(delta: Readonly<Record<string, unknown>>): {
  session: Record<string, unknown>;
  app: Record<string, unknown>;
  user: Record<string, unknown>;
} {
  const split = { session: {}, app: {}, user: {} };
  for (const key of Object.keys(delta)) {
    const scope = scopeOf(key);
    if (scope === 'temp') continue;
    setOwn(split[scope], scope === 'session' ? key : key.slice(scope.length + 1), delta[key]);
  }
  return split;
}

/** Puts the three scopes together again, prefixes restored. */
export function joinState(
  session: Readonly<Record<string, unknown>>,
  app: Readonly<Record<string, unknown>>,
  user: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (isEmpty(session) && isEmpty(app) && isEmpty(user)) return noState;
  const state: Record<string, unknown> = {};
  for (const key of Object.keys(session)) setOwn(state, key, session[key]);
  for (const key of Object.keys(app)) state[`app:${key}`] = app[key];
  for (const key of Object.keys(user)) state[`user:${key}`] = user[key];
  return state;
}

/** Without its `temp:` keys, which live for one invocation and are never stored. */
export function storedDelta(delta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const stored: Record<string, unknown> = {};
  for (const key of Object.keys(delta)) if (scopeOf(key) !== 'temp') setOwn(stored, key, delta[key]);
  return stored;
}

/** Checks and copies a value at the write, on every backend alike. */
export function stateValue(key: string, value: unknown): unknown {
  if (typeof key !== 'string' || key === '') {
    throw new CoxswainError('INVALID_ARGUMENT', 'E_STATE_KEY', 'a state key is text, and not empty');
  }
  return value === undefined ? null : copyJson(value, `state ${JSON.stringify(key)}`);
}

/**
 * Reads look through a chain of uncommitted writes (tool → callback → invocation's temp → session); writes go into
 * the first. Reads are isolated copies.
 */
export class StateView implements StateAccess {
  readonly delta: Record<string, unknown>;
  readonly #below: () => readonly Readonly<Record<string, unknown>>[];

  constructor(delta: Record<string, unknown>, below: () => readonly Readonly<Record<string, unknown>>[]) {
    this.delta = delta;
    this.#below = below;
  }

  get(key: string): unknown {
    for (const layer of this.#layers()) {
      if (Object.hasOwn(layer, key)) {
        const value = layer[key];
        return value === null ? undefined : typeof value === 'object' ? structuredClone(value) : value;
      }
    }
    return undefined;
  }

  has(key: string): boolean {
    const layer = this.#layers().find((candidate) => Object.hasOwn(candidate, key));
    return layer !== undefined && layer[key] !== null;
  }

  set(key: string, value: unknown): void {
    setOwn(this.delta, key, stateValue(key, value));
  }

  delete(key: string): void {
    this.set(key, null);
  }

  toObject(): Record<string, unknown> {
    const merged: Record<string, unknown> = {};
    for (const layer of this.#layers().toReversed()) applyDelta(merged, layer);
    return structuredClone(merged);
  }

  #layers(): readonly Readonly<Record<string, unknown>>[] {
    return [this.delta, ...this.#below()];
  }
}

/** Writes `temp:` state of one invocation. */
export function setTemp(
  temp: LazyMap<string, Record<string, unknown>>,
  scope: string,
  key: string,
  value: unknown,
): void {
  let layer = temp.get(scope);
  if (!layer) {
    layer = {};
    temp.set(scope, layer);
  }
  setOwn(layer, key, value);
}

/** The `app:` and `user:` keys of a state, prefixes kept. */
export function sharedPart(state: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let shared: Record<string, unknown> | undefined;
  for (const key in state) {
    if (!key.startsWith('app:') && !key.startsWith('user:')) continue;
    shared ??= {};
    shared[key] = state[key];
  }
  return shared ?? noState;
}
