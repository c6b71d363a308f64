import type { ModelFailure } from '../content/index.ts';
import { fromBody } from '../content/index.ts';
import { errorIn, MAX_EVENT_BYTES, repairEvents, upTo } from './event-stream.ts';
import type { Fetch } from './options.ts';
import type { HeadersLike } from './retry.ts';

export interface WireOptions {
  stream: boolean;
  /** Milliseconds that may pass without a word of the response; 0 for no limit. */
  timeoutMs: number;
  namedEvents: boolean;
  fetch?: Fetch | undefined;
}

/** The way of one attempt to its provider: its abort, its time limit, and what only the HTTP response says. */
export class Wire {
  /** Given to the SDK: fires on the caller's abort, on time-out and when the attempt is over. */
  readonly signal: AbortSignal;
  /** Given to the SDK in place of its own. */
  readonly fetch: Fetch;
  readonly stream: boolean;
  headers: HeadersLike | undefined;
  /** `data: [DONE]` has come: the stream is whole. */
  sentinel = false;
  /** The provider was asked. */
  isSent = false;
  /** What went wrong on the way, which no SDK would say as well. */
  failure: ModelFailure | undefined;
  readonly #controller = new AbortController();
  readonly #timeoutMs: number;
  readonly #detach: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Something is awaited. While the reader is slow the time does not count. */
  #isWaiting = false;

  constructor(parent: AbortSignal, options: WireOptions) {
    this.stream = options.stream;
    this.#timeoutMs = options.timeoutMs;
    this.signal = this.#controller.signal;
    const follow = () => this.#controller.abort(parent.reason);
    parent.addEventListener('abort', follow, { once: true });
    this.#detach = () => parent.removeEventListener('abort', follow);
    if (parent.aborted) follow();
    this.fetch = (input, init) => this.#fetch(options, input, init);
  }

  /** Ends the attempt: what is still open on the socket is given up. */
  close(): void {
    this.#detach();
    clearTimeout(this.#timer);
    this.#controller.abort(new DOMException('the attempt is over', 'AbortError'));
  }

  /**
   * What the promise gives, for an SDK that has a `fetch` of its own: the time of waiting counts, and an abort ends it
   * whether or not the SDK heeds the signal.
   */
  async wait<T>(promise: PromiseLike<T>): Promise<T> {
    const { signal } = this;
    let fail: (() => void) | undefined;
    const aborted = new Promise<never>((_, reject) => {
      fail = () => reject(signal.reason);
      signal.addEventListener('abort', fail, { once: true });
      if (signal.aborted) fail();
    });
    this.isSent = true;
    this.#await(this.#timeoutMs);
    try {
      return await Promise.race([promise, aborted]);
    } finally {
      this.#isWaiting = false;
      if (fail) signal.removeEventListener('abort', fail);
    }
  }

  /** Why the attempt has failed, as an SDK with a `fetch` of its own tells it. The first word counts. */
  fail({ headers, ...failure }: ModelFailure & { headers?: HeadersLike }): void {
    this.failure ??= failure;
    this.headers ??= headers;
  }

  async #fetch(options: WireOptions, ...[input, init]: Parameters<Fetch>): Promise<Response> {
    this.isSent = true;
    this.#await(options.timeoutMs);
    // A key in a header of its own would go along to wherever the server points.
    const once = { ...init, redirect: 'manual' as const };
    // Looked up now, so that whoever replaces the global one is heard.
    const response = await (options.fetch ?? globalThis.fetch)(input, once);
    this.#isWaiting = false;
    this.headers = response.headers;
    if (response.status >= 300 && response.status < 400) this.failure = redirected(response);
    if (!response.body) return response;
    const onWait = () => this.#await(options.timeoutMs);
    const onPiece = () => {
      this.#isWaiting = false;
    };
    const tooLarge = () => {
      const message = `more than ${MAX_EVENT_BYTES} bytes came ${this.stream ? 'of one event' : 'of one response'}`;
      this.failure = { code: 'bad_response', message, retryable: false };
      const error = new Error(message);
      this.#controller.abort(error);
      return error;
    };
    if (response.status > 599) {
      // Some proxies answer with a status that no response can be made of.
      const text = await new Response(upTo(response.body, { onWait, onPiece, tooLarge })).text();
      this.failure ??= fromBody(text, response.status);
      throw new Error(this.failure.message);
    }
    const onError = (error: unknown) => {
      this.failure ??= fromBody(error, undefined);
    };
    if (!this.stream || !response.ok) {
      const body = upTo(response.body, { onWait, onPiece, tooLarge });
      if (!response.ok || options.namedEvents) return withBody(response, body);
      const text = await new Response(body).text();
      const error = errorIn(text);
      if (error) onError(error);
      return withBody(response, text);
    }
    const body = repairEvents(response.body, {
      namedEvents: options.namedEvents,
      onWait,
      onPiece,
      tooLarge,
      onError,
      onSentinel: () => {
        this.sentinel = true;
      },
    });
    return withBody(response, body);
  }

  #await(timeoutMs: number): void {
    if (!(timeoutMs > 0)) return;
    this.#isWaiting = true;
    if (this.#timer) {
      this.#timer.refresh();
      return;
    }
    this.#timer = setTimeout(
      () => {
        if (!this.#isWaiting) return;
        this.failure = { code: 'timeout', message: `nothing came for ${timeoutMs} ms`, retryable: true };
        this.#controller.abort(new DOMException('nothing came in time', 'TimeoutError'));
      },
      // A timer takes no more.
      Math.min(timeoutMs, 2 ** 31 - 1),
    );
  }
}

function withBody({ status, statusText, headers }: Response, body: ReadableStream<Uint8Array> | string): Response {
  // The words beside the status may be in letters that a response does not take, and say nothing.
  return new Response(body, { status, statusText: /^[\t\x20-\x7e]*$/.test(statusText) ? statusText : '', headers });
}

/** Only where to, without what else the address may hold. */
function redirected({ status, headers }: Response): ModelFailure {
  const to = headers.get('location') ?? '';
  const target = URL.canParse(to) ? new URL(to).origin : 'another address of the same server';
  const message = `the server redirects to ${target}, which is not followed; correct the baseUrl`;
  return { code: `http_${status}`, message, retryable: false };
}
