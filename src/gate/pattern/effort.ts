/** It cannot be told whether a value fits: the text is too long, or the pattern or schema would take too long on it. */
export class Undecided extends Error {}

/** Steps that one evaluation of a schema or a policy may take, however many patterns it has: tens of milliseconds. */
const MAX_STEPS = 5_000_000;
/** All evaluations on behalf of one owner: a model may make many calls in one turn. */
const MAX_STEPS_OF_OWNER = 4 * MAX_STEPS;

const leftOf = new WeakMap<object, number>();
let left: number | undefined;

/**
 * Runs something that is not asynchronous with one allowance for all its patterns and schemas; inside another one, with
 * that one's. `owner`: its evaluations together have an allowance, too.
 * @throws Undecided
 */
export function withEffort<T>(work: () => T, owner?: object): T {
  if (left !== undefined) return work();
  const ofOwner = owner && (leftOf.get(owner) ?? MAX_STEPS_OF_OWNER);
  const start = Math.min(MAX_STEPS, ofOwner ?? MAX_STEPS);
  left = start;
  try {
    return work();
  } finally {
    if (owner && ofOwner !== undefined && left < start) leftOf.set(owner, ofOwner - (start - left));
    left = undefined;
  }
}

/** Takes steps before they are made. @throws Undecided where there are not so many left */
export function spend(steps: number): void {
  if (steps > (left ?? MAX_STEPS)) throw new Undecided('checking it against patterns and schemas would take too long');
  if (left !== undefined) left -= steps;
}

/** Takes steps that were made already. */
export function charge(steps: number): void {
  if (left !== undefined) left = Math.max(0, left - steps);
}
