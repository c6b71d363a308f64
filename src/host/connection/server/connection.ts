import type { InitializeResult, ParamsOf, Principal } from '../../../contracts/index.ts';
import {
  CLOSE_CODES,
  CoxswainError,
  errorRowOf,
  isCoxswainError,
  PROTOCOL_VERSION,
  SUBPROTOCOL,
} from '../../../contracts/index.ts';
import { MAX_TIMER_MS } from '../../../gate/index.ts';
import { hasSameRoles, nameOfPrincipal } from '../../../session/index.ts';
import type { Opened, Transport } from '../protocol/index.ts';
import {
  assertFits,
  checkParams,
  errorText,
  noticeText,
  numberOf,
  protocolError,
  RateLimit,
  readIncoming,
  resultText,
  wireError,
} from '../protocol/index.ts';
import type { Channel, Controller } from '../stream/index.ts';
import { BackPressure } from '../stream/index.ts';
import type { Authorize } from './authorize.ts';
import type { Caller } from './caller.ts';
import type { Hub } from './hub.ts';
import { methodNamed } from './methods.ts';
import { perform } from './perform.ts';
import { SessionHold } from './session-hold.ts';

/** Who is on the other side, and until when that is believed. */
export interface Identity {
  principal: Principal;
  /** Epoch milliseconds; absent: as long as the connection lasts. */
  expiresAt?: number;
  /** Aborted when it is withdrawn, as where somebody loses a role or signs out: connections and event streams end then. */
  ended?: AbortSignal;
}

export interface ConnectionOptions {
  /** What the upgrade has found out; absent: the first message must bring a token. */
  identity?: Identity | undefined;
  /** Knows a token. Undefined: it does not. */
  identify(token: string): Promise<Identity | undefined>;
  authorize?: Authorize | undefined;
  /** Streams of sessions that nobody but this connection controls end with it. Default `continue`. */
  onDisconnect?: 'continue' | 'abort' | undefined;
  version?: string | undefined;
  onInitialised?(): void;
  /** One line per request, without its content. */
  log?(entry: { event: string; [field: string]: unknown }): void;
}

/** Milliseconds that a peer which has not initialised has to answer a close. */
const STRANGER_MS = 500;

const EXPIRED = 'credentials expired';
const WITHDRAWN = 'credentials were withdrawn';
/** What their client does then. */
export const COME_BACK = '; come back with new ones';

/** Why what somebody was let in with counts no longer; undefined: it counts. */
export function whyEnded({ expiresAt, ended }: Pick<Identity, 'expiresAt' | 'ended'>): string | undefined {
  if (ended?.aborted) return WITHDRAWN;
  return expiresAt === undefined || expiresAt > Date.now() ? undefined : EXPIRED;
}

/** Calls `end` once that is so. @returns what ends the wait */
export function whenEnded(identity: Pick<Identity, 'expiresAt' | 'ended'>, end: (why: string) => void): () => void {
  const { expiresAt, ended } = identity;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    clearTimeout(timer);
    ended?.removeEventListener('abort', withdrawn);
  };
  const over = (why: string) => {
    stop();
    end(why);
  };
  const withdrawn = () => over(WITHDRAWN);
  const wait = () => {
    const why = whyEnded(identity);
    if (why !== undefined) return over(why);
    if (expiresAt === undefined) return;
    timer = setTimeout(wait, Math.min(Math.max(0, expiresAt - Date.now()), MAX_TIMER_MS));
    // It keeps no process alive, where the platform knows of that.
    (timer as { unref?: () => void }).unref?.();
  };
  ended?.addEventListener('abort', withdrawn);
  wait();
  return stop;
}

/** The protocol over one socket, whatever library it comes from: `spec/PROTOCOL.md`. */
export class Connection implements Opened, Caller, Controller<Channel> {
  readonly hub: Hub;
  readonly transport: Transport;
  /** Sessions that this client holds, by id. */
  readonly holds = new Map<string, SessionHold>();
  readonly options: ConnectionOptions;
  readonly #rate: RateLimit;
  readonly #pressure: BackPressure;
  /** The newest of the answers that may be large. */
  #reads: Promise<unknown> = Promise.resolve();
  /** Whose connections this one is counted among. */
  #countedFor: string | undefined;
  #identity: Identity | undefined;
  #state: 'new' | 'initialising' | 'ready' | 'closed' = 'new';
  #requests = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopWaiting: (() => void) | undefined;
  readonly #endings = new Set<() => void>();

  constructor(hub: Hub, transport: Transport, options: ConnectionOptions) {
    this.hub = hub;
    this.transport = transport;
    this.options = options;
    this.#identity = options.identity;
    const { limits } = hub.options;
    this.#rate = new RateLimit(limits.messagesPerSecond);
    this.#pressure = new BackPressure(transport, limits, () => this.slow());
    this.#timer = setTimeout(
      () => this.close(CLOSE_CODES.initTimeout, 'initialize did not come'),
      limits.initTimeoutMs,
    );
    this.#timer.unref();
    transport.onMessage((text) => this.#receive(text));
    transport.onDrain(() => {
      this.#pressure.release();
      for (const hold of this.holds.values()) hold.attachment?.drained();
    });
    if (options.identity) this.#count(nameOfPrincipal(options.identity.principal));
    if (transport.protocol !== SUBPROTOCOL) this.close(CLOSE_CODES.version, `this server implements ${SUBPROTOCOL}`);
  }

