import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import type { Gatekeeper, Identity, PageCredentials, RequestHead } from '../connection/index.ts';
import { PAGE_HEADERS, PageFiles } from './page-files.ts';
import { CookieSeal } from './sealed-cookie.ts';
import { SignInCodes } from './sign-in-codes.ts';

const LIFETIME_MS = 12 * 60 * 60_000;
/** Bytes of a request to sign in. */
const MAX_BODY = 8192;
/** Requests to sign in that are looked into at a time: an authenticator may be slow. */
const MAX_SIGN_INS = 32;

export interface InspectorOptions {
  /** Path of the page, e.g. `/ui`. */
  path: string;
  /** The server's own token, where nobody else's are known. */
  ownToken: string | undefined;
  /** 32 bytes that cookies are encrypted with. */
  key?: Uint8Array | undefined;
  /** Folder of the page's files. */
  files?: string | undefined;
  /** Where a trace is looked at, with `{traceId}`. */
  traceUrl?: string | undefined;
  log(entry: { event: string; [field: string]: unknown }): void;
}

/**
 * The inspector's page on a server: its files, and who a browser is. A token or a code is shown once, in the body of a
 * request of the page; from then on the browser has a cookie that no script reads.
 */
export class Inspector {
  readonly #options: InspectorOptions;
  readonly #files: PageFiles;
  readonly #seal: CookieSeal;
  readonly #codes = new SignInCodes();
  #signIns = 0;

  constructor(options: InspectorOptions) {
    this.#options = options;
    this.#files = new PageFiles(options.files);
    this.#seal = new CookieSeal(options.key);
  }

  /** A code that signs one page in as whoever the server's own token is. */
  signInCode(): string {
    return this.#codes.make();
  }

  owns(path: string): boolean {
    return path === this.#options.path || path.startsWith(`${this.#options.path}/`);
  }

