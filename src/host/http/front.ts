import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import { nameOfPrincipal } from '../../session/index.ts';
import type { Authorize, Gatekeeper, Hub, Identity, RequestHead } from '../connection/index.ts';
import {
  BackPressure,
  bearerOf,
  loadProtocol,
  protocolError,
  Quota,
  RateLimit,
  RequestCaller,
  whenEnded,
} from '../connection/index.ts';
import { HttpConnections } from './connections.ts';
import type { Cors } from './cors.ts';
import { corsHeaders, preflight } from './cors.ts';
import type { EventBodyOptions } from './event-body.ts';
import { EventBody } from './event-body.ts';
import type { HttpExchange } from './exchange.ts';
import { errorAnswer, longTextOf } from './exchange.ts';
import type { HeldAnswer } from './held-chars.ts';
import { HeldChars } from './held-chars.ts';
import { readBody } from './request-body.ts';
import { assertJson, headersOf, keyOf, noticeLines, queryOf, Refused, takesEvents } from './request-head.ts';
import type { Route } from './routes.ts';
import { routesAt } from './routes.ts';

/** Principals whose rates are kept. */
const MAX_RATES = 10_000;

export interface FrontOptions {
  hub: Hub;
  gate: Gatekeeper;
  basePath: string;
  authorize?: Authorize | undefined;
  cors: Cors;
  onDisconnect: 'continue' | 'abort';
  /** Connections of another kind that the same server has. */
  others(): number;
  log(entry: { event: string; [field: string]: unknown }): void;
  warn(message: string, error?: unknown): void;
}

/** What the body of an answer is given. */
interface GivenBody extends Pick<EventBodyOptions, 'farewell' | 'isPlain'> {
  held: HeldAnswer;
  over: (isGone: boolean) => void;
}

/** A request with what its server knows of it besides. */
export interface Arrival {
  request: Request;
  remoteAddress?: string | undefined;
}

/** Sessions over requests of plain HTTP, on what a connection of a served host works on, too. */
export class HttpFront {
  readonly #options: FrontOptions;
  readonly #bodies = new Set<EventBody>();
  readonly #requests: Quota;
  readonly #connections: HttpConnections;
  readonly #held = new HeldChars();
  readonly #rates = new Map<string, RateLimit>();
  #unidentified = 0;
  #isClosing = false;

  constructor(options: FrontOptions) {
    this.#options = options;
    this.#requests = new Quota(options.hub.options.limits.maxRequests, 'requests unanswered');
    this.#connections = new HttpConnections(options);
  }

  /** Event streams that are open. */
  get streams(): number {
    return this.#bodies.size;
  }

  /** Whether a path is this front's to answer. */
  owns(path: string): boolean {
    const below = this.#below(path);
    return below !== undefined && (below === '/openapi.json' || routesAt(below) !== undefined);
  }

