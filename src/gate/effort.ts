/** It cannot be told whether a value fits: the text is too long, or the pattern or schema would take too long on it. */
export class Undecided extends Error {}

/** Steps that one evaluation of a schema or a policy may take, however many patterns it has: tens of milliseconds. */
const MAX_STEPS = 5_000_000;

let left: number | undefined;

/** Runs something that is not asynchronous with one allowance for all its patterns. @throws Undecided */
export function withEffort<T>(work: () => T): T {
  if (left !== undefined) return work();
  left = MAX_STEPS;
  try {
    return work();
  } finally {
    left = undefined;
  }
}

/** Takes steps before they are made. @throws Undecided where there are not so many left */
export function spend(steps: number): void {
  if (steps > (left ?? MAX_STEPS)) throw new Undecided(`testing patterns would take too long (${steps} steps)`);
  if (left !== undefined) left -= steps;
}
