import { repairEvents } from './event-stream.ts';
import type { Fetch } from './options.ts';

export interface WireOptions {
  stream: boolean;
  /** Milliseconds until the response must have begun; 0 for no limit. */
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
  headers: Headers | undefined;
  /** `data: [DONE]` has come: the stream is whole. */
  sentinel = false;
  timedOut = false;
  readonly #controller = new AbortController();
  readonly #detach: () => void;

  constructor(parent: AbortSignal, options: WireOptions) {
    this.stream = options.stream;
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
    this.#controller.abort(new DOMException('the attempt is over', 'AbortError'));
  }

  async #fetch(options: WireOptions, ...[input, init]: Parameters<Fetch>): Promise<Response> {
    const timer =
      options.timeoutMs > 0
        ? setTimeout(() => {
            this.timedOut = true;
            this.#controller.abort(new DOMException('no response in time', 'TimeoutError'));
          }, options.timeoutMs)
        : undefined;
    let response: Response;
    try {
      // Looked up now, so that whoever replaces the global one is heard.
      response = await (options.fetch ?? globalThis.fetch)(input, init);
    } finally {
      clearTimeout(timer);
    }
    this.headers = response.headers;
    if (!this.stream || !response.ok || !response.body) return response;
    const body = repairEvents(response.body, {
      namedEvents: options.namedEvents,
      onSentinel: () => {
        this.sentinel = true;
      },
    });
    return new Response(body, {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
  }
}
