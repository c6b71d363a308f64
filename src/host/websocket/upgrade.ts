import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Principal } from '../../contracts/index.ts';
import { BEARER_PREFIX, CoxswainError, ERROR_TABLE, PROTOCOL_PATH, SUBPROTOCOL } from '../../contracts/index.ts';
import type { Identity } from '../connection/index.ts';
import { faultOfPrincipal } from '../terms/index.ts';
import type { ServeOptions } from './options.ts';

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

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

export class Gatekeeper {
  readonly #options: ServeOptions;
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #token: string | undefined;
  readonly #warn: (message: string) => void;

  constructor(options: ServeOptions, token: string | undefined, warn: (message: string) => void) {
    this.#options = options;
    this.#warn = warn;
    this.#hosts = new Set(
      (options.allowedHosts ?? [...LOOPBACK, ...(options.host === undefined ? [] : [options.host])]).map(lower),
    );
    this.#origins = new Set(options.allowedOrigins?.map(lower));
    this.#token = token;
  }

  /** Why a request may not come in at all: a name or a page that this server does not know. */
  stranger(request: IncomingMessage): string | undefined {
    const { host, origin } = request.headers;
    if (!this.#hosts.has(lower((host ?? '').replace(/:\d+$/, '')))) return 'Host is not allowed';
    if (origin !== undefined && !this.#origins.has(lower(origin))) return 'Origin is not allowed';
    return undefined;
  }

  async judge(request: IncomingMessage): Promise<Admittance> {
    const why = this.stranger(request);
    if (why !== undefined) return refusedFor('E_FORBIDDEN', why);
    const [path, query] = (request.url ?? '').split('?', 2);
    if (path !== PROTOCOL_PATH) return refusedFor('E_PROTOCOL', 'no such path');
    // A query string ends up in logs: whatever it holds, nothing is taken from it.
    if (query !== undefined) return refusedFor('E_BAD_INPUT', 'no query string is taken');
    const protocols = protocolsOf(request);
    // A plain request asks why its upgrade was refused.
    if (request.headers.upgrade !== undefined && !protocols.includes(SUBPROTOCOL)) {
      return refusedFor('E_BAD_INPUT', `subprotocol ${SUBPROTOCOL} is needed`);
    }
    try {
      return await this.#knows(request, protocols);
    } catch {
      return refusedFor('E_CONNECTION_LOST', 'who it is could not be found out');
    }
  }

  async #knows(request: IncomingMessage, protocols: readonly string[]): Promise<Admittance> {
    const tokens = tokensOf(request, protocols);
    if (tokens.size > 1) return refusedFor('E_BAD_INPUT', 'one token is needed, not several');
    const [token] = tokens;
    const { origin } = request.headers;
    if (token === undefined && !(this.#options.lateCredentials && origin !== undefined)) {
      // An authenticator may know a client by its certificate or by a header of its proxy.
      const identity = this.#options.authenticate ? await this.identify(request, undefined) : undefined;
      return identity ? { identity } : refusedFor('E_UNAUTHENTICATED', 'credentials are needed');
    }
    if (token === undefined) return { identity: undefined };
    const identity = await this.identify(request, token);
    return identity ? { identity } : refusedFor('E_UNAUTHENTICATED', 'the credentials are not known');
  }

  /** @throws CoxswainError `UNAVAILABLE / E_INTERNAL` where the authenticator breaks */
  async identify(request: IncomingMessage, token: string | undefined): Promise<Identity | undefined> {
    const { authenticate } = this.#options;
    if (!authenticate) {
      const known = token !== undefined && this.#token !== undefined && isSame(token, this.#token);
      return known ? { principal: this.#options.principal ?? { id: 'local' } } : undefined;
    }
    const { origin } = request.headers;
    const { remoteAddress } = request.socket;
    let found: Principal | Identity | undefined;
    try {
      found = await authenticate({
        ...(token === undefined ? {} : { token }),
        headers: request.headers,
        ...(origin === undefined ? {} : { origin }),
        ...(remoteAddress === undefined ? {} : { remoteAddress }),
      });
    } catch (error) {
      throw this.#broken(`threw ${whereOf(error)}`);
    }
    if (!found) return undefined;
    const identity: Identity =
      typeof found === 'object' && 'principal' in found ? (found as Identity) : { principal: found };
    const fault = faultOfPrincipal(identity.principal);
    if (fault !== undefined) throw this.#broken(`gave ${fault}`);
    return identity;
  }

  #broken(how: string): CoxswainError {
    this.#warn(`authenticate ${how}; nobody was let in`);
    const message = 'the server could not find out who this is; come back';
    return new CoxswainError('UNAVAILABLE', 'E_INTERNAL', message, { retryable: true });
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}

function protocolsOf(request: IncomingMessage): string[] {
  return (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
}

/** Wherever they stand: which of two would count is nothing to guess at. */
function tokensOf(request: IncomingMessage, protocols: readonly string[]): Set<string> {
  const header = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const named = protocols.filter((name) => name.startsWith(BEARER_PREFIX));
  const decoded = named.map((name) => Buffer.from(name.slice(BEARER_PREFIX.length), 'base64url').toString());
  return new Set(header === undefined ? decoded : [header, ...decoded]);
}

/** What a fault is and where it came from, without its text: that may quote credentials. */
function whereOf(error: unknown): string {
  if (!(error instanceof Error)) return `a ${typeof error}`;
  const at = /^\s+at .*/m.exec(error.stack?.slice(`${error.name}: ${error.message}`.length) ?? '')?.[0].trim();
  return at === undefined ? error.constructor.name : `${error.constructor.name} ${at}`;
}

/** In the same time, whatever differs. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
}

const lower = (text: string) => text.toLowerCase();
