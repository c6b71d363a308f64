import type {
  AuthInfo,
  McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { renewAuthInfo } from '../server/index.ts';
import type { loadServerSdk } from '../turn/index.ts';
import { RecentEvents } from './recent-events.ts';
import { refusedResponse } from './refusal.ts';

interface Session {
  transport: WebStandardStreamableHTTPServerTransport;
  events: RecentEvents;
  /** Who opened it: for anybody else it does not exist. */
  owner: string | undefined;
  /** Epoch milliseconds. */
  lastUsed: number;
  /** Number of its newest use: of two within a millisecond, the later one is larger. */
  use: number;
  /** Connections that are open. */
  active: number;
  /** Requests that are not answered yet, whether or not their client is there, by id, and who they are of. */
  running: Map<unknown, AuthInfo | undefined>;
  /** What its client is asked and has not answered, by id, and who is asked. */
  asked: Map<unknown, AuthInfo | undefined>;
}

export interface HttpSessionsOptions {
  maxSessions: number;
  idleMs: number;
  maxBodyBytes: number;
  resumeBytes: number;
}

/** The sessions of 2025 clients: a server and a transport each. An unknown one is 404, so that its client starts anew. */
export class HttpSessions {
  readonly #factory: McpServerFactory;
  readonly #sdk: Awaited<ReturnType<typeof loadServerSdk>>;
  readonly #options: HttpSessionsOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #sweeper: ReturnType<typeof setInterval>;

  constructor(factory: McpServerFactory, sdk: Awaited<ReturnType<typeof loadServerSdk>>, options: HttpSessionsOptions) {
    this.#factory = factory;
    this.#sdk = sdk;
    this.#options = options;
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(options.idleMs, 60_000));
    this.#sweeper.unref();
  }

  async fetch(request: Request, authInfo: AuthInfo | undefined): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return this.#withoutId(request, authInfo);
    const session = this.#sessions.get(id);
    if (request.method === 'POST' && (!session || session.owner !== authInfo?.clientId)) {
      // Many clients still send the id of the session that they have lost.
      return this.#withoutId(request, authInfo, unknownSession());
    }
    if (!session || session.owner !== authInfo?.clientId) {
      return unknownSession();
    }
    const seen = request.method === 'GET' ? request.headers.get('last-event-id') : null;
    if (seen !== null && !session.events.has(seen)) {
      return refusedResponse(400, -32_000, 'Last-Event-ID is not kept any more: what came after it may be lost');
    }
    return this.#use(session, request, { ...(authInfo ? { authInfo } : {}) });
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#sessions.values()].map(({ transport }) => transport.close()));
  }

  /** Begins a session, where it asks for one; `otherwise` where it does not. */
  async #withoutId(
    request: Request,
    authInfo: AuthInfo | undefined,
    otherwise: Response = missingId(),
  ): Promise<Response> {
    if (request.method !== 'POST') return otherwise;
    if (!this.#sdk.isJsonContentType(request.headers.get('content-type'))) {
      return refusedResponse(415, -32_000, 'Content-Type must be application/json');
    }
    const body = await this.#sdk.readRequestBody(request.clone(), this.#options.maxBodyBytes);
    if (body.tooLarge) return refusedResponse(413, -32_000, `more than ${this.#options.maxBodyBytes} bytes`);
    let message: unknown;
    try {
      message = JSON.parse(body.text);
    } catch {
      return refusedResponse(400, -32_700, 'Parse error: it is not JSON');
    }
    if (!this.#sdk.isInitializeRequest(message)) return otherwise;
    if (!this.#makeRoom(authInfo?.clientId))
      return refusedResponse(503, -32_000, 'too many sessions are open; try again later');
    const headers = new Headers(request.headers);
    headers.delete('mcp-session-id');
    return this.#open(new Request(request, { headers }), message, authInfo);
  }

  async #open(request: Request, message: unknown, authInfo: AuthInfo | undefined): Promise<Response> {
    const events = new RecentEvents(this.#options.resumeBytes);
    const transport = new this.#sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void this.#sessions.set(id, session),
      maxRequestBodySize: this.#options.maxBodyBytes,
      eventStore: events,
    });
    const session: Session = {
      transport,
      events,
      owner: authInfo?.clientId,
      ...usedNow(),
      active: 0,
      running: new Map(),
      asked: new Map(),
    };
    const server = await this.#factory({ era: 'legacy', requestInfo: request, ...(authInfo ? { authInfo } : {}) });
    await server.connect(transport);
    noteRequests(transport, session);
    const { onclose } = transport;
    transport.onclose = () => {
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
      onclose?.();
    };
    const response = await this.#use(session, request, { parsedBody: message, ...(authInfo ? { authInfo } : {}) });
    if (transport.sessionId === undefined) await transport.close();
    return response;
  }

  async #use(
    session: Session,
    request: Request,
    options: { parsedBody?: unknown; authInfo?: AuthInfo },
  ): Promise<Response> {
    touch(session);
    session.active += 1;
    const done = () => {
      session.active -= 1;
      touch(session);
    };
    try {
      const response = await session.transport.handleRequest(request, options);
      return whenRead(response, done, request.method === 'GET' && response.ok ? BEGUN : undefined);
    } catch (error) {
      done();
      throw error;
    }
  }

  /**
   * Room for one more. Where all places are taken it is one of whoever has most of them, and only of the newcomer itself
   * where that has as many: the one that was idle longest, one that waits for a client that is gone, or, of somebody who
   * has more than the newcomer would have, one that does no more than listen.
   */
  #makeRoom(newcomer: string | undefined): boolean {
    if (this.#sessions.size < this.#options.maxSessions) return true;
    const held = new Map<string | undefined, number>();
    for (const { owner } of this.#sessions.values()) held.set(owner, (held.get(owner) ?? 0) + 1);
    const own = held.get(newcomer) ?? 0;
    const most = Math.max(...held.values());
    const from = (owner: string | undefined) => (own >= most ? owner === newcomer : held.get(owner) === most);
    const oldest =
      this.#oldest((session) => from(session.owner) && isIdle(session)) ??
      this.#oldest((session) => from(session.owner) && isLeft(session)) ??
      (own + 1 < most ? this.#oldest((session) => from(session.owner) && session.running.size === 0) : undefined);
    if (!oldest) return false;
    void oldest.transport.close();
    return true;
  }

  #oldest(fits: (session: Session) => boolean): Session | undefined {
    const found = [...this.#sessions.values()].filter(fits);
    return found.sort((a, b) => a.use - b.use)[0];
  }

  #sweep(): void {
    const before = Date.now() - this.#options.idleMs;
    for (const session of this.#sessions.values()) {
      if (isIdle(session) && session.lastUsed < before) void session.transport.close();
    }
  }
}

