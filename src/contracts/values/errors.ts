import type { ErrorCode, StatusCode, StatusOf } from './error-table.ts';
import { errorRowOf } from './error-table.ts';

export interface ErrorOptions {
  /** The same call may succeed later. Default: what `docs/errors.md` says of the code; of one of your own, false. */
  retryable?: boolean;
  /** Facts for programs; no secrets. */
  details?: Record<string, unknown>;
  cause?: unknown;
}

const marker = Symbol.for('coxswain.error');

/**
 * What every refusal and failure of this package is. Recognised with {@link isCoxswainError}, which works over
 * several copies of the package in one program (`instanceof` does not).
 */
export class CoxswainError<out C extends string = ErrorCode | (`E_${string}` & {})> extends Error {
  readonly status: StatusCode;
  readonly code: C;
  readonly retryable: boolean;
  readonly details: Record<string, unknown> | undefined;
  readonly [marker] = true;

  constructor(status: StatusOf<C>, code: C, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CoxswainError';
    this.status = status;
    this.code = code;
    this.retryable = options.retryable ?? errorRowOf(code)?.retryable === true;
    this.details = options.details;
  }
}

export function isCoxswainError(value: unknown): value is CoxswainError {
  try {
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[marker] === true;
  } catch {
    // A proxy that lets nobody look at it.
    return false;
  }
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return thrown.message;
    return String(thrown);
  } catch {
    return 'something that has no text was thrown';
  }
}
