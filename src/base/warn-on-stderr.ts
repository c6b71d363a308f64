import { isThenable } from './is-thenable.ts';

/** Gets what went wrong without an effect on what is under way. */
export type Warn = (message: string, error?: unknown) => unknown;

type Warner = (message: string, error?: unknown) => void;

/** What `warn` is where nobody gives another. */
export function warnOnStderr(message: string, error?: unknown): void {
  console.warn(`coxswain: ${message}`, ...(error === undefined ? [] : [error]));
}

const guarded = new WeakMap<Warn, Warner>();
const guards = new WeakSet<Warn>();

/**
 * The caller's `warn`, or stderr. One that throws, or whose promise rejects, has no effect on what it is told of: what it
 * was told goes to stderr, with its failure.
 */
export function warnWith(warn: Warn = warnOnStderr): Warner {
  if (guards.has(warn)) return warn;
  let safe = guarded.get(warn);
  if (!safe) {
    safe = guard(warn);
    guarded.set(warn, safe);
    guards.add(safe);
  }
  return safe;
}

function guard(warn: Warn): Warner {
  return (message, error) => {
    const failed = (failure: unknown) => {
      warnOnStderr(`${message} (warn has failed: ${wordOf(failure)})`, error);
    };
    try {
      const told = error === undefined ? warn(message) : warn(message, error);
      if (isThenable(told)) told.then(undefined, failed);
    } catch (failure) {
      failed(failure);
    }
  };
}

function wordOf(failure: unknown): string {
  try {
    return failure instanceof Error ? failure.message : String(failure);
  } catch {
    return 'something that cannot be read';
  }
}
