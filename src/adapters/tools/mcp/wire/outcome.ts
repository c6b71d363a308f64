import type { ToolErrorType } from '../../../../contracts/index.ts';
import { UNANSWERED } from './http.ts';
import type { McpSdk } from './sdk.ts';

/** What a request that was sent over HTTP and refused says of its session: only the transport's own word counts. */
export function isForgotten(error: unknown, sessionId: string | undefined, { SdkHttpError }: McpSdk): boolean {
  return sessionId !== undefined && error instanceof SdkHttpError && error.status === 404;
}

/** No connection was made, so nothing was sent. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The answer came, and could not be read. */
const UNREADABLE = new Set([
  'CONNECTION_CLOSED',
  'INVALID_RESULT',
  'UNSUPPORTED_RESULT_TYPE',
  'CLIENT_HTTP_UNEXPECTED_CONTENT',
]);

/** Whether it was said by the server itself, however badly. */
export function isAnswer(error: unknown, { ProtocolError, SdkError }: McpSdk): boolean {
  if (error instanceof ProtocolError) return error.data !== UNANSWERED;
  return error instanceof SdkError && (error.code === 'INVALID_RESULT' || error.code === 'UNSUPPORTED_RESULT_TYPE');
}

/** The server has not answered for as long as an option says. */
export class Silence extends Error {}

/** Nothing came, for as long as it was waited. */
export function isLate(error: unknown, { SdkError, SdkErrorCode }: McpSdk): boolean {
  return error instanceof Silence || (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout);
}

/**
 * What a call that threw came to: `failed` where the server refused it or said that it failed, or it was never sent;
 * `timeout` and `interrupted` where it may have run.
 */
export function errorTypeOfThrown(
  error: unknown,
  sdk: McpSdk,
): Extract<ToolErrorType, 'failed' | 'timeout' | 'interrupted'> {
  if (error instanceof sdk.ProtocolError) return error.data === UNANSWERED ? 'interrupted' : 'failed';
  // A gateway's error, or one of a server that broke while it worked.
  if (error instanceof sdk.SdkHttpError) return error.status === 408 || error.status >= 500 ? 'interrupted' : 'failed';
  if (error instanceof sdk.SdkError) {
    if (error.code === sdk.SdkErrorCode.RequestTimeout) return 'timeout';
    return UNREADABLE.has(error.code) ? 'interrupted' : 'failed';
  }
  if (error instanceof sdk.UnauthorizedError) return 'failed';
  return isUnsent(error) ? 'failed' : 'interrupted';
}

function isUnsent(error: unknown): boolean {
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown[] };
  if (typeof code === 'string' && UNSENT.has(code)) return true;
  if (errors?.length) return errors.every(isUnsent);
  return typeof cause === 'object' && cause !== null && isUnsent(cause);
}
