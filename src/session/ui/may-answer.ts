import { isThenable } from '../../base/index.ts';
import { CoxswainError } from '../../contracts/index.ts';

/**
 * Whether whoever looks may answer a question, as the application says; where it says nothing, they may.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for what is neither true nor false: a promise would be taken for true
 */
export function mayTheyAnswer<Q>(mayAnswer: ((question: Q) => boolean) | undefined, question: Q): boolean {
  if (mayAnswer === undefined) return true;
  const said: unknown = mayAnswer(question);
  if (typeof said === 'boolean') return said;
  // What it would have failed with is of no use to anybody.
  if (isThenable(said)) said.then(undefined, () => {});
  throw new CoxswainError(
    'INVALID_ARGUMENT',
    'E_BAD_INPUT',
    `mayAnswer returns true or false, at once; it returned ${isThenable(said) ? 'a promise: ask before the stream is made' : typeof said}`,
  );
}
