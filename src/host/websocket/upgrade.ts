import type { IncomingMessage } from 'node:http';
import { BEARER_PREFIX, ERROR_TABLE, SUBPROTOCOL } from '../../contracts/index.ts';
import type { Gatekeeper, Identity, RequestHead } from '../connection/index.ts';
import { bearerOf } from '../connection/index.ts';

/** An upgrade that is let in, or the HTTP status that it is refused with. */
export type Admittance = { identity: Identity | undefined } | { status: number; reason: string };

type Refused =
  | 'E_BAD_INPUT'
  | 'E_UNAUTHENTICATED'
  | 'E_FORBIDDEN'
  | 'E_PROTOCOL'
  | 'E_RATE_LIMIT'
  | 'E_CONNECTION_LOST';

/** An upgrade that is refused for what a client reads out of the status again. */
export function refusedFor(code: Refused, reason: string): Admittance {
  return { status: ERROR_TABLE[code].http, reason };
}

export interface UpgradeOptions {
  /** Path of the endpoint. */
  path: string;
  /** Pages of allowed origins may send their token with the first message. */
  lateCredentials?: boolean | undefined;
}

/** Whether an upgrade may come in, and who it is. */
export async function judgeUpgrade(
  request: IncomingMessage,
  gate: Gatekeeper,
  { path: endpoint, lateCredentials }: UpgradeOptions,
): Promise<Admittance> {
  const why = gate.stranger(request);
  if (why !== undefined) return refusedFor('E_FORBIDDEN', why);
  const [path, query] = (request.url ?? '').split('?', 2);
  if (path !== endpoint) return refusedFor('E_PROTOCOL', 'no such path');
  // A query string ends up in logs: whatever it holds, nothing is taken from it.
  if (query !== undefined) return refusedFor('E_BAD_INPUT', 'no query string is taken');
  const protocols = protocolsOf(request);
  // A plain request asks why its upgrade was refused.
  if (request.headers.upgrade !== undefined && !protocols.includes(SUBPROTOCOL)) {
    return refusedFor('E_BAD_INPUT', `subprotocol ${SUBPROTOCOL} is needed`);
  }
  try {
    return await whoIs(request, gate, protocols, lateCredentials === true);
  } catch {
    return refusedFor('E_CONNECTION_LOST', 'who it is could not be found out');
  }
}

async function whoIs(
  request: IncomingMessage,
  gate: Gatekeeper,
  protocols: readonly string[],
  mayBeLate: boolean,
): Promise<Admittance> {
  const tokens = tokensOf(request, protocols);
  if (tokens.size > 1) return refusedFor('E_BAD_INPUT', 'one token is needed, not several');
  const [token] = tokens;
  if (token === undefined && mayBeLate && request.headers.origin !== undefined) return { identity: undefined };
  // An authenticator may know a client by its certificate or by a header of its proxy.
  const identity = await gate.identify(requestHead(request), token);
  const why = token === undefined ? 'credentials are needed' : 'the credentials are not known';
  return identity ? { identity } : refusedFor('E_UNAUTHENTICATED', why);
}

export function requestHead({ headers, socket: { remoteAddress } }: IncomingMessage): RequestHead {
  return { headers, remoteAddress };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}

function protocolsOf(request: IncomingMessage): string[] {
  return (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
}

/** Wherever they stand: which of two would count is nothing to guess at. */
function tokensOf(request: IncomingMessage, protocols: readonly string[]): Set<string> {
  const header = bearerOf(request.headers);
  const named = protocols.filter((name) => name.startsWith(BEARER_PREFIX));
  const decoded = named.map((name) => Buffer.from(name.slice(BEARER_PREFIX.length), 'base64url').toString());
  return new Set(header === undefined ? decoded : [header, ...decoded]);
}
