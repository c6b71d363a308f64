import type { IncomingHttpHeaders, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gate } from '../runtime/kit.ts';

export interface Recorded {
  headers: IncomingHttpHeaders;
  body: {
    model: string;
    stream?: boolean;
    messages: { role: string; content: unknown; tool_calls?: unknown[]; tool_call_id?: string }[];
    tools?: { function: { name: string; description: string; parameters: Record<string, unknown> } }[];
    [setting: string]: unknown;
  };
}

/** What the server says: pieces of text as they go over the wire, or a status, or nothing, ever. */
export type Reply =
  | readonly string[]
  | { status: number; headers?: Record<string, string>; body?: string }
  | { json: unknown }
  | { without_end: string }
  | 'hangs';

/** One event of a stream. */
export const sse = (value: unknown): string => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
export const delta = (value: Record<string, unknown>, finish: string | null = null): string =>
  sse({ choices: [{ index: 0, delta: value, finish_reason: finish }] });
export const words = (...texts: string[]): string[] => [
  ...texts.map((content) => delta({ content })),
  delta({}, 'stop'),
  sse('[DONE]'),
];
export const asks = (...calls: [id: string, name: string, args: string][]): string[] => [
  delta({
    tool_calls: calls.map(([id, name, args], index) => ({
      index,
      id,
      type: 'function',
      function: { name, arguments: args },
    })),
  }),
  delta({}, 'tool_calls'),
  sse('[DONE]'),
];

/** A Chat Completions server with a script. */
export class ChatServer {
  readonly requests: Recorded[] = [];
  /** Opens when a reply that hangs has been asked for; its `left` when the client has gone. */
  readonly hanging = gate<{ left: Promise<void> }>();
  readonly #server: Server;
  readonly #replies: Reply[];

  private constructor(replies: readonly Reply[]) {
    this.#replies = [...replies];
    this.#server = createServer(async (request, response) => {
      let text = '';
      for await (const piece of request.setEncoding('utf8')) text += piece;
      this.requests.push({ headers: request.headers, body: JSON.parse(text) });
      const reply = this.#replies.shift() ?? { status: 500, body: 'the script has run dry' };
      if (reply === 'hangs') {
        const left = gate();
        response.on('close', () => left.open());
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(delta({ content: 'one moment' }));
        this.hanging.open({ left: left.opened });
      } else if ('without_end' in reply) {
        const left = gate();
        response.on('close', () => left.open());
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        this.hanging.open({ left: left.opened });
        while (!response.closed) {
          response.write(reply.without_end);
          await new Promise((resolve) => setImmediate(resolve));
        }
      } else if ('status' in reply) response.writeHead(reply.status, reply.headers).end(reply.body ?? '');
      else if ('json' in reply) {
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(reply.json));
      } else {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        for (const piece of reply) response.write(piece);
        response.end();
      }
    });
  }

  static async start(...replies: Reply[]): Promise<ChatServer> {
    const made = new ChatServer(replies);
    await new Promise<void>((resolve) => made.#server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  get endpoint(): string {
    return `${this.baseUrl}/chat/completions`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
