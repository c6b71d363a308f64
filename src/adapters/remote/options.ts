import type { PermissionMode, SessionRef } from '../../contracts/index.ts';
/** As much of a browser's WebSocket as is used. */
export interface WebSocketLike {
  readonly bufferedAmount: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string): void;
  close(code?: number, reason?: string): void;
}

export type WebSocketClass = new (url: string, protocols: string[]) => WebSocketLike;

export type LinkState = 'connecting' | 'ready' | 'waiting' | 'closed';

export interface ConnectOptions {
  /** A token, asked for at each connection; sent as a subprotocol, never in the URL. */
  getToken?: () => string | Promise<string>;
  token?: string;
  /** Default the platform's; for an address with `http:` requests and an event stream. */
  WebSocket?: WebSocketClass;
  /** Milliseconds until a connection counts as failed. Default 10,000. */
  connectTimeoutMs?: number;
  /** Shortest and longest wait before another attempt, in milliseconds. Default 100 and 15,000; jitter is added. */
  minBackoffMs?: number;
  maxBackoffMs?: number;
  /** Milliseconds without a connection after which everything that waits fails. Default 600,000. */
  giveUpMs?: number;
  /** Told of each change. */
  onState?: (state: LinkState, reason?: string) => void;
  /** Default Math.random. */
  random?: () => number;
}

export interface RemoteOpenOptions extends SessionRef {
  permissionMode?: PermissionMode;
  /** False: watch only. Default: take control if nobody has it. */
  control?: boolean;
}
