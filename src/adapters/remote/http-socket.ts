import type { CoxswainError, WireError } from '../../contracts/index.ts';
import { BEARER_PREFIX, parseJson } from '../../contracts/index.ts';
import { textOfBase64url } from './base64url.ts';
import { shortBody } from './endpoint.ts';
import { connectionLost, errorOf } from './link-errors.ts';
import type { WebSocketLike } from './options.ts';

/** Characters of messages that one request carries, unless one message has more. */
const BATCH = 256 * 1024;
const SERVER_GONE = 1006;

/** A socket that knows why it was refused; those of the platform do not say. */
export interface SocketWithReason extends WebSocketLike {
  readonly refusal?: CoxswainError | undefined;
}

/** Takes each event of an event stream, by its rules as far as this protocol uses them, until one is not wanted. */
async function readEach(
  body: ReadableStream<Uint8Array>,
  take: (event: string, data: string) => boolean,
): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    text += decoder.decode(next.value, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n');
      const data = lines.find((line) => line.startsWith('data: '))?.slice(6);
      const event = lines.find((line) => line.startsWith('event: '))?.slice(7) ?? 'message';
      if (data !== undefined && !take(event, data)) return;
    }
  }
}

/**
 * A connection of the session protocol over plain HTTP: messages of the server come by an event stream, those of this
 * client go by requests, one after the other.
 */
export class HttpSocket implements SocketWithReason {
  onopen: WebSocketLike['onopen'] = null;
  onmessage: WebSocketLike['onmessage'] = null;
  onclose: WebSocketLike['onclose'] = null;
  onerror: WebSocketLike['onerror'] = null;
  refusal: CoxswainError | undefined;
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #gone = new AbortController();
  #id = '';
  #waiting: string[] = [];
  #isSending = false;
  #isClosed = false;

  constructor(url: string, protocols: readonly string[]) {
    this.#url = `${url.replace(/\/$/, '')}/connections`;
    const bearer = protocols.find((name) => name.startsWith(BEARER_PREFIX));
    this.#headers = {
      'content-type': 'application/json',
      ...(bearer === undefined
        ? {}
        : { authorization: `Bearer ${textOfBase64url(bearer.slice(BEARER_PREFIX.length))}` }),
    };
    this.#read().then(
      () => this.#end(SERVER_GONE, ''),
      (error: unknown) => this.#end(SERVER_GONE, error instanceof Error ? error.message : ''),
    );
  }

  get bufferedAmount(): number {
    return this.#waiting.reduce((sum, text) => sum + text.length, 0);
  }

  send(data: string): void {
    if (this.#isClosed) return;
    this.#waiting.push(data);
    if (!this.#isSending) void this.#send();
  }

  close(code = 1000, reason = ''): void {
    queueMicrotask(() => this.#end(code, reason));
  }

  async #read(): Promise<void> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: { ...this.#headers, accept: 'text/event-stream' },
      body: '{}',
      redirect: 'error',
      signal: this.#gone.signal,
    });
    if (!response.ok || !response.body) {
      this.refusal = await refusalOf(response);
      return;
    }
    await readEach(response.body, (event, data) => this.#take(event, data));
  }

  /** False: nothing more is wanted. */
  #take(event: string, data: string): boolean {
    if (this.#isClosed) return false;
    if (event === 'message') this.onmessage?.({ data } as never);
    else if (event === 'open') {
      this.#id = (parseJson(data) as { id: string }).id;
      this.onopen?.({} as never);
    } else if (event === 'close') {
      const { code, reason } = parseJson(data) as { code: number; reason: string };
      this.#end(code, reason);
    }
    return !this.#isClosed;
  }

  /** What waits, as one request at a time: its order is that of the messages. */
  async #send(): Promise<void> {
    this.#isSending = true;
    // What is sent in one go leaves in one request.
    await Promise.resolve();
    try {
      while (this.#waiting.length > 0 && !this.#isClosed) await this.#post(this.#batch());
    } catch (error) {
      this.#end(SERVER_GONE, error instanceof Error ? error.message : '');
    } finally {
      this.#isSending = false;
    }
  }

  #batch(): string[] {
    let size = 0;
    const end = this.#waiting.findIndex((text, at) => {
      size += text.length;
      return at > 0 && size > BATCH;
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  async #post(texts: readonly string[]): Promise<void> {
    const response = await fetch(`${this.#url}/${encodeURIComponent(this.#id)}`, {
      method: 'POST',
      headers: this.#headers,
      body: `{"messages":[${texts.join(',')}]}`,
      redirect: 'error',
      signal: this.#gone.signal,
    });
    if (!response.ok) throw await refusalOf(response);
    await response.body?.cancel();
  }

  #end(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waiting = [];
    this.#gone.abort();
    this.onclose?.({ code, reason } as never);
  }
}

/** What the server says in the answer, or its status where it is none of ours. */
async function refusalOf(response: Response): Promise<CoxswainError> {
  try {
    const { error } = parseJson(await shortBody(response)) as {
      error: NonNullable<WireError['data']> & { message: string };
    };
    return errorOf({ code: 0, message: error.message, data: error });
  } catch {
    return connectionLost(`the server answers with ${response.status}, and nothing of this protocol`);
  }
}
