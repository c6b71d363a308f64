import type { WireError } from '../../../contracts/index.ts';
import { CoxswainError, isCoxswainError, messageOf, RPC_CODES } from '../../../contracts/index.ts';
import { EventPage } from './event-page.ts';

/** Levels of nesting that a message may have: those of a value (200) and its envelope. */
const MAX_DEPTH = 220;

/** Whether JSON text nests deeper than allowed; found before it is parsed. */
export function isTooDeep(text: string, max: number = MAX_DEPTH): boolean {
  if (text.length <= max) return false;
  let depth = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (quoted) {
      if (code === 0x5c) index++;
      else if (code === 0x22) quoted = false;
    } else if (code === 0x22) quoted = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > max) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}

const INTERNAL = 'the server failed at this request; its own log says how';

/** What a client is told of a failure. Faults that are not typed stay inside: their texts may hold anything. */
export function wireError(thrown: unknown, code: number = RPC_CODES.server): WireError {
  const error = isCoxswainError(thrown) ? thrown : new CoxswainError('INTERNAL', 'E_INTERNAL', INTERNAL);
  return {
    code,
    message: error.message,
    data: {
      status: error.status,
      code: error.code,
      retryable: error.retryable,
      ...(error.details === undefined ? {} : { details: error.details }),
    },
  };
}

export function resultText(id: string | number, result: unknown): string {
  if (result instanceof EventPage) return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result.text}}`;
  return JSON.stringify({ jsonrpc: '2.0', id, result: result ?? null });
}

export function errorText(id: string | number | null, error: WireError): string {
  try {
    return JSON.stringify({ jsonrpc: '2.0', id, error });
  } catch (fault) {
    // Details that are no JSON.
    return JSON.stringify({ jsonrpc: '2.0', id, error: { code: error.code, message: messageOf(fault) } });
  }
}

export function noticeText(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

export function protocolError(message: string, status: 'INVALID_ARGUMENT' | 'UNIMPLEMENTED' = 'INVALID_ARGUMENT') {
  return new CoxswainError(status, 'E_PROTOCOL', message);
}
