import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../contracts/index.ts';
import type { Identity, ServerLimits } from '../connection/index.ts';

/** What an authenticator is shown of an upgrade. Never log it. */
export interface AuthenticationRequest {
  /** Bearer token, wherever it came from; absent where there was none. */
  token?: string;
  headers: IncomingHttpHeaders;
  origin?: string;
  remoteAddress?: string;
}

export interface ServeOptions {
  /** Default 0: any free one. */
  port?: number;
  /** Default `127.0.0.1`. Anything that is not loopback needs `authenticate`. */
  host?: string;
  /**
   * Who is on the other side; undefined: nobody that is known. Absent: one random token, the server's `token`, is
   * accepted as principal `local`, on loopback only.
   */
  authenticate?: (
    request: AuthenticationRequest,
  ) => Principal | Identity | undefined | Promise<Principal | Identity | undefined>;
  /** Whose the server's own token is. Default `local`. */
  principal?: Principal;
  /** Asked before each request; false, or a throw: refused. */
  authorize?: (principal: Principal, method: string, params: Record<string, unknown>) => boolean | Promise<boolean>;
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
  /** One entry per connection and refusal; never content, never credentials. */
  log?: (entry: { event: string; [field: string]: unknown }) => void;
  /** Told of what went wrong without consequence. Default: stderr. */
  warn?: (message: string, error?: unknown) => void;
}
