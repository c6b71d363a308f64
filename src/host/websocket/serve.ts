import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { WebSocket, WebSocketServer } from 'ws';
import { warnOnStderr } from '../../base/index.ts';
import { CLOSE_CODES, CoxswainError, messageOf, PROTOCOL_PATH, SUBPROTOCOL } from '../../contracts/index.ts';
import { MAX_TIMER_MS } from '../../gate/index.ts';
import { inTime } from '../../session/index.ts';
import type { ExecutorOptions, Served, ServerLimits, ServerOptions } from '../connection/index.ts';
import { Connection, Hub, loadProtocol, servedExecutor, servedHost, serverLimits } from '../connection/index.ts';
import type { AgentHost } from '../index.ts';
import type { ServeOptions } from './options.ts';
import { Readiness } from './readiness.ts';
import { checkServe, checkServeExecutor } from './serve-shape.ts';
import { keepAlive, transportOf } from './socket.ts';
import type { Admittance } from './upgrade.ts';
import { Gatekeeper, isLoopback, refusedFor } from './upgrade.ts';

export interface AgentServer {
  /** `ws://host:port/v1` */
  readonly url: string;
  readonly port: number;
  readonly http: Server;
  /** The token that lets a client in; absent where `authenticate` was given. */
  readonly token: string | undefined;
  readonly connections: number;
  /** Takes nobody new, lets what runs finish until the deadline, then closes every connection to come back. */
  close(options?: { deadlineMs?: number }): Promise<void>;
}

/**
 * Serves a host's sessions over WebSocket: clients watch, speak and approve; policy and tools stay here.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` where nobody would be asked who they are
 * @example
 * ```ts
 * import { createHost, LlmAgent } from 'coxswain';
 * import { serve } from 'coxswain/server';
 *
 * const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'clerk', model: 'gpt-5' })] });
 * const server = await serve(host, { port: 4747, authenticate: ({ token }) => (token === 'secret' ? { id: 'anna' } : undefined) });
 * console.log(server.url);
 * ```
 */
export async function serve(
  host: AgentHost,
  options: ServeOptions & { ceiling?: ServerOptions } = {},
): Promise<AgentServer> {
  checkServe(host, options);
  const warn = options.warn ?? warnOnStderr;
  return listen(servedHost(host, options.ceiling ?? {}, warn), options);
}

/** Serves bare executors over WebSocket: the client is the host, and runs policy and tools itself. */
export async function serveExecutor(executor: ExecutorOptions, options: ServeOptions = {}): Promise<AgentServer> {
  checkServeExecutor(executor, options);
  return listen(servedExecutor(executor), options);
}

async function listen(served: Served, options: ServeOptions): Promise<AgentServer> {
  const bind = options.host ?? '127.0.0.1';
  if (!options.authenticate && !isLoopback(bind)) {
    const message = `a server on ${bind} needs authenticate; without it only loopback is served`;
    throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
  }
  const [{ WebSocketServer }] = await Promise.all([loadWs(), loadProtocol()]);
  const server = new SocketServer(served, options, WebSocketServer);
  await server.listen(options.port ?? 0, bind);
  return server;
}

async function loadWs(): Promise<typeof import('ws')> {
  try {
    return await import('ws');
  } catch (cause) {
    const message = 'serving over WebSocket needs the package ws; npm install ws';
    throw new CoxswainError('FAILED_PRECONDITION', 'E_UNSUPPORTED', message, { cause });
  }
}

/** Milliseconds that an aborted run has to end, and clients to answer the close. */
const ABORT_MS = 2000;

class SocketServer implements AgentServer {
  readonly http: Server;
  readonly token: string | undefined;
  readonly #options: ServeOptions;
  readonly #limits: ServerLimits;
  readonly #hub: Hub;
  readonly #gate: Gatekeeper;
  readonly #readiness: Readiness;
  readonly #sockets: WebSocketServer;
  readonly #connections = new Set<Connection>();
  readonly #log: NonNullable<ServeOptions['log']>;
  readonly #warn: NonNullable<ServeOptions['warn']>;
  /** Still said once it is closed. */
  #address: AddressInfo = { address: '', family: '', port: 0 };
  #uninitialised = 0;
  #closing: Promise<void> | undefined;

