import type { InitializeResult } from '../../contracts/index.ts';
import { CoxswainError, errorCodeOfHttp, PROTOCOL_PATH } from '../../contracts/index.ts';

/** Characters of a refusal: what this package says in one is a sentence or two. */
const MOST_REFUSAL = 64 * 1024;
/** Milliseconds in which they come. */
const REFUSAL_MS = 10_000;
const SCHEMES: ReadonlySet<string> = new Set(['ws:', 'wss:', 'http:', 'https:']);

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for what is no address of a server */
export function assertEndpoint(url: string): void {
  const form = `it is ws://host:port${PROTOCOL_PATH} or wss://host${PROTOCOL_PATH}, or begins with http:// or https://`;
  // What is given is not repeated: it may hold a token.
  if (!URL.canParse(url)) throw bad(`the address of the server cannot be read; ${form}`);
  const { protocol, search, hash, username, password } = new URL(url);
  if (!SCHEMES.has(protocol)) throw bad(`the address of the server begins with ${protocol}; ${form}`);
  if (search !== '' || hash !== '' || username !== '' || password !== '') {
    throw bad(`the address of the server holds more than a place; ${form}, and a token goes into token or getToken`);
  }
}

/** @throws CoxswainError `FAILED_PRECONDITION / E_PROTOCOL` for what no server of this protocol says first */
export function assertWelcome(init: unknown): void {
  const { limits, agents, principal } = (init ?? {}) as Partial<InitializeResult>;
  if (typeof limits?.maxPayload === 'number' && Array.isArray(agents) && typeof principal?.id === 'string') return;
  const message = 'what answers at this address is no server of this protocol; look at the address';
  throw new CoxswainError('FAILED_PRECONDITION', 'E_PROTOCOL', message);
}

/**
 * Why an upgrade was refused, which the platform's WebSocket does not say: the same path is asked over HTTP. Undefined
 * where that cannot be known, as on a page of another origin.
 */
export async function whyRefused(
  url: string,
  token: string | undefined,
  timeoutMs: number,
): Promise<CoxswainError | undefined> {
  let status: number;
  let reason: string;
  try {
    const response = await fetch(url.replace(/^ws/, 'http'), {
      headers: { authorization: `Bearer ${token ?? ''}`.trim() },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    status = response.status;
    reason = (await shortBody(response)).trim().slice(0, 200);
  } catch {
    return undefined;
  }
  const why = `the server refuses the connection with ${status} (${reason})`;
  const code = errorCodeOfHttp(status);
  switch (code) {
    case 'E_UNAUTHENTICATED':
      return new CoxswainError('UNAUTHENTICATED', code, why);
    case 'E_FORBIDDEN':
      return new CoxswainError('PERMISSION_DENIED', code, why);
    case 'E_PROTOCOL':
      return new CoxswainError('FAILED_PRECONDITION', code, `${why}; its path is ${PROTOCOL_PATH}`);
    case 'E_RATE_LIMIT':
      return new CoxswainError('RESOURCE_EXHAUSTED', code, why);
    case 'E_CONNECTION_LOST':
      return new CoxswainError('UNAVAILABLE', code, why);
    default:
      return undefined;
  }
}

function bad(message: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}

/** The text of a response, as far as it comes in time and is as short as a refusal is; what comes behind it is not read. */
export async function shortBody({ body }: Response): Promise<string> {
  if (!body) return '';
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), REFUSAL_MS);
  let text = '';
  try {
    while (text.length < MOST_REFUSAL) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
    }
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => {});
  }
  return text.slice(0, MOST_REFUSAL);
}
