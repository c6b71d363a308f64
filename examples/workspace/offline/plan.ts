import type { Answer } from './conversation.ts';

export interface Call {
  name: string;
  args: Record<string, unknown>;
}

/** One round of tool calls, side by side. */
export interface Step {
  calls: Call[];
  /** The file that the calls would change. */
  changes?: string;
  /** What there is to tell already, should the calls fail. */
  sofar?: string;
  /** Failures are handed to the plan instead of ending it. */
  tolerant?: boolean;
}

/**
 * Work on one request: yields rounds of calls, gets their answers, returns what to say. Run again from its start
 * at each step of the turn, so it may depend on nothing but its arguments and the answers.
 */
export type Plan = Generator<Step, string, Answer[]>;
/** A part of a plan that finds something out. */
export type Part<T> = Generator<Step, T, Answer[]>;

/** Ends a plan with something to say. */
export class GiveUp extends Error {}

/** One call; returns what the tool said. */
export function* ask(name: string, args: Record<string, unknown>, rest: Omit<Step, 'calls'> = {}): Part<string> {
  const [answer] = yield { calls: [{ name, args }], ...rest };
  return answer?.text ?? '';
}

/** Why a round did not work, and what that leaves undone. */
export function explainFailure({ name, errorType, status, text }: Answer, { changes }: Step): string {
  const words = text.trim().replace(/\.$/, '');
  const reason = words === '' || words.toLowerCase() === errorType ? '' : ` (${words})`;
  const undone = changes === undefined ? 'I stopped there.' : `${changes} was not written.`;
  const open = (state: string) => (changes === undefined ? 'I stopped there.' : `Whether ${changes} ${state}.`);
  if (status === 'pending') return `${name} has no outcome yet${reason}. ${open('will be written is still open')}`;
  switch (errorType) {
    case 'denied':
      return `${name} was denied${reason}. ${undone}`;
    case 'cancelled':
      return `${name} was cancelled before it ran${reason}. ${undone}`;
    case 'interrupted':
    case 'timeout':
      return `${name} started but did not finish${reason}. ${open('was written is unknown; look before you ask again')}`;
    default:
      return `${name} failed${reason === '' ? '' : `: ${words}`}. ${undone}`;
  }
}
