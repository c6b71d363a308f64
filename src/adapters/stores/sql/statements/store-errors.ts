import type { StatusCode } from '../../../../contracts/index.ts';
import { CoxswainError, isCoxswainError, messageOf } from '../../../../contracts/index.ts';
import { DuplicateEvent } from './duplicate.ts';

/** What went wrong in a database, in words that are the same for all of them. */
export type Trouble = 'full' | 'read-only' | 'unreached' | 'away' | 'busy' | 'refused' | 'too large' | 'other';

const said: Record<Trouble, (store: string, cause: string) => [StatusCode, CoxswainError['code'], string]> = {
  full: (store, cause) => [
    'RESOURCE_EXHAUSTED',
    'E_STORE_FULL',
    `session store ${store} is full (${cause}): free space, then repeat; nothing of this write was stored`,
  ],
  'read-only': (store, cause) => [
    'FAILED_PRECONDITION',
    'E_STORE_READ_ONLY',
    `session store ${store} is read-only (${cause}): give this user the right to write, or another URL`,
  ],
  unreached: (store, cause) => [
    'UNAVAILABLE',
    'E_STORE',
    `session store ${store} cannot be reached (${cause}): check host and port, and that it runs; nothing was stored`,
  ],
  away: (store, cause) => [
    'UNAVAILABLE',
    'E_STORE',
    `session store ${store} does not answer (${cause}): repeat; an append under way may have been stored`,
  ],
  busy: (store, cause) => ['UNAVAILABLE', 'E_STORE', `session store ${store} is busy (${cause}): repeat`],
  refused: (store, cause) => [
    'FAILED_PRECONDITION',
    'E_STORE',
    `session store ${store} cannot be used (${cause}): check user, password, database, rights and tables`,
  ],
  'too large': (store, cause) => [
    'INVALID_ARGUMENT',
    'E_TOO_LARGE',
    `session store ${store} takes no event of this size (${cause}): put large bodies into artifacts`,
  ],
  other: (store, cause) => ['INTERNAL', 'E_STORE', `session store ${store}: ${cause}`],
};

export function troubleError(trouble: Trouble, thrown: unknown, store: string): unknown {
  if (isCoxswainError(thrown) || thrown instanceof DuplicateEvent) return thrown;
  const kind = trouble === 'away' && neverConnected.test(codeOf(thrown)) ? 'unreached' : trouble;
  const [status, code, message] = said[kind](store, messageOf(thrown) || codeOf(thrown));
  const retryable = trouble === 'away' || trouble === 'busy';
  const database = codeOf(thrown);
  return new CoxswainError(status, code, message, {
    cause: thrown,
    ...(retryable && { retryable }),
    details: { store, ...(database !== '' && { database }) },
  });
}

/** The driver's own code: SQLSTATE, error name, or that of the network. */
export function codeOf(thrown: unknown): string {
  const code: unknown = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** There was no connection that a write could have gone through. */
const neverConnected = /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|ENOENT)$/;
const network = /^(ECONN|EPIPE$|ETIMEDOUT$|ENOTFOUND$|EAI_|EHOSTUNREACH$|ENETUNREACH$|ENOENT$)/;

export function isNetwork(thrown: unknown): boolean {
  return network.test(codeOf(thrown));
}
