import { errorRowOf, isCoxswainError, messageOf } from '../../contracts/index.ts';
import type { Failure, Outcome, StoredEvent } from '../log/index.ts';
import { SUSPENDED } from '../log/index.ts';

/** An abort by a limit ends the turn with the limit's reason. */
export function limitReason(reason: unknown): string | undefined {
  return isCoxswainError(reason) ? errorRowOf(reason.code)?.ends : undefined;
}

/** How an event tells of it. */
export function errorFields(failure: Failure): Partial<StoredEvent> {
  const { code, message, status, fatal, retryable, details } = failure;
  return {
    errorCode: code,
    errorMessage: message,
    error: { status, fatal, retryable, ...(details ? { details } : {}) },
  };
}

/** What was thrown, as a failure of the turn. */
export function failureOf(error: unknown): Failure {
  if (isCoxswainError(error)) {
    const { status, code, message, retryable, details } = error;
    const reason = limitReason(error);
    return {
      reason: reason ?? 'failed',
      status,
      code,
      message,
      fatal: reason === undefined,
      retryable,
      ...(details ? { details } : {}),
    };
  }
  return {
    reason: 'failed',
    status: 'INTERNAL',
    code: 'E_INTERNAL',
    message: messageOf(error),
    fatal: true,
    retryable: false,
  };
}

/** What a run comes to in which something was thrown: of one that was aborted, that is no failure. */
export function thrownOutcome(signal: AbortSignal, error: unknown): Outcome {
  return signal.aborted ? SUSPENDED : { kind: 'failed', failure: failureOf(error) };
}
