import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  /** Written piece by piece; an object is sent as JSON. */
  body?: string | readonly (string | Uint8Array)[] | object;
  /** Leaves the response open after what was written. */
  hang?: boolean;
  /** Destroys the socket after what was written. */
  reset?: boolean;
}

export type Handler = (request: SeenRequest, count: number) => Reply | Promise<Reply>;

/** A real HTTP server on loopback that stands for a provider. */
export class FakeProvider implements AsyncDisposable {
  readonly requests: SeenRequest[] = [];
  /** Resolves when a client has given up a response that was left open. */
  readonly abandoned: Promise<void>;
  handler: Handler;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #abandon: () => void = () => {};
  #busy = 0;

  constructor(handler: Handler = () => ({ status: 404 })) {
    this.handler = handler;
    this.abandoned = new Promise((resolve) => {
      this.#abandon = resolve;
    });
  }

  static async start(handler?: Handler): Promise<FakeProvider> {
    const fake = new FakeProvider(handler);
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Connections on which a response is still under way. */
  connections(): number {
    return this.#busy;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += chunk;
    const seen = {
      path: request.url ?? '',
      headers: request.headers,
      body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
    };
    this.requests.push(seen);
    this.#busy++;
    response.on('close', () => void this.#busy--);
    const { status = 200, headers = {}, body = '', hang, reset } = await this.handler(seen, this.requests.length);
    const isText = typeof body === 'string' || Array.isArray(body);
    response.writeHead(status, {
      'content-type': isText ? 'text/event-stream' : 'application/json',
      ...headers,
    });
    if (typeof body === 'string') response.write(body);
    else if (Array.isArray(body)) for (const piece of body) response.write(piece);
    else response.write(JSON.stringify(body));
    if (hang) response.on('close', this.#abandon);
    else if (reset) response.socket?.destroySoon();
    else response.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