  async answer(arrival: Arrival): Promise<Response> {
    const { request } = arrival;
    const head: RequestHead = { headers: headersOf(request), remoteAddress: arrival.remoteAddress };
    const why = this.#options.gate.stranger(head);
    const cors = why === undefined ? corsHeaders(this.#options.cors, head.headers.origin) : {};
    try {
      if (why !== undefined) {
        const fix = why.startsWith('Origin')
          ? 'the server names the pages that may ask in allowedOrigins'
          : 'look at the address';
        throw new CoxswainError('PERMISSION_DENIED', 'E_FORBIDDEN', `${why}; ${fix}`);
      }
      const response = await this.#route(request, head);
      for (const [name, value] of Object.entries(cors)) response.headers.set(name, value);
      return response;
    } catch (error) {
      if (!isCoxswainError(error)) this.#options.warn('a request failed', error);
      this.#options.log({
        event: 'refused',
        method: request.method,
        code: isCoxswainError(error) ? error.code : 'E_INTERNAL',
      });
      return errorAnswer(error, cors);
    }
  }

  /** Nothing new is taken; what runs may go on until the deadline. */
  retire(deadlineMs: number): void {
    this.#connections.goAway(deadlineMs);
  }

  /** From now on every event stream ends, so that its client comes back. */
  close(): void {
    this.#isClosing = true;
    this.#connections.close();
    for (const body of [...this.#bodies]) body.reconnect('the server goes away');
  }

  #below(path: string): string | undefined {
    const { basePath } = this.#options;
    return path.startsWith(basePath) ? path.slice(basePath.length) : undefined;
  }

  async #route(request: Request, head: RequestHead): Promise<Response> {
    const url = new URL(request.url);
    const path = this.#below(url.pathname);
    if (path === '/openapi.json' && request.method === 'GET') {
      const { openApiText } = await import('./openapi.ts');
      return new Response(await openApiText(this.#options.basePath), {
        headers: { 'content-type': 'application/json' },
      });
    }
    const found = path === undefined ? undefined : routesAt(path);
    if (!found) throw protocolError('there is no such path; /openapi.json lists what there is', 'UNIMPLEMENTED');
    if (request.method === 'OPTIONS') return preflight(this.#options.cors, head.headers.origin, found.methods);
    const route = found.methods.find(({ method }) => method === request.method);
    if (!route) {
      const allow = found.methods.map(({ method }) => method).join(', ');
      throw new Refused(405, `this path takes ${allow}`, { allow });
    }
    if (!found.segments) throw protocolError('the path is no UTF-8');
    const query = queryOf(url, route);
    assertJson(request);
    const identity = await this.#identify(head);
    return this.#exchange(request, route, identity, { path: found.segments, query });
  }

  async #identify(head: RequestHead): Promise<Identity> {
    const { gate, hub } = this.#options;
    if (this.#isClosing || this.#unidentified >= hub.options.limits.maxUninitialised) throw this.#full();
    this.#unidentified++;
    let identity: Identity | undefined;
    try {
      [identity] = await Promise.all([gate.identify(head, bearerOf(head.headers)), loadProtocol()]);
    } finally {
      this.#unidentified--;
    }
    if (!identity)
      throw new CoxswainError('UNAUTHENTICATED', 'E_UNAUTHENTICATED', 'credentials that the server knows are needed');
    const id = nameOfPrincipal(identity.principal);
    if (!this.#rateOf(id).take()) {
      throw new CoxswainError('RESOURCE_EXHAUSTED', 'E_RATE_LIMIT', 'too many requests; come back later');
    }
    return identity;
  }

  async #exchange(
    request: Request,
    route: Route,
    identity: Identity,
    { path, query }: Pick<HttpExchange, 'path' | 'query'>,
  ): Promise<Response> {
    const { hub, authorize, onDisconnect } = this.#options;
    const id = nameOfPrincipal(identity.principal);
    const { maxPayload, stallMs } = hub.options.limits;
    const bodyLimits = { maxPayload: maxPayload + (route.envelope ?? 0), stallMs };
    this.#requests.take(id);
    let body: EventBody | undefined;
    let pressure: BackPressure | undefined;
    const held = this.#held.answer(id);
    const sink = {
      notify: (method: string, params: object) => body?.write(noticeLines(method, params)),
      room: () => pressure?.room(),
      slow: () => body?.reconnect('too slow'),
    };
    const caller = new RequestCaller(hub, identity, { authorize, sink });
    const leave = () => caller.end();
    request.signal.addEventListener('abort', leave, { once: true });
    // A signal tells nobody who comes later.
    if (request.signal.aborted) leave();
    try {
      const answer = await route.answer({
        hub,
        caller,
        held,
        path,
        query,
        body: request.method === 'POST' ? await readBody(request, bodyLimits) : {},
        key: keyOf(request),
        lastEventId: request.headers.get('last-event-id') ?? query.get('after'),
        wantsEvents: takesEvents(request),
        onDisconnect,
        connect: () => {
          body = this.#connections.begin(identity, (over) => this.#body(id, { held, over }));
          return body;
        },
        deliver: (connection, messages) => this.#connections.deliver(connection, identity, messages),
        open: (over, farewell) => {
          // Its client may go before anybody has read of it, and nothing then says so but the signal.
          const unread = () => made.leave();
          const gone = (isGone: boolean) => {
            request.signal.removeEventListener('abort', unread);
            pressure?.release();
            over?.(isGone);
          };
          const made = this.#open(caller, { held, over: gone, farewell });
          request.signal.addEventListener('abort', unread, { once: true });
          pressure = new BackPressure(made, hub.options.limits, () => made.reconnect('too slow'));
          made.onDrain(() => pressure?.release());
          body = made;
          return made;
        },
      });
      const text = longTextOf(answer);
      if (text === undefined) return answer;
      // What its making held is over. Where there is no room for the text itself the answer is an error, and no body that
      // ends at once; it counts as it is written.
      held.giveAll();
      held.take(text.length);
      held.giveAll();
      body = this.#open(caller, { held, over: () => {}, isPlain: true });
      body.write(text);
      body.finish();
      return new Response(body.stream, { status: answer.status, headers: answer.headers });
    } catch (error) {
      // It is answered with the error instead.
      body?.leave();
      throw error;
    } finally {
      this.#requests.give(id);
      request.signal.removeEventListener('abort', leave);
      if (!body) {
        held.giveAll();
        caller.end();
      }
    }
  }

  #open(caller: RequestCaller, { over, ...given }: GivenBody): EventBody {
    const { hub } = this.#options;
    const id = nameOfPrincipal(caller.principal);
    hub.connections.take(id);
    try {
      const gone = (isGone: boolean) => {
        hub.connections.give(id);
        stop();
        over(isGone);
        caller.end();
      };
      const body = this.#body(id, { ...given, over: gone });
      const stop = whenEnded(caller.identity, (why) => body.reconnect(why));
      return body;
    } catch (error) {
      hub.connections.give(id);
      throw error;
    }
  }

  /** @throws CoxswainError `UNAVAILABLE / E_CONNECTION_LOST` where there is no room */
  #body(principal: string, { over, ...given }: GivenBody): EventBody {
    const { hub, log, others } = this.#options;
    const { limits } = hub.options;
    if (this.#isClosing || this.#bodies.size + others() >= limits.maxConnections) throw this.#full();
    const body = new EventBody({
      keepAliveMs: limits.heartbeatMs,
      stallMs: limits.stallMs,
      closeMs: limits.closeMs,
      ...given,
      over: (isGone) => {
        this.#bodies.delete(body);
        over(isGone);
        log({ event: 'stream_closed', principal, gone: isGone });
      },
    });
    this.#bodies.add(body);
    log({ event: 'stream_opened', principal });
    return body;
  }

  #full(): CoxswainError {
    const message = this.#isClosing ? 'the server goes away; come back' : 'the server is full; come back later';
    return new CoxswainError('UNAVAILABLE', 'E_CONNECTION_LOST', message);
  }

  #rateOf(id: string): RateLimit {
    const known = this.#rates.get(id) ?? new RateLimit(this.#options.hub.options.limits.messagesPerSecond);
    this.#rates.delete(id);
    this.#rates.set(id, known);
    const [oldest] = this.#rates.keys();
    if (this.#rates.size > MAX_RATES && oldest !== undefined) this.#rates.delete(oldest);
    return known;
  }
}