let uses = 0;

const usedNow = () => ({ lastUsed: Date.now(), use: ++uses });

function touch(session: Session): void {
  Object.assign(session, usedNow());
}

const isIdle = ({ active, running }: Session) => active === 0 && running.size === 0;

/** Its client is not there, and nothing works: all that runs waits for an answer of it. */
const isLeft = ({ active, running, asked }: Session) => active === 0 && running.size <= asked.size;

/** A call goes on though its connection has broken; its client comes back for the result. */
function noteRequests(transport: Session['transport'], session: Session): void {
  const { onmessage } = transport;
  const send = transport.send.bind(transport);
  transport.onmessage = (message, extra) => {
    if ('method' in message && 'id' in message) session.running.set(message.id, extra?.authInfo);
    if ('method' in message && message.method === 'notifications/cancelled') {
      session.running.delete(message.params?.requestId);
    }
    if (!('method' in message)) {
      // Decided by the roles that its client has now.
      renewAuthInfo(session.asked.get(message.id), extra?.authInfo);
      session.asked.delete(message.id);
    }
    onmessage?.(message, extra);
  };
  transport.send = (message, options) => {
    if ('method' in message && 'id' in message) {
      session.asked.set(message.id, session.running.get(options?.relatedRequestId));
    }
    if ('method' in message && message.method === 'notifications/cancelled') {
      session.asked.delete(message.params?.requestId);
    }
    if (!('method' in message) && session.running.delete(message.id)) touch(session);
    return send(message, options);
  };
}

/** A comment of a stream: without a first word HTTP servers keep its head to themselves, and its reader waits. */
const BEGUN = new TextEncoder().encode(':\n\n');

/** The response, and word when its body has been read or left. `first` is put before it. */
function whenRead(response: Response, done: () => void, first?: Uint8Array): Response {
  if (!response.body) {
    done();
    return response;
  }
  const reader = response.body.getReader();
  let isDone = false;
  const once = () => {
    if (!isDone) done();
    isDone = true;
  };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void (first && controller.enqueue(first)),
    async pull(controller) {
      try {
        const { done: isEnd, value } = await reader.read();
        if (!isEnd) return controller.enqueue(value);
        once();
        controller.close();
      } catch (error) {
        once();
        controller.error(error);
      }
    },
    async cancel(reason) {
      once();
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
}

const unknownSession = () => refusedResponse(404, -32_001, 'Session not found; send initialize to begin a new one');
const missingId = () => refusedResponse(400, -32_000, 'Mcp-Session-Id is missing; send initialize first');
