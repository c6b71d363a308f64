import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { WebSocket, WebSocketServer } from 'ws';
import { KEEP_ALIVE_MS, warnWith } from '../../base/index.ts';
import { CLOSE_CODES, CoxswainError, messageOf, PROTOCOL_PATH, SUBPROTOCOL } from '../../contracts/index.ts';
import { MAX_TIMER_MS } from '../../gate/index.ts';
import { inTime, nameOfPrincipal } from '../../session/index.ts';
import type { Served, ServerLimits } from '../connection/index.ts';
import { Connection, Gatekeeper, Hub, LOOPBACK_NAMES, serverLimits } from '../connection/index.ts';
import { HttpFront } from '../http/index.ts';
import type { Inspector } from '../inspector/index.ts';
import type { AgentServer } from './agent-server.ts';
import { answerNode } from './node-http.ts';
import type { ServeOptions } from './options.ts';
import { metricsText, plainText, refuse } from './plain-answers.ts';
import { Readiness } from './readiness.ts';
import { keepAlive, transportOf } from './socket.ts';
import type { Admittance } from './upgrade.ts';
import { judgeUpgrade, refusedFor, requestHead } from './upgrade.ts';

/** Milliseconds that an aborted run has to end, and clients to answer the close. */
const ABORT_MS = 2000;

/** Of a server of its own, milliseconds. */
const OWN_SERVER = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: KEEP_ALIVE_MS };

/** Sockets of a served host or executor, and what stands beside them on the same port. */
export class SocketServer implements AgentServer {
  readonly http: Server;
  readonly token: string | undefined;
  readonly #options: ServeOptions;
  readonly #limits: ServerLimits;
  readonly #hub: Hub;
  readonly #gate: Gatekeeper;
  readonly #path: string;
  readonly #front: HttpFront | undefined;
  readonly #inspector: Inspector | undefined;
  readonly #readiness: Readiness;
  readonly #sockets: WebSocketServer;
  readonly #connections = new Set<Connection>();
  readonly #log: NonNullable<ServeOptions['log']>;
  readonly #warn: NonNullable<ServeOptions['warn']>;
  /** Still said once it is closed. */
  #address: AddressInfo = { address: '', family: '', port: 0 };
  #uninitialised = 0;
  #closing: Promise<void> | undefined;