  /** What the cookie of a page stands for; what was opened with it ends with it. */
  signedIn(head: RequestHead): PageCredentials | undefined {
    const value = this.#cookieOf(head);
    const signedIn = value === undefined ? undefined : this.#seal.open(value);
    if (!signedIn) return undefined;
    const { token = this.#options.ownToken, expiresAt } = signedIn;
    return { token, expiresAt, ended: this.#seal.ended(signedIn) };
  }

  async answer(request: IncomingMessage, response: ServerResponse, path: string, gate: Gatekeeper): Promise<void> {
    const { path: own } = this.#options;
    if (path === own) return end(response, 308, undefined, { location: `${own}/` });
    const name = path.slice(own.length + 1);
    if (request.method === 'GET' || request.method === 'HEAD') {
      if (this.#files.answer(name === '' ? 'index.html' : name, request, response)) return;
      return end(response, 404, { error: 'there is no such file' });
    }
    if (request.method !== 'POST') return end(response, 405, { error: 'GET or POST' }, { allow: 'GET, POST' });
    const head: RequestHead = { headers: request.headers, remoteAddress: request.socket.remoteAddress };
    if (!gate.isOwnPage(head)) return end(response, 403, { error: 'only the page of this server may ask' });
    if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
      return end(response, 415, { error: 'Content-Type: application/json is needed' });
    }
    if (name === 'session') return this.#session(head, response, gate);
    if (name === 'sign-in') return this.#signIn(request, head, response, gate);
    if (name === 'sign-out') return this.#signOut(head, response);
    return end(response, 404, { error: 'there is no such path' });
  }

  /** Who the page is of. */
  async #session(head: RequestHead, response: ServerResponse, gate: Gatekeeper): Promise<void> {
    const found = await who(gate, head, undefined);
    // Not signed in yet is no fault: a browser would write one into its console.
    if ('error' in found && found.status === 401) return end(response, 200, {});
    if ('error' in found) return end(response, found.status, { error: found.error });
    return end(response, 200, { principal: shown(found.principal), ...this.#settings() });
  }

  #settings(): { traceUrl?: string } {
    const { traceUrl } = this.#options;
    return traceUrl === undefined ? {} : { traceUrl };
  }

  async #signIn(
    request: IncomingMessage,
    head: RequestHead,
    response: ServerResponse,
    gate: Gatekeeper,
  ): Promise<void> {
    if (this.#signIns >= MAX_SIGN_INS) return end(response, 503, { error: 'too many people sign in; try again' });
    this.#signIns++;
    try {
      const body = await bodyOf(request);
      if (!body) return end(response, 400, { error: 'the body is {"token": "…"} or {"code": "…"}' });
      const { ownToken } = this.#options;
      const isCode = typeof body.code === 'string' && this.#codes.take(body.code);
      const token = isCode ? ownToken : body.token;
      const found: Found =
        typeof token === 'string' && token !== ''
          ? await who(gate, head, token)
          : { status: 401, error: 'the code is not known, or was used already' };
      if ('error' in found) {
        this.#options.log({ event: 'sign_in_refused', remote: head.remoteAddress });
        return end(response, found.status, { error: found.error });
      }
      const lifetime = Math.min(LIFETIME_MS, (found.expiresAt ?? Number.POSITIVE_INFINITY) - Date.now());
      const sealed = this.#seal.seal(token === ownToken ? undefined : String(token), lifetime);
      if (!sealed) return end(response, 400, { error: 'this token is too long for a cookie' });
      this.#options.log({ event: 'signed_in', principal: found.principal.id });
      const cookie = this.#setCookie(head, sealed.value, Math.max(0, Math.floor(lifetime / 1000)));
      return end(response, 200, { principal: shown(found.principal), ...this.#settings() }, { 'set-cookie': cookie });
    } finally {
      this.#signIns--;
    }
  }

  #signOut(head: RequestHead, response: ServerResponse): void {
    const value = this.#cookieOf(head);
    if (value !== undefined) this.#seal.revoke(value);
    end(response, 200, {}, { 'set-cookie': this.#setCookie(head, '', 0) });
  }

  /** Ports of one machine share their cookies: each server has a name of its own. */
  #name({ headers }: RequestHead): string {
    const port = /:(\d+)$/.exec(headers.host ?? '')?.[1];
    return port === undefined ? 'coxswain_ui' : `coxswain_ui_${port}`;
  }

  #cookieOf(head: RequestHead): string | undefined {
    const name = this.#name(head);
    for (const pair of (head.headers.cookie ?? '').split(';')) {
      const at = pair.indexOf('=');
      if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim() || undefined;
    }
    return undefined;
  }

  #setCookie(head: RequestHead, value: string, maxAge: number): string {
    const secure = head.headers.origin?.startsWith('https:') ? '; Secure' : '';
    return `${this.#name(head)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure}`;
  }
}

type Found = Identity | { status: number; error: string };

async function who(gate: Gatekeeper, head: RequestHead, token: string | undefined): Promise<Found> {
  try {
    const identity = await gate.identify(head, token);
    return identity ?? { status: 401, error: token === undefined ? 'sign in' : 'the token is not known' };
  } catch (error) {
    if (!isCoxswainError(error)) throw error;
    return { status: 503, error: error.message };
  }
}

/** Nothing that a program keeps in it besides. */
function shown({ id, roles, onBehalfOf }: Principal): Principal {
  return { id, ...(roles ? { roles } : {}), ...(onBehalfOf === undefined ? {} : { onBehalfOf }) };
}

/** Undefined: too large, or no object. */
async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown> | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) return undefined;
    chunks.push(chunk);
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function end(response: ServerResponse, status: number, body?: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, {
    ...PAGE_HEADERS,
    'cache-control': 'no-store',
    ...(body ? { 'content-type': 'application/json; charset=utf-8' } : {}),
    ...headers,
  });
  response.end(body && JSON.stringify(body));
}
