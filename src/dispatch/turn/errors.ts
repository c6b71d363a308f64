import type { ErrorCode, StatusOf } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';

/** An error that names what failed and keeps what it was caused by. */
export function caused<C extends ErrorCode>(
  status: StatusOf<C>,
  code: C,
  what: string,
  cause: unknown,
): CoxswainError<C> {
  return new CoxswainError(status, code, `${what}: ${messageOf(cause)}`, { cause });
}

export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(messageOf(thrown), { cause: thrown });
}

/** Thrown by what was cancelled; no error of its own. */
export function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError';
}
