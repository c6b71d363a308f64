import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import type { HttpOptions } from '../../src/host/http/index.ts';
import { createHttp } from '../../src/host/http/index.ts';
import { answerNode } from '../../src/host/websocket/node-http.ts';
import type { AgentHost } from '../../src/index.ts';
import { byName } from '../websocket/kit.ts';

export interface Front {
  readonly url: string;
  readonly handler: ReturnType<typeof createHttp>;
  close(): Promise<void>;
}

/** A handler behind a real server, for the length of a test. */
export async function fronting(host: AgentHost, options: Partial<HttpOptions> = {}): Promise<Front> {
  const handler = createHttp(host, { authenticate: byName, ...options });
  const server = createServer((request, response) => void answerNode(request, response, handler));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  let closing: Promise<void> | undefined;
  const end = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    await handler.close({ deadlineMs: 0 });
    server.closeAllConnections();
    await closed;
    await host.close();
  };
  const close = () => {
    closing ??= end();
    return closing;
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, handler, close };
}

export interface Asked {
  token?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

const authorized = ({ token = 'anna', headers = {} }: Asked) => ({
  ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
  ...headers,
});

export async function post(front: { url: string }, path: string, body: unknown = {}, asked: Asked = {}) {
  const response = await fetch(front.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...authorized(asked) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(asked.signal ? { signal: asked.signal } : {}),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as never };
}

export async function get(front: { url: string }, path: string, asked: Asked = {}) {
  const response = await fetch(front.url + path, { headers: authorized(asked) });
  return { status: response.status, headers: response.headers, body: (await response.json()) as never };
}

/** One event of an event stream. */
export interface Sent {
  event: string;
  id: string | undefined;
  data: string;
}

/** A reader of an event stream, by the rules of browsers. */
export class EventReader implements AsyncIterable<Sent> {
  readonly response: Response;
  /** Of the newest event with one, as a browser says it when it comes back. */
  lastId: string | undefined;
  comments = 0;
  readonly #gone: AbortController;

  private constructor(response: Response, gone: AbortController) {
    this.response = response;
    this.#gone = gone;
  }

  static async open(
    url: string,
    asked: Asked & { body?: unknown; lastId?: string | undefined } = {},
  ): Promise<EventReader> {
    const gone = new AbortController();
    const headers = {
      accept: 'text/event-stream',
      ...(asked.lastId === undefined ? {} : { 'last-event-id': asked.lastId }),
      ...(asked.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...authorized(asked),
    };
    const body = asked.body === undefined ? {} : { method: 'POST', body: JSON.stringify(asked.body) };
    const response = await fetch(url, { headers, signal: gone.signal, ...body });
    const reader = new EventReader(response, gone);
    reader.lastId = asked.lastId;
    return reader;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Sent> {
    let text = '';
    for await (const piece of this.response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const sent: Sent = { event: 'message', id: undefined, data: '' };
        for (const line of block.split('\n')) {
          if (line.startsWith(':')) this.comments++;
          else if (line.startsWith('event: ')) sent.event = line.slice(7);
          else if (line.startsWith('id: ')) sent.id = line.slice(4);
          else if (line.startsWith('data: ')) sent.data = line.slice(6);
        }
        if (sent.data === '') continue;
        this.lastId = sent.id ?? this.lastId;
        yield sent;
      }
    }
  }

  /** Everything, to its end. */
  async all(): Promise<Sent[]> {
    const sent: Sent[] = [];
    for await (const one of this) sent.push(one);
    return sent;
  }

  close(): void {
    this.#gone.abort();
  }
}

/** Events of an event stream until one fits, this one included. */
export async function readUntil(reader: EventReader, fits: (event: AgentEvent) => boolean): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const { event, data } of reader) {
    if (event !== 'message') continue;
    const made = JSON.parse(data) as AgentEvent;
    events.push(made);
    if (fits(made)) break;
  }
  return events;
}

export const isEnd = (event: AgentEvent): boolean => event.type === 'stream_end';
