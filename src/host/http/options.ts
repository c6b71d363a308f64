import type { Authenticate, Authorize, ServerLimits, ServerOptions } from '../connection/index.ts';

export interface HttpOptions {
  /**
   * Who asks; undefined: nobody that is known (401). It is shown the headers, cookies among them, and the bearer token
   * where there is one; of `remoteAddress`, what the platform says.
   */
  authenticate: Authenticate;
  /** Path below which the routes are, e.g. `/api/agents`. Default none: `/v1/…`. */
  basePath?: string;
  /** Asked before each request; false, or a throw: refused. `method` is that of the session protocol; `session/attach` for an event stream. */
  authorize?: Authorize;
  /** Origins of pages that may ask, e.g. `https://app.example`; the page of the application too. Default none. */
  allowedOrigins?: readonly string[];
  /** Names that a client may call the server by, without port. Default: any, as credentials are asked for. */
  allowedHosts?: readonly string[];
  /**
   * Pages of allowed origins may read the answers where the server has another origin. `credentials`: with cookies.
   * Default false.
   */
  cors?: boolean | { credentials: boolean };
  /** What clients may ask for beyond messages and answers. */
  ceiling?: ServerOptions;
  limits?: Partial<ServerLimits>;
  /** What becomes of a turn whose `POST …/messages` was answered with its events, when that client goes. Default `continue`. */
  onDisconnect?: 'continue' | 'abort';
  /** One entry per refusal and event stream; never content, never credentials. */
  log?: (entry: { event: string; [field: string]: unknown }) => void;
  /** Called with what went wrong without consequence. Default: stderr. */
  warn?: (message: string, error?: unknown) => void;
}
