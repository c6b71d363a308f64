import { isCoxswainError, messageOf } from '../../contracts/index.ts';
import type { Failure } from '../log/index.ts';
import { finishReasonOf, unknownEnd } from './finish-reason.ts';
import type { ModelResponse } from './model.ts';

export function isResponse(error: unknown): error is ModelResponse {
  return typeof error === 'object' && error !== null && 'errorCode' in error && !(error instanceof Error);
}

/** The failure of an answer that did not come to a known end; undefined where it did, or says nothing of it. */
export function unknownEndOf({ finishReason }: ModelResponse): ModelResponse | undefined {
  if (finishReason === undefined || finishReasonOf(finishReason) !== undefined) return undefined;
  const { code, message, retryable } = unknownEnd(finishReason);
  return { errorCode: code, errorMessage: `the model failed: ${message}`, retryable };
}

/** What an adapter gives as `errorCode` where the provider says that a request is too long for its model. */
export const CONTEXT_OVERFLOW = 'context_length_exceeded';

/** Whether that is what went wrong, thrown or told. */
export function isOverflow(error: unknown): boolean {
  if (isResponse(error)) return error.errorCode === CONTEXT_OVERFLOW;
  return isCoxswainError(error) && error.code === 'E_CONTEXT';
}

export function modelFailure(response: ModelResponse): Failure {
  return {
    reason: 'failed',
    status: response.retryable ? 'UNAVAILABLE' : 'INTERNAL',
    code: 'E_MODEL',
    message: response.errorMessage ?? `the model failed: ${response.errorCode}`,
    fatal: true,
    retryable: response.retryable ?? false,
    details: { errorCode: response.errorCode, ...(response.tried ? { tried: response.tried } : {}) },
  };
}

export function thrownFailure(model: string, error: unknown): Failure {
  if (isCoxswainError(error)) {
    const { status, code, message, retryable, details } = error;
    return { reason: 'failed', status, code, message, fatal: true, retryable, ...(details ? { details } : {}) };
  }
  const message = `model ${model} failed: ${messageOf(error)}`;
  return { reason: 'failed', status: 'UNAVAILABLE', code: 'E_MODEL', message, fatal: true, retryable: false };
}
