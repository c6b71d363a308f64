import { MAX_TIMER_MS } from '../../base/index.ts';
import type { InitializeResult, RpcMethod, WireError } from '../../contracts/index.ts';
import {
  BEARER_PREFIX,
  CoxswainError,
  isCoxswainError,
  PROTOCOL_VERSION,
  parseJson,
  SUBPROTOCOL,
} from '../../contracts/index.ts';
import { backoffMs } from './backoff.ts';
import { base64url } from './base64url.ts';
import { assertWelcome, whyRefused } from './endpoint.ts';
import type { SocketWithReason } from './http-socket.ts';
import { HttpSocket } from './http-socket.ts';
import { asLost, connectionLost, errorOf, refused, unreached } from './link-errors.ts';
import type { ConnectOptions, LinkState, WebSocketClass, WebSocketLike } from './options.ts';
import { noticeText, requestText } from './outgoing.ts';

/** Makes the params anew for each attempt: tokens and positions change with a connection. */
type MakeParams = (attempt: number) => object;

interface Message {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: WireError;
}

interface Waiting {
  method: string;
  params: MakeParams;
  attempts: number;
  sentOn?: WebSocketLike | undefined;
  /** May be sent again when its connection is lost. */
  resend: boolean;
  /** Called with the result before the next message is looked at. */
  take?: ((result: never) => void) | undefined;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

export interface LinkListener {
  notice(method: string, params: Record<string, unknown>): void;
  /** A new connection: positions are taken up again before anything that waits is sent. */
  ready(init: InitializeResult, first: boolean): Promise<void>;
  /** There will be no connection any more; `isOwn`: this side wants none. */
  failed(error: CoxswainError, isOwn: boolean): void;
}

/** One connection to a server, made again whenever it is lost. */
export class Link {
  #socket: WebSocketLike | undefined;
  #state: LinkState = 'connecting';
  /** Of the connection at hand: initialised, positions taken up. */
  #isReady = false;
  #isInitialised = false;
  #lastId = 0;
  readonly #waiting = new Map<number, Waiting>();
  readonly #url: string;
  readonly #options: ConnectOptions;
  readonly #listener: LinkListener;
  #failure: CoxswainError | undefined;
  #attempt = 0;
  #lostAt: number | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #pulse: ReturnType<typeof setInterval> | undefined;
  #quiet = 0;
  #maxPayload = 4 * 1024 * 1024;
  #keyMs = 0;

  constructor(url: string, options: ConnectOptions, listener: LinkListener) {
    this.#url = url;
    this.#options = options;
    this.#listener = listener;
  }

  get state(): LinkState {
    return this.#state;
  }

  /** Milliseconds that the server remembers the key of a change. */
  get keyMs(): number {
    return this.#keyMs;
  }

  /** The first connection; later ones make themselves. */
  async open(): Promise<void> {
    try {
      await this.#connect();
    } catch (error) {
      this.#fail(asLost(error));
      throw error;
    }
  }

  /**
   * One request. It waits while there is no connection.
   * @throws CoxswainError what the server says; `UNAVAILABLE / E_CONNECTION_LOST`
   */
  request<T>(
    method: RpcMethod,
    params: object | MakeParams,
    options: { resend?: boolean; take?: (result: T) => void } = {},
  ): Promise<T> {
    const make = typeof params === 'function' ? (params as MakeParams) : () => params;
    return this.#ask(method, make, options.resend ?? true, this.#isReady, options.take) as Promise<T>;
  }

