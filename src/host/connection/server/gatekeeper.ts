import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../../../contracts/index.ts';
import { CoxswainError } from '../../../contracts/index.ts';
import { faultOfPrincipal } from '../../terms/index.ts';
import type { Identity } from './connection.ts';
import { whyEnded } from './connection.ts';

/** What an authenticator is shown of a request or an upgrade. Never log it. */
export interface AuthenticationRequest {
  /** Bearer token, wherever it came from; absent where there was none. */
  token?: string;
  headers: IncomingHttpHeaders;
  origin?: string;
  /** Absent where the server's platform does not say it. */
  remoteAddress?: string;
}

/** Who is on the other side; undefined: nobody that is known. */
export type Authenticate = (
  request: AuthenticationRequest,
) => Principal | Identity | undefined | Promise<Principal | Identity | undefined>;

/** The part of a request that says where it goes, which page it comes from, and who it is. */
export interface RequestHead {
  headers: IncomingHttpHeaders;
  remoteAddress?: string | undefined;
}

/** A token, and until when a page may show it by its cookie. */
export interface PageCredentials extends Required<Pick<Identity, 'expiresAt' | 'ended'>> {
  token: string | undefined;
}

export interface GatekeeperOptions {
  /** Absent: whoever shows `token` is `principal`. */
  authenticate?: Authenticate | undefined;
  /** Default `local`. */
  principal?: Principal | undefined;
  token?: string | undefined;
  allowedOrigins?: readonly string[] | undefined;
  /** Names that the server is called by, without port; absent: any. */
  allowedHosts?: readonly string[] | undefined;
  /** Pages of the server's own: what the cookie of such a page stands for, and until when. */
  pages?: { signedIn(head: RequestHead): PageCredentials | undefined } | undefined;
  warn(message: string): void;
}

/** Names of this machine for itself. */
export const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Who may come in, over whatever: where a request goes to, which page it comes from, who it is. */
export class Gatekeeper {
  readonly #options: GatekeeperOptions;
  readonly #hosts: ReadonlySet<string> | undefined;
  readonly #origins: ReadonlySet<string>;

  constructor(options: GatekeeperOptions) {
    this.#options = options;
    this.#hosts = options.allowedHosts && new Set(options.allowedHosts.map(lower));
    this.#origins = new Set(options.allowedOrigins?.map(lower));
  }

  /** Whether a page of this origin may ask. */
  knowsOrigin(origin: string): boolean {
    return this.#origins.has(lower(origin));
  }

  /** Why a request may not come in at all: a name or a page that this server does not know. */
  stranger({ headers: { host, origin } }: RequestHead): string | undefined {
    if (this.#hosts && !this.#hosts.has(lower((host ?? '').replace(/:\d+$/, '')))) return 'Host is not allowed';
    if (origin === undefined || this.knowsOrigin(origin)) return undefined;
    return this.#options.pages && isAt(origin, host) ? undefined : 'Origin is not allowed';
  }

  /**
   * The server's own page asks, and says so: a cookie comes with what pages of other ports and subdomains send, too. A browser
   * says where a request comes from by `Origin`, or by `Sec-Fetch-Site` where it sends none.
   */
  isOwnPage({ headers: { host, origin, 'sec-fetch-site': site } }: RequestHead): boolean {
    if (origin === undefined) return site === 'same-origin';
    return isAt(origin, host) || this.knowsOrigin(origin);
  }

  /** @throws CoxswainError `UNAVAILABLE / E_INTERNAL` where the authenticator breaks */
  async identify(head: RequestHead, shown: string | undefined): Promise<Identity | undefined> {
    const { headers, remoteAddress } = head;
    const { authenticate, token: own, pages } = this.#options;
    const page = shown === undefined && pages && this.isOwnPage(head) ? pages.signedIn(head) : undefined;
    const token = shown ?? page?.token;
    if (!authenticate) {
      const known = token !== undefined && own !== undefined && isSame(token, own);
      return known ? current({ principal: this.#options.principal ?? { id: 'local' } }, page) : undefined;
    }
    const { origin } = headers;
    let found: Principal | Identity | undefined;
    try {
      found = await authenticate({
        ...(token === undefined ? {} : { token }),
        headers,
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
    const { ended } = identity;
    if (ended !== undefined && !(ended instanceof AbortSignal))
      throw this.#broken('gave an ended that is no AbortSignal');
    return current(identity, page);
  }

  #broken(how: string): CoxswainError {
    this.#options.warn(`authenticate ${how}; nobody was let in`);
    const message = 'the server could not find out who this is; come back';
    return new CoxswainError('UNAVAILABLE', 'E_INTERNAL', message, { retryable: true });
  }
}

/** Undefined where it counts no longer. */
function current(identity: Identity, page: PageCredentials | undefined): Identity | undefined {
  const made = page ? within(identity, page) : identity;
  return whyEnded(made) === undefined ? made : undefined;
}

/** No longer than the page is signed in. */
function within(identity: Identity, page: PageCredentials): Identity {
  const { expiresAt = Number.POSITIVE_INFINITY, ended } = identity;
  return {
    ...identity,
    expiresAt: Math.min(expiresAt, page.expiresAt),
    ended: ended ? AbortSignal.any([ended, page.ended]) : page.ended,
  };
}

/** The token of an `Authorization: Bearer …`. */
export function bearerOf({ authorization }: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
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

/** A page of the same name and port; a proxy may have ended its encryption. */
function isAt(origin: string, host: string | undefined): boolean {
  return host !== undefined && /^https?:\/\/([^/]+)$/i.exec(lower(origin))?.[1] === lower(host);
}

const lower = (text: string) => text.toLowerCase();
