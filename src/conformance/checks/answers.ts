import type { Settlement } from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';

/** The status of an answer, or the code that it was refused with. */
export async function answerStatus(answer: Promise<Settlement>): Promise<string> {
  try {
    return (await answer).status;
  } catch (error) {
    if (isCoxswainError(error)) return error.code;
    throw error;
  }
}

/** The two ways to say that an answer comes too late. */
export function isClosed(outcome: string): boolean {
  return outcome === 'already_settled' || outcome === 'E_REQUEST_CLOSED';
}