  /** A request of the take-up itself: sent before those that wait. */
  now<T>(method: RpcMethod, params: object, take?: (result: T) => void): Promise<T> {
    if (!this.#socket) return Promise.reject(connectionLost('the connection was lost while it was taken up'));
    return this.#ask(method, () => params, false, true, take) as Promise<T>;
  }

  notify(method: RpcMethod, params: object): void {
    if (this.#isInitialised) this.#socket?.send(noticeText(method, params));
  }

  /** Ends the connection at hand; another one is made. */
  drop(reason: string): void {
    this.#socket?.close(4000, reason);
    this.#lost(reason);
  }

  close(): void {
    const socket = this.#socket;
    const message = 'the connection was closed here';
    this.#fail(new CoxswainError('UNAVAILABLE', 'E_CONNECTION_LOST', message, { retryable: false }), true);
    socket?.close(1000);
  }

  #ask(
    method: string,
    params: MakeParams,
    resend: boolean,
    isNow: boolean,
    take?: (result: never) => void,
  ): Promise<unknown> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const waiting: Waiting = { method, params, attempts: 0, resend, take, resolve, reject };
      this.#waiting.set(id, waiting);
      if (isNow) this.#send(id, waiting);
    });
  }

  #send(id: number, waiting: Waiting): void {
    try {
      const text = requestText(id, waiting.method, waiting.params(++waiting.attempts), this.#maxPayload);
      waiting.sentOn = this.#socket;
      this.#socket?.send(text);
    } catch (error) {
      this.#waiting.delete(id);
      waiting.reject(error);
    }
  }

  async #connect(): Promise<void> {
    this.#change('connecting');
    const token = this.#options.token ?? (await this.#options.getToken?.());
    const protocols = [SUBPROTOCOL, ...(token === undefined ? [] : [BEARER_PREFIX + base64url(token)])];
    const socket: SocketWithReason = new (this.#socketClass())(this.#url, protocols);
    const isFirst = this.#lostAt === undefined;
    const timeoutMs = Math.min(this.#options.connectTimeoutMs ?? 10_000, MAX_TIMER_MS);
    let isOpen = false;
    await new Promise<void>((resolve, reject) => {
      const timeout = setTimeout(() => {
        socket.close();
        reject(connectionLost('the server did not answer in time'));
      }, timeoutMs);
      const settle = (done: () => void) => {
        clearTimeout(timeout);
        done();
      };
      socket.onopen = () => {
        isOpen = true;
        if (this.#failure) return socket.close();
        this.#socket = socket;
        this.#begin(socket, isFirst).then(
          () => settle(resolve),
          (error) => settle(() => reject(error)),
        );
      };
      socket.onmessage = ((event: { data: unknown }) => this.#receive(socket, String(event.data))) as never;
      socket.onerror = () => {};
      socket.onclose = ((event: { code: number; reason: string }) => {
        const why = `closed with ${event.code}${event.reason ? ` (${event.reason})` : ''}`;
        if (isOpen) settle(() => reject(connectionLost(`the connection was ${why}`)));
        else {
          const asked = this.#isHttp ? Promise.resolve(socket.refusal) : whyRefused(this.#url, token, timeoutMs);
          void asked.then((error) => settle(() => reject(error ?? unreached(this.#url, why))));
        }
        if (this.#socket === socket) this.#closed(event.code, why);
      }) as never;
    });
  }

  get #isHttp(): boolean {
    return this.#url.startsWith('http');
  }

  #socketClass(): WebSocketClass {
    const { WebSocket } = this.#options;
    if (WebSocket) return WebSocket;
    return this.#isHttp ? HttpSocket : (globalThis.WebSocket as unknown as WebSocketClass);
  }

  async #begin(socket: WebSocketLike, isFirst: boolean): Promise<void> {
    const init = await this.now<InitializeResult>('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      client: { name: 'coxswain' },
    });
    assertWelcome(init);
    this.#maxPayload = init.limits.maxPayload;
    this.#keyMs = init.limits.keyMs;
    this.#isInitialised = true;
    await this.#listener.ready(init, isFirst);
    if (this.#socket !== socket) throw connectionLost('the connection was lost while it was taken up');
    this.#isReady = true;
    this.#attempt = 0;
    this.#lostAt = undefined;
    this.#change('ready');
    for (const [id, waiting] of [...this.#waiting]) if (waiting.sentOn !== this.#socket) this.#send(id, waiting);
    this.#startPulse(init.limits.heartbeatMs);
  }

  #receive(socket: WebSocketLike, text: string): void {
    if (this.#socket !== socket) return;
    this.#quiet = 0;
    try {
      this.#take(parseJson(text) as Message);
    } catch {
      this.drop('the server sent something that is no message of this protocol');
    }
  }

  /** Throws for what is no message. */
  #take(message: Message): void {
    if (message.method !== undefined && message.id === undefined) {
      this.#listener.notice(message.method, message.params ?? {});
      return;
    }
    const id = message.id ?? -1;
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    // Nothing was changed: it waits for the next connection.
    if (message.error?.data?.code === 'E_GOING_AWAY' && waiting.resend) return;
    if (message.error) {
      const error = errorOf(message.error);
      this.#waiting.delete(id);
      waiting.reject(error);
      return;
    }
    waiting.take?.(message.result as never);
    this.#waiting.delete(id);
    waiting.resolve(message.result);
  }

  #closed(code: number, why: string): void {
    const isFinal = code >= 4500 && code < 4600;
    if (isFinal) {
      this.#fail(refused(code, why));
      return;
    }
    this.#lost(why);
  }

  #lost(why: string): void {
    if (!this.#socket || this.#failure) return;
    this.#socket = undefined;
    this.#isReady = false;
    this.#isInitialised = false;
    clearInterval(this.#pulse);
    this.#lostAt ??= Date.now();
    for (const [id, waiting] of [...this.#waiting]) {
      if (waiting.resend || waiting.attempts === 0) continue;
      this.#waiting.delete(id);
      waiting.reject(connectionLost(`the connection was lost while ${waiting.method} waited for its answer`));
    }
    this.#again(why);
  }

  #again(why: string): void {
    if (this.#failure) return;
    const { giveUpMs = 600_000 } = this.#options;
    if (Date.now() - (this.#lostAt ?? Date.now()) > giveUpMs) {
      this.#fail(connectionLost(`no connection for ${giveUpMs} ms: ${why}`));
      return;
    }
    this.#change('waiting', why);
    this.#retry = setTimeout(
      () => {
        this.#connect().catch((error: unknown) => {
          if (isCoxswainError(error) && this.#isFinal(error)) this.#fail(error);
          else if (this.#socket) this.drop('the connection could not be taken up');
          else if (!this.#failure && this.#state === 'connecting')
            this.#again(error instanceof Error ? error.message : why);
        });
      },
      backoffMs(this.#attempt++, this.#options),
    );
  }

  /** Whether asking again is of no use: the same token would be refused again. */
  #isFinal({ code }: CoxswainError): boolean {
    return code === 'E_PROTOCOL' || (code === 'E_UNAUTHENTICATED' && !this.#options.getToken);
  }

  #startPulse(everyMs: number): void {
    clearInterval(this.#pulse);
    this.#quiet = 0;
    // A browser cannot see pings: a quiet connection is asked.
    this.#pulse = setInterval(
      () => {
        this.#quiet++;
        if (this.#quiet === 1) return;
        if (this.#quiet > 3) return this.drop('the server is silent');
        this.request('ping', {}, { resend: false }).catch(() => {});
      },
      Math.min(everyMs, MAX_TIMER_MS),
    );
    (this.#pulse as { unref?: () => void }).unref?.();
  }

  #fail(error: CoxswainError, isOwn = false): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#socket = undefined;
    this.#isReady = false;
    clearTimeout(this.#retry);
    clearInterval(this.#pulse);
    // Before the requests: what is over is over, and does not fail for want of an answer.
    this.#listener.failed(error, isOwn);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#change('closed', error.message);
  }

  #change(state: LinkState, reason?: string): void {
    this.#state = state;
    this.#options.onState?.(state, reason);
  }
}