  constructor(served: Served, options: ServeOptions, Sockets: typeof WebSocketServer) {
    this.#options = options;
    this.#limits = serverLimits(options.limits);
    this.#warn = options.warn ?? warnOnStderr;
    this.#log = options.log ?? (() => {});
    this.token = options.authenticate ? undefined : randomBytes(32).toString('base64url');
    this.#hub = new Hub(served, { limits: this.#limits, warn: this.#warn });
    this.#readiness = new Readiness(() => served.ready(), this.#warn);
    this.#gate = new Gatekeeper(options, this.token, this.#warn);
    this.#sockets = new Sockets({
      noServer: true,
      maxPayload: this.#limits.maxPayload,
      perMessageDeflate: false,
      handleProtocols: (names) => (names.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    });
    this.http = createServer({ headersTimeout: 10_000, requestTimeout: 30_000 }, (request, response) => {
      this.#respond(request, response).catch((error: unknown) => {
        this.#warn('a route failed', error);
        if (!response.headersSent) response.writeHead(500);
        response.end();
      });
    });
    this.http.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.#upgrade(request, socket, head).catch((error: unknown) => {
        this.#warn('an upgrade failed', error);
        refuse(socket, 500, 'Internal Server Error');
      });
    });
  }

  get port(): number {
    return this.#address.port;
  }

  get url(): string {
    const { address, family, port } = this.#address;
    return `ws://${family === 'IPv6' ? `[${address}]` : address}:${port}${PROTOCOL_PATH}`;
  }

  get connections(): number {
    return this.#connections.size;
  }

  listen(port: number, host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => {
        const message = `cannot listen on ${host}:${port} (${messageOf(error)})`;
        reject(new CoxswainError('FAILED_PRECONDITION', 'E_BAD_INPUT', message, { cause: error }));
      };
      this.http.once('error', fail);
      try {
        this.http.listen(port, host, () => {
          this.#address = this.http.address() as AddressInfo;
          resolve();
        });
      } catch (error) {
        // No port at all.
        fail(error);
      }
    });
  }

  close({ deadlineMs = 10_000 }: { deadlineMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(Math.min(deadlineMs, MAX_TIMER_MS));
    return this.#closing;
  }

  async #close(deadlineMs: number): Promise<void> {
    const listening = new Promise<void>((resolve) => this.http.close(() => resolve()));
    this.http.closeIdleConnections();
    this.#hub.retire();
    for (const connection of this.#connections) connection.notify('session/goAway', { deadlineMs });
    if (!(await inTime(this.#hub.quiet(), deadlineMs))) {
      await inTime(this.#hub.abort('the server goes away'), ABORT_MS);
    }
    // What has just been done is answered.
    await new Promise((resolve) => setImmediate(resolve));
    for (const connection of [...this.#connections]) connection.close(CLOSE_CODES.goingAway, 'the server goes away');
    await this.#hub.close();
    this.http.closeAllConnections();
    const isOver = await inTime(listening, ABORT_MS);
    // Who does not answer the close is cut off.
    if (!isOver) for (const ws of this.#sockets.clients) ws.terminate();
    await listening;
    this.#sockets.close();
  }

  async #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const verdict = await this.#judge(request);
    if ('status' in verdict) {
      const remote = request.socket.remoteAddress;
      this.#log({ event: 'refused', status: verdict.status, reason: verdict.reason, remote });
      return refuse(socket, verdict.status, verdict.reason);
    }
    this.#sockets.handleUpgrade(request, socket, head, (ws) => this.#connect(ws, socket, request, verdict.identity));
  }

  /** Whether somebody may come in now. */
  async #judge(request: IncomingMessage): Promise<Admittance> {
    const before = this.#noRoom();
    if (before) return before;
    // Whoever is asked about takes a place meanwhile: an authenticator may be slow.
    this.#uninitialised++;
    let verdict: Admittance;
    try {
      verdict = await this.#gate.judge(request);
    } finally {
      this.#uninitialised--;
    }
    if ('status' in verdict) return verdict;
    const after = this.#noRoom();
    if (after) return after;
    const { identity } = verdict;
    if (identity && this.#hub.connections.isFull(identity.principal.id)) {
      return refusedFor('E_RATE_LIMIT', 'too many connections of this principal');
    }
    return verdict;
  }

  #noRoom(): Admittance | undefined {
    if (this.#closing) return refusedFor('E_CONNECTION_LOST', 'the server goes away');
    const isFull = this.#connections.size >= this.#limits.maxConnections;
    return isFull || this.#uninitialised >= this.#limits.maxUninitialised
      ? refusedFor('E_CONNECTION_LOST', 'full')
      : undefined;
  }

  #connect(
    ws: WebSocket,
    socket: Socket,
    request: IncomingMessage,
    identity: Awaited<ReturnType<Gatekeeper['identify']>>,
  ): void {
    const id = crypto.randomUUID();
    let isNew = true;
    this.#uninitialised++;
    const initialised = () => {
      if (isNew) this.#uninitialised--;
      isNew = false;
    };
    const stopPings = keepAlive(ws, this.#limits.heartbeatMs);
    const connection = new Connection(this.#hub, transportOf(ws, socket), {
      identity,
      identify: (token) => this.#gate.identify(request, token),
      authorize: this.#options.authorize,
      onDisconnect: this.#options.onDisconnect,
      onInitialised: () => {
        initialised();
        this.#log({ event: 'initialised', connection: id, principal: connection.principal.id });
      },
      log: (entry) => this.#log({ ...entry, connection: id }),
    });
    this.#connections.add(connection);
    this.#log({ event: 'connected', connection: id, remote: request.socket.remoteAddress });
    ws.on('close', (code) => {
      initialised();
      stopPings();
      connection.closed();
      this.#connections.delete(connection);
      this.#log({ event: 'closed', connection: id, code });
    });
    // What follows is a close with its code: 1009 for what is too large, 1002 or 1007 for what is no WebSocket.
    ws.on('error', (error) => this.#log({ event: 'socket_error', connection: id, message: messageOf(error) }));
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    if (path === '/healthz') return text(response, 200, 'ok\n');
    if (path === '/readyz') {
      if (this.#closing) return text(response, 503, 'closing\n');
      const isReady = await this.#readiness.isReady();
      return text(response, isReady ? 200 : 503, isReady ? 'ok\n' : 'the store does not answer\n');
    }
    const why = this.#gate.stranger(request);
    if (why !== undefined) return text(response, 403, `${why}\n`);
    if (path === '/metrics') return text(response, 200, await this.#metrics());
    const routes = this.#options.routes ?? {};
    if (Object.hasOwn(routes, path)) return routes[path]?.(request, response);
    if (path === PROTOCOL_PATH) return this.#explain(request, response);
    return text(response, 404, 'Not Found\n');
  }

  /** Clients that are not told why an upgrade was refused ask the same path, with the same credentials. */
  async #explain(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const verdict = request.headers.authorization === undefined ? undefined : await this.#judge(request);
    if (!verdict || !('status' in verdict)) return text(response, 426, 'Upgrade Required\n', { Upgrade: 'websocket' });
    const { status, reason } = verdict;
    return text(response, status, `${reason}\n`, status === 401 ? { 'www-authenticate': 'Bearer' } : {});
  }

  async #metrics(): Promise<string> {
    let buffered = 0;
    for (const { transport } of this.#connections) buffered += transport.bufferedAmount;
    const figures = {
      connections: this.#connections.size,
      connections_uninitialised: this.#uninitialised,
      ...(await this.#hub.figures()),
      socket_buffered_bytes: buffered,
    };
    return Object.entries(figures)
      .map(([name, value]) => `coxswain_${name} ${value}\n`)
      .join('');
  }
}

function text(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers });
  response.end(body);
}

function refuse(socket: Socket, status: number, reason: string): void {
  if (socket.destroyed) return;
  const body = `${reason}\n`;
  const names: Record<number, string> = {
    400: 'Bad Request',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'Not Found',
    429: 'Too Many Requests',
    503: 'Service Unavailable',
  };
  const extra = status === 401 ? 'WWW-Authenticate: Bearer\r\n' : '';
  socket.end(
    `HTTP/1.1 ${status} ${names[status] ?? 'Internal Server Error'}\r\n${extra}Connection: close\r\n` +
      `Content-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