  constructor(
    served: Served,
    options: ServeOptions,
    Sockets: typeof WebSocketServer,
    Page: typeof Inspector | undefined,
  ) {
    this.#options = options;
    this.#limits = serverLimits(options.limits);
    this.#warn = warnWith(options.warn);
    this.#log = options.log ?? (() => {});
    this.token = options.authenticate ? undefined : randomBytes(32).toString('base64url');
    this.#hub = new Hub(served, { limits: this.#limits, warn: this.#warn });
    this.#readiness = new Readiness(() => served.ready(), this.#warn);
    const { allowedHosts = options.server ? undefined : namesOf(options.host), basePath = '' } = options;
    const ui = typeof options.ui === 'object' ? options.ui : {};
    this.#inspector =
      Page && new Page({ ...ui, path: `${basePath}/ui`, ownToken: this.token, log: (entry) => this.#log(entry) });
    const pages = this.#inspector;
    this.#gate = new Gatekeeper({ ...options, allowedHosts, token: this.token, pages, warn: this.#warn });
    this.#path = basePath + PROTOCOL_PATH;
    this.#front = this.#frontOf(basePath);
    this.#sockets = new Sockets({
      noServer: true,
      maxPayload: this.#limits.maxPayload,
      perMessageDeflate: false,
      handleProtocols: (names) => (names.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    });
    this.http = options.server ?? this.#ownServer();
    this.http.on('upgrade', this.#upgraded);
  }

  #ownServer(): Server {
    return createServer(OWN_SERVER, (request, response) => {
      this.#respond(request, response).catch((error: unknown) => {
        this.#warn('a route failed', error);
        if (!response.headersSent) response.writeHead(500);
        response.end();
      });
    });
  }

  readonly #upgraded = (request: IncomingMessage, socket: Socket, head: Buffer): void => {
    // Of a server of somebody else's: another one may take it.
    const isOthers = this.#options.server !== undefined && (request.url ?? '').split('?', 1)[0] !== this.#path;
    if (isOthers && this.http.listenerCount('upgrade') > 1) return;
    this.#upgrade(request, socket, head).catch((error: unknown) => {
      this.#warn('an upgrade failed', error);
      refuse(socket, 500, 'Internal Server Error');
    });
  };

  #frontOf(basePath: string): HttpFront | undefined {
    const { http = false, authorize, onDisconnect = 'continue' } = this.#options;
    if (http === false) return undefined;
    const { cors = false } = http === true ? {} : http;
    return new HttpFront({
      hub: this.#hub,
      gate: this.#gate,
      basePath,
      authorize,
      cors: typeof cors === 'boolean' ? cors && { credentials: false } : cors,
      onDisconnect,
      others: () => this.#connections.size,
      log: this.#log,
      warn: this.#warn,
    });
  }

  async fetch(request: Request): Promise<Response> {
    return this.#front?.answer({ request }) ?? new Response('Not Found\n', { status: 404 });
  }

  get port(): number {
    return this.#listening.port;
  }

  get url(): string {
    const { address, family, port } = this.#listening;
    return `ws://${family === 'IPv6' ? `[${address}]` : address}:${port}${this.#path}`;
  }

  signInCode(): string | undefined {
    return this.token === undefined ? undefined : this.#inspector?.signInCode();
  }

  get connections(): number {
    return this.#connections.size + (this.#front?.streams ?? 0);
  }

  /** A server of somebody else's may listen later, or on no port at all. */
  get #listening(): AddressInfo {
    const address = this.#options.server?.address();
    if (address && typeof address === 'object') this.#address = address;
    return this.#address;
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
    const isOwn = this.#options.server === undefined;
    // It listens until its runs are over: who asks for its health is answered, who wants in is sent elsewhere.
    this.#hub.retire();
    for (const connection of this.#connections) connection.notify('session/goAway', { deadlineMs });
    this.#front?.retire(deadlineMs);
    if (!(await inTime(this.#hub.quiet(), deadlineMs))) {
      await inTime(this.#hub.abort('the server goes away'), ABORT_MS);
    }
    // What has just been done is answered.
    await new Promise((resolve) => setImmediate(resolve));
    for (const connection of [...this.#connections]) connection.close(CLOSE_CODES.goingAway, 'the server goes away');
    this.#front?.close();
    await this.#hub.close();
    const listening = new Promise<void>((resolve) => (isOwn ? this.http.close(() => resolve()) : resolve()));
    if (isOwn) this.http.closeAllConnections();
    else this.http.off('upgrade', this.#upgraded);
    const closed = Promise.all([listening, ...[...this.#sockets.clients].map(overOf)]);
    // Who does not answer the close is cut off.
    if (!(await inTime(closed, ABORT_MS))) for (const ws of this.#sockets.clients) ws.terminate();
    await closed;
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
      verdict = await judgeUpgrade(request, this.#gate, {
        path: this.#path,
        lateCredentials: this.#options.lateCredentials,
      });
    } finally {
      this.#uninitialised--;
    }
    if ('status' in verdict) return verdict;
    const after = this.#noRoom();
    if (after) return after;
    const { identity } = verdict;
    if (identity && this.#hub.connections.isFull(nameOfPrincipal(identity.principal))) {
      return refusedFor('E_RATE_LIMIT', 'too many connections of this principal');
    }
    return verdict;
  }

  #noRoom(): Admittance | undefined {
    if (this.#closing) return refusedFor('E_CONNECTION_LOST', 'the server goes away');
    const isFull = this.connections >= this.#limits.maxConnections;
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
      identify: (token) => this.#gate.identify(requestHead(request), token),
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
    if (path === '/healthz') return plainText(response, 200, 'ok\n');
    if (path === '/readyz') {
      if (this.#closing) return plainText(response, 503, 'closing\n');
      const isReady = await this.#readiness.isReady();
      return plainText(response, isReady ? 200 : 503, isReady ? 'ok\n' : 'the store does not answer\n');
    }
    if (path === '/health') return this.#health(response);
    const why = this.#gate.stranger(request);
    if (why !== undefined) return plainText(response, 403, `${why}\n`);
    if (path === '/metrics') return plainText(response, 200, await this.#metrics());
    const routes = this.#options.routes ?? {};
    if (Object.hasOwn(routes, path)) return routes[path]?.(request, response);
    if (path === this.#path) return this.#explain(request, response);
    if (this.#inspector?.owns(path)) return this.#inspector.answer(request, response, path, this.#gate);
    if (this.#front?.owns(path)) return this.#overHttp(this.#front, request, response);
    return plainText(response, 404, 'Not Found\n');
  }

  #overHttp(front: HttpFront, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { remoteAddress } = request.socket;
    return answerNode(request, response, (made) => front.answer({ request: made, remoteAddress }));
  }

  /** Clients that are not told why an upgrade was refused ask the same path, with the same credentials. */
  async #explain(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const verdict = request.headers.authorization === undefined ? undefined : await this.#judge(request);
    if (!verdict || !('status' in verdict))
      return plainText(response, 426, 'Upgrade Required\n', { Upgrade: 'websocket' });
    const { status, reason } = verdict;
    return plainText(response, status, `${reason}\n`, status === 401 ? { 'www-authenticate': 'Bearer' } : {});
  }

  async #metrics(): Promise<string> {
    let buffered = 0;
    for (const { transport } of this.#connections) buffered += transport.bufferedAmount;
    const figures = {
      connections: this.#connections.size,
      ...(this.#front ? { event_streams: this.#front.streams } : {}),
      connections_uninitialised: this.#uninitialised,
      ...(await this.#hub.figures()),
      socket_buffered_bytes: buffered,
      draining: this.#closing ? 1 : 0,
      ...(await this.#readiness.figures()),
      ...(await this.#options.figures?.()),
    };
    return metricsText(figures);
  }

  /** All three in one: for whoever asks one path. */
  async #health(response: ServerResponse): Promise<void> {
    const isReady = !this.#closing && (await this.#readiness.isReady());
    const status = this.#closing ? 'draining' : isReady ? 'ready' : 'store_unavailable';
    response.writeHead(isReady ? 200 : 503, { 'content-type': 'application/json' });
    response.end(`${JSON.stringify({ live: true, ready: isReady, draining: status === 'draining', status })}\n`);
  }
}

/** Resolves when a socket is closed. */
function overOf(ws: WebSocket): Promise<void> {
  return new Promise((resolve) => (ws.readyState === ws.CLOSED ? resolve() : ws.once('close', () => resolve())));
}

/** What a server on this address is called by. */
function namesOf(host: string | undefined): string[] {
  return [...LOOPBACK_NAMES, ...(host === undefined ? [] : [host])];
}