  get principal(): Principal {
    if (!this.#identity) throw new CoxswainError('UNAUTHENTICATED', 'E_UNAUTHENTICATED', 'nobody has been named yet');
    return this.#identity.principal;
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  get controller(): this {
    return this;
  }

  close(code: number, reason: string): void {
    if (this.#state === 'closed') return;
    // Whoever has not said who they are holds a place that others wait for.
    this.transport.close(code, reason, this.#state === 'ready' ? undefined : STRANGER_MS);
    this.closed();
  }

  closed(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    clearTimeout(this.#timer);
    this.#stopWaiting?.();
    this.#pressure.release();
    if (this.#countedFor !== undefined) this.hub.connections.give(this.#countedFor);
    for (const end of this.#endings) end();
    for (const hold of this.holds.values()) {
      if (this.options.onDisconnect === 'abort' && hold.channel.control.holds(this.controller))
        void hold.abort('the client is gone');
      hold.release();
    }
    this.holds.clear();
  }

  /** Runs when the connection ends. */
  atEnd(end: () => void): () => void {
    this.#endings.add(end);
    return () => this.#endings.delete(end);
  }

  notify(method: string, content: object): void {
    if (this.#state === 'ready') this.#send(noticeText(method, content));
  }

  /** Resolves once the client has read what waits for it; undefined: it has. */
  room(): Promise<void> | undefined {
    return this.#pressure.room();
  }

  controlLost({ session }: Channel): void {
    this.notify('session/control', { sessionId: session.id, controls: false, reason: 'another client took control' });
  }

  /**
   * Whoever asked is still there and still believed: said again after every wait, before anything is changed.
   * @throws CoxswainError `UNAVAILABLE / E_CONNECTION_LOST`, `UNAUTHENTICATED / E_UNAUTHENTICATED`
   */
  assertCurrent(): void {
    if (this.isClosed) {
      const message = 'the connection ended before the request was done; nothing was changed';
      throw new CoxswainError('UNAVAILABLE', 'E_CONNECTION_LOST', message);
    }
    const why = whyEnded(this.#identity ?? {});
    if (why === undefined) return;
    this.close(CLOSE_CODES.unauthenticated, why + COME_BACK);
    throw new CoxswainError('UNAUTHENTICATED', 'E_UNAUTHENTICATED', why + COME_BACK);
  }

  /**
   * Its client as it has shown itself again. With other roles than before the connection ends: what it watches was begun with those.
   * @throws CoxswainError `UNAVAILABLE / E_CONNECTION_LOST`
   */
  renew(principal: Principal): void {
    if (!this.#identity || hasSameRoles(principal, this.#identity.principal)) {
      this.#identity = { ...this.#identity, principal };
      return;
    }
    const message = 'the roles of this client are others than the connection was opened with; connect again';
    this.close(CLOSE_CODES.slow, message);
    throw new CoxswainError('UNAVAILABLE', 'E_CONNECTION_LOST', message);
  }

  /** The channel that this connection holds. @throws CoxswainError `FAILED_PRECONDITION / E_SESSION_NOT_FOUND` */
  held(sessionId: string): SessionHold {
    const hold = this.holds.get(sessionId);
    if (hold) return hold;
    const message = `this connection does not hold session ${JSON.stringify(sessionId)}; open or attach it first`;
    throw new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', message);
  }

  hold(channel: Channel): SessionHold {
    try {
      this.assertCurrent();
    } catch (error) {
      this.hub.release(channel);
      throw error;
    }
    let known = this.holds.get(channel.session.id);
    if (known?.channel === channel) {
      this.hub.release(channel);
      return known;
    }
    if (known?.channel.isGone) {
      known.release();
      this.holds.delete(channel.session.id);
      known = undefined;
    }
    const { maxSessions } = this.hub.options.limits;
    if (known || this.holds.size >= maxSessions) {
      this.hub.release(channel);
      if (known) {
        const message = `this connection holds session ${channel.session.id} of another agent; close that first`;
        throw new CoxswainError('FAILED_PRECONDITION', 'E_SESSION_BUSY', message, { retryable: false });
      }
      const message = `one connection holds at most ${maxSessions} sessions; close some`;
      throw new CoxswainError('RESOURCE_EXHAUSTED', 'E_RATE_LIMIT', message);
    }
    const hold = new SessionHold(this, channel);
    this.holds.set(channel.session.id, hold);
    return hold;
  }

  /** A client fell too far behind; it may come back to where it was. */
  slow(): void {
    if (this.isClosed) return;
    this.options.log?.({ event: 'slow', unsent: this.transport.bufferedAmount });
    this.close(CLOSE_CODES.slow, 'too slow; come back');
  }

  #send(text: string): void {
    this.transport.send(text);
    this.#pressure.sent();
  }

  /** @throws CoxswainError `RESOURCE_EXHAUSTED / E_RATE_LIMIT` */
  #count(id: string): void {
    this.hub.connections.take(id);
    this.#countedFor = id;
  }

  #receive(text: string): void {
    if (this.#state === 'closed') return;
    if (!this.#rate.take()) {
      this.close(CLOSE_CODES.slow, 'too many messages; come back later');
      return;
    }
    const incoming = readIncoming(text);
    if (typeof incoming === 'string') {
      this.close(CLOSE_CODES.badFrame, incoming);
      return;
    }
    const { id, method, params } = incoming;
    if (this.#state !== 'ready' && method !== 'initialize') {
      const isEarly = this.#state === 'initialising';
      this.close(CLOSE_CODES.badFrame, isEarly ? 'wait for the answer to initialize' : 'initialize comes first');
      return;
    }
    if (method === 'initialize') {
      if (this.#state !== 'new' || id === undefined) {
        this.close(CLOSE_CODES.badFrame, 'initialize comes once');
        return;
      }
      this.#state = 'initialising';
    }
    void this.#answer(id, method, params);
  }

  async #answer(id: string | number | undefined, method: string, given: unknown): Promise<void> {
    if (this.#requests >= this.hub.options.limits.maxRequests && method !== 'session/ack') {
      if (id === undefined) {
        // It cannot be told to wait.
        this.close(CLOSE_CODES.slow, 'too much at once; come back later');
        return;
      }
      const message = `${this.#requests} requests wait for their answers; wait too`;
      const error = new CoxswainError('RESOURCE_EXHAUSTED', 'E_RATE_LIMIT', message);
      this.#send(errorText(id, wireError(error)));
      return;
    }
    this.#requests++;
    let text: string | undefined;
    try {
      const result = await this.#call(method, given);
      if (id !== undefined) text = resultText(id, result);
      if (text !== undefined) assertFits(text, method, this.hub.options.limits.maxPayload);
    } catch (error) {
      if (!isCoxswainError(error)) this.hub.options.warn(`request ${method} failed`, error);
      // What is no method is the client's words.
      const known = method === 'initialize' || methodNamed(method) ? method : 'unknown';
      this.options.log?.({ event: 'refused', method: known, code: isCoxswainError(error) ? error.code : 'E_INTERNAL' });
      if (id !== undefined) text = errorText(id, wireError(error, numberOf(error)));
    } finally {
      this.#requests--;
    }
    if (text === undefined || this.isClosed) return;
    this.#send(text);
    if (method === 'initialize') this.#begin();
  }

  #call(method: string, given: unknown): unknown {
    if (method === 'initialize') return this.#initialize(checkParams('initialize', given));
    return perform(this, method, given, this.options.authorize, (act) => this.#inTurn(act));
  }

  /** One after the other, and no faster than the client reads. */
  #inTurn(act: () => unknown): Promise<unknown> {
    const turn = this.#reads.then(async () => {
      await this.room();
      return act();
    });
    this.#reads = turn.catch(() => {});
    return turn;
  }

  async #initialize(content: ParamsOf<'initialize'>): Promise<InitializeResult> {
    if (content.protocolVersion !== PROTOCOL_VERSION) {
      const message = `this server implements version ${PROTOCOL_VERSION}, not ${content.protocolVersion.slice(0, 32)}`;
      queueMicrotask(() => setImmediate(() => this.close(CLOSE_CODES.version, message)));
      throw protocolError(message);
    }
    if (!this.#identity && content.token !== undefined) this.#identity = await this.#late(content.token);
    if (!this.#identity) {
      setImmediate(() => this.close(CLOSE_CODES.unauthenticated, 'no valid credentials'));
      throw new CoxswainError(
        'UNAUTHENTICATED',
        'E_UNAUTHENTICATED',
        'no valid credentials came with the upgrade or initialize',
      );
    }
    return this.hub.welcome(this.principal, this.options.version);
  }

  /** Whom the token of a first message names; a fault ends the connection behind its answer. */
  async #late(token: string): Promise<Identity | undefined> {
    try {
      const identity = await this.options.identify(token);
      this.assertCurrent();
      if (identity) this.#count(nameOfPrincipal(identity.principal));
      return identity;
    } catch (error) {
      const code = (isCoxswainError(error) && errorRowOf(error.code)?.close) || CLOSE_CODES.internal;
      setImmediate(() => this.close(code, 'come back later'));
      throw error;
    }
  }

  #begin(): void {
    if (this.#state !== 'initialising' || !this.#identity) return;
    this.#state = 'ready';
    clearTimeout(this.#timer);
    this.options.onInitialised?.();
    this.#stopWaiting = whenEnded(this.#identity, (why) => this.close(CLOSE_CODES.unauthenticated, why + COME_BACK));
  }
}
