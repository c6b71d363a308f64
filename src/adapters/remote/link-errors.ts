import type { WireError } from '../../contracts/index.ts';
import { CoxswainError, ERROR_TABLE, isCoxswainError } from '../../contracts/index.ts';

/** There is no connection; another one may be made. */
export function connectionLost(message: string): CoxswainError {
  return new CoxswainError('UNAVAILABLE', 'E_CONNECTION_LOST', message);
}

/** Nobody has taken the connection up; on a page of another origin the platform does not say why. */
export function unreached(url: string, why: string): CoxswainError {
  return connectionLost(
    `cannot reach ${url}: nothing answers there, or it refuses this page (the connection was ${why})`,
  );
}

/** What went wrong while a connection was made. */
export function asLost(error: unknown): CoxswainError {
  return isCoxswainError(error) ? error : connectionLost(error instanceof Error ? error.message : String(error));
}

/** The server has closed for good. */
export function refused(code: number, why: string): CoxswainError {
  const message = `the connection was ${why}`;
  return code === ERROR_TABLE.E_FORBIDDEN.close
    ? new CoxswainError('PERMISSION_DENIED', 'E_FORBIDDEN', message)
    : new CoxswainError('FAILED_PRECONDITION', 'E_PROTOCOL', message);
}

/** What the server says of a request. */
export function errorOf({ message, data }: WireError): CoxswainError {
  if (!data) return new CoxswainError('INTERNAL', 'E_INTERNAL', message);
  return new CoxswainError(data.status, data.code as `E_${string}`, message, {
    retryable: data.retryable,
    ...(data.details === undefined ? {} : { details: data.details }),
  });
}
