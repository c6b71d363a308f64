import { CoxswainError } from '../../contracts/index.ts';
import type { RequestHead } from '../connection/index.ts';
import { protocolError } from '../connection/index.ts';

/** A request that is refused for how it was made, with an HTTP status of its own. */
export class Refused extends CoxswainError {
  readonly http: number;
  readonly headers: Record<string, string>;

  constructor(http: number, message: string, headers: Record<string, string> = {}) {
    super('INVALID_ARGUMENT', 'E_PROTOCOL', message);
    this.http = http;
    this.headers = headers;
  }
}

/** Headers as an authenticator is shown them. A request that names no Host was sent to its URL. */
export function headersOf({ headers, url }: Request): RequestHead['headers'] {
  return { host: new URL(url).host, ...Object.fromEntries(headers) };
}

/**
 * What a route takes of the query, each once. Nothing else may stand there: an address ends up in logs.
 * @throws CoxswainError `E_PROTOCOL`
 */
export function queryOf({ searchParams }: URL, { query }: { readonly query: readonly string[] }): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of searchParams) {
    if (query.includes(name) && !found.has(name)) {
      found.set(name, value);
      continue;
    }
    const takes = query.length === 0 ? 'takes no query' : `takes ${query.join(', ')} in its query, each once`;
    // What is not known is not repeated: it may be a token.
    throw protocolError(`this path ${takes}; credentials go into the Authorization header`);
  }
  return found;
}

/**
 * A page of anybody may send a form or a text with the cookies of its visitor; JSON only after it has asked.
 * @throws CoxswainError `E_PROTOCOL`, 415
 */
export function assertJson({ method, headers }: Request): void {
  if (method === 'GET') return;
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  if (type.trim().toLowerCase() === 'application/json') return;
  throw new Refused(415, 'a request that changes something needs Content-Type: application/json');
}

/** @throws CoxswainError `E_PROTOCOL` */
export function keyOf({ headers }: Request): string | undefined {
  const key = headers.get('idempotency-key') ?? undefined;
  if (key === undefined || (key !== '' && key.length <= 256)) return key;
  throw protocolError('Idempotency-Key has 1 to 256 characters');
}

/** Whether an event stream is asked for by its name. */
export function takesEvents({ headers }: Request): boolean {
  return (headers.get('accept') ?? '').split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'text/event-stream' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** A notice of the session protocol as lines of an event stream; the first part of its name is left out. */
export function noticeLines(method: string, params: object): string {
  const [name = ''] = method.split('/');
  const [value] = Object.values(params);
  const event = method === 'approvals/changed' ? 'approval_changed' : name === 'approvals' ? 'approval' : name;
  return `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`;
}
