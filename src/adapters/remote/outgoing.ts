import { CoxswainError } from '../../contracts/index.ts';

/**
 * A request as it is sent: one that is too large would end the connection, again and again.
 * @throws CoxswainError `INVALID_ARGUMENT / E_TOO_LARGE`
 */
export function requestText(id: number, method: string, params: object, maxPayload: number): string {
  const text = JSON.stringify({ jsonrpc: '2.0', id, method, params });
  // At most three bytes a character.
  if (text.length * 3 <= maxPayload || new TextEncoder().encode(text).length <= maxPayload) return text;
  const message = `${method} is larger than the ${maxPayload} bytes that the server takes`;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_TOO_LARGE', message);
}

/** A request that nobody answers. */
export function noticeText(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}
