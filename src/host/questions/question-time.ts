import type { PendingRequest } from '../../contracts/index.ts';
import type { HeldQuestion } from './obligations.ts';

// All that time does to a question of a host is said here. What is to happen at another moment than the end (a word to
// more people, say) has that moment in `changesAt`: it is looked at again then, by the run or by whoever looks first.

/** When nobody can say yes any more, epoch milliseconds: of policy's time, and of what the question was put with. */
export function expiryOf({ requestedAt }: PendingRequest, { expiresIn, expiresAt }: HeldQuestion): number | undefined {
  const own = expiresIn === undefined ? undefined : Date.parse(requestedAt) + expiresIn * 1000;
  return own === undefined || expiresAt === undefined ? (own ?? expiresAt) : Math.min(own, expiresAt);
}

export function hasExpired(expiresAt: number | undefined): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now();
}

/** When a question that is shown has to be judged again, epoch milliseconds; undefined: never by itself. */
export function changesAt({ expiresAt }: PendingRequest): number | undefined {
  return expiresAt === undefined ? undefined : Date.parse(expiresAt);
}

/** Milliseconds until the first of these has to be judged again; undefined: none does by itself. */
export function untilFirstChange(questions: readonly PendingRequest[]): number | undefined {
  let first = Number.POSITIVE_INFINITY;
  for (const question of questions) first = Math.min(first, changesAt(question) ?? first);
  return first === Number.POSITIVE_INFINITY ? undefined : Math.max(0, first - Date.now()) + 1;
}
