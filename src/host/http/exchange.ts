import { CoxswainError, httpStatusOf } from '../../contracts/index.ts';
import type { Hub, RequestCaller } from '../connection/index.ts';
import { protocolError, wireError } from '../connection/index.ts';
import type { EventBody } from './event-body.ts';
import type { HeldAnswer } from './held-chars.ts';
import { Refused } from './request-head.ts';

/** One request that was let in, as a route answers it. */
export interface HttpExchange {
  readonly hub: Hub;
  readonly caller: RequestCaller;
  /** Segments of the path that the route names. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: ReadonlyMap<string, string>;
  readonly body: Record<string, unknown>;
  /** `Idempotency-Key` */
  readonly key: string | undefined;
  /** `Last-Event-ID`, or what the query has in its place. */
  readonly lastEventId: string | undefined;
  /** The client takes an event stream. */
  readonly wantsEvents: boolean;
  /** What is held in memory for the answer counts, of the principal and of the server. */
  readonly held: HeldAnswer;
  /** Whether a turn ends with the client whose request began it. */
  readonly onDisconnect: 'continue' | 'abort';
  /** Begins a connection of the session protocol. @throws CoxswainError `E_RATE_LIMIT`, `E_CONNECTION_LOST` */
  connect(): EventBody;
  /** Messages for a connection of the caller. */
  deliver(connection: string, messages: unknown): Promise<void>;
  /** The answer is an event stream from now on. @throws CoxswainError `E_RATE_LIMIT`, `E_CONNECTION_LOST` */
  open(over?: (isGone: boolean) => void, farewell?: (reason: string) => string): EventBody;
}

/** A segment of the path that the route has. */
export function segment({ path }: HttpExchange, name: string): string {
  const value = path[name];
  if (value !== undefined) return value;
  throw new CoxswainError('INTERNAL', 'E_INTERNAL', `the route has no ${name}`);
}

/** A member of the body that is a text where it is there. @throws CoxswainError `E_PROTOCOL` */
export function textIn({ body }: HttpExchange, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || typeof value === 'string') return value;
  throw protocolError(`body.${name} is no text`);
}

/** A number of the query. @throws CoxswainError `E_PROTOCOL` */
export function numberIn({ query }: HttpExchange, name: string): number | undefined {
  const value = query.get(name);
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  throw protocolError(`query.${name} is no whole number`);
}

/** `true` or `false` of the query. @throws CoxswainError `E_PROTOCOL` */
export function flagIn({ query }: HttpExchange, name: string): boolean | undefined {
  const value = query.get(name);
  if (value === undefined) return undefined;
  if (value === 'true' || value === 'false') return value === 'true';
  throw protocolError(`query.${name} is neither true nor false`);
}

/** Members that are there. */
export function given(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

export function jsonAnswer(status: number, value: unknown): Response {
  const text = JSON.stringify(value ?? {});
  const answer = new Response(text, { status, headers: JSON_HEADERS });
  if (text.length > LONG) longTexts.set(answer, text);
  return answer;
}

/** Characters of an answer that is given at once. */
const LONG = 64 * 1024;

/** Texts of answers that are given piece by piece, as they are read. */
const longTexts = new WeakMap<Response, string>();

export function longTextOf(answer: Response): string | undefined {
  return longTexts.get(answer);
}

/** What a client is told of a failure: as over a connection, with the HTTP status that the table of codes has. */
export function errorAnswer(thrown: unknown, headers: Record<string, string> = {}): Response {
  const refused = thrown instanceof Refused ? thrown : undefined;
  const { message, data } = wireError(thrown);
  const { status = 'INTERNAL', code = 'E_INTERNAL', retryable = false, details } = data ?? {};
  const http = refused?.http ?? httpStatusOf({ code, status });
  return new Response(
    JSON.stringify({ error: { code, status, message, retryable, ...(details ? { details } : {}) } }),
    {
      status: http,
      headers: {
        ...JSON_HEADERS,
        ...(http === 401 ? { 'www-authenticate': 'Bearer' } : {}),
        ...(retryable ? { 'retry-after': String(secondsOf(details?.retryAfterMs)) } : {}),
        ...refused?.headers,
        ...headers,
      },
    },
  );
}

const secondsOf = (ms: unknown) => (typeof ms === 'number' && ms > 0 ? Math.ceil(ms / 1000) : 1);

/** An event stream that nobody on the way keeps, changes or holds back. */
export function eventAnswer(body: EventBody): Response {
  return new Response(body.stream, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    },
  });
}
