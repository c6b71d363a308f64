import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Principal } from '../../contracts/index.ts';
import type { Authenticate, Authorize, OperatorOf, Rewind, ServerLimits, Verify } from '../connection/index.ts';

export interface ServeOptions {
  /**
   * An HTTP server of yours: sockets are taken at `basePath` + `/v1`, everything else stays yours, and so do its address
   * and its end. `port`, `host`, `routes`, `ui` and `http: true` are for a server that is made here.
   */
  server?: Server;
  /** Path below which the server's own paths are, e.g. `/agents`. Default none. */
  basePath?: string;
  /** Plain HTTP and event streams beside the sockets, on the same port: `docs/http.md`. Default false. */
  http?: boolean | { cors?: boolean | { credentials: boolean } };
  /**
   * The inspector, a page below `/ui/`: what waits for an answer, and sessions; `docs/howto/inspector.md`. Who opens it signs in with a
   * token that `authenticate` knows, unless that knows the browser already. `key`: 32 bytes that the page's cookies
   * are encrypted with; without it a restart signs everybody out. `files`: folder of the page's files, where a bundler
   * has left them behind. `traceUrl`: where a trace is looked at, an `https:` or `http:` address with `{traceId}` and, if wanted, `{spanId}`.
   * Default false.
   */
  ui?: boolean | { key?: Uint8Array; files?: string; traceUrl?: string };
  /** Default 0: any free one. */
  port?: number;
  /** Default `127.0.0.1`. Anything that is not loopback needs `authenticate`. */
  host?: string;
  /**
   * Who is on the other side; undefined: nobody that is known. Absent: one random token, the server's `token`, is
   * accepted as principal `local`, on loopback only.
   */
  authenticate?: Authenticate;
  /** Whose the server's own token is. Default `local`. */
  principal?: Principal;
  /** Asked before each request; false, or a throw: refused. */
  authorize?: Authorize;
  /**
   * Who may look at sessions of others, asked at each request; undefined: nobody. `users`: at those of these alone. Without
   * `content` they see which sessions there are and what happened in them, by whom and under which rule; with it what was said,
   * asked for and returned, too, without what policy hides. They can change nothing. Default: nobody may. What it gives is a
   * plain object: anything else, also a promise, makes nobody an operator and is warned of.
   */
  operator?: OperatorOf;
  /**
   * Checks the log of a session for its owner, e.g. with `verifySession` of `coxswain/audit`. Reads the whole of it. Default: none is
   * checked.
   */
  verify?: Verify;
  /**
   * Takes a session of its owner's back to where a turn began, e.g. with `rewind` of `coxswain/stores`; it is not called while the
   * session runs here. Default: none is taken back.
   */
  rewind?: Rewind;
  /** Origins of pages that may connect, e.g. `https://app.example`. Default none. */
  allowedOrigins?: readonly string[];
  /** Names that a client may call the server by, without port. Default: loopback names and `host`. */
  allowedHosts?: readonly string[];
  /** Pages of allowed origins may send their token with the first message. Default false: with the upgrade. */
  lateCredentials?: boolean;
  limits?: Partial<ServerLimits>;
  /** What becomes of a run whose controller's connection ends. Default `continue`. */
  onDisconnect?: 'continue' | 'abort';
  /** Other paths of the same server, e.g. `/mcp`; checked for Origin and Host, not for credentials. */
  routes?: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void | Promise<void>>>;
  /** More numbers for `/metrics`, by name, without `coxswain_`. */
  figures?: () => Readonly<Record<string, number>> | Promise<Readonly<Record<string, number>>>;
  /** One entry per connection and refusal; never content, never credentials. */
  log?: (entry: { event: string; [field: string]: unknown }) => void;
  /** Gets what went wrong without consequence. Default: stderr. */
  warn?: (message: string, error?: unknown) => void;
}
