import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export async function stopServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

export interface Message {
  id?: number;
  method: string;
  params?: { name?: string; arguments?: Record<string, unknown>; cursor?: string };
}

export interface RawTool {
  name: string;
  description?: string;
  title?: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
  execution?: Record<string, unknown>;
}

export type Behaviour = (response: ServerResponse, message: Message, request: IncomingMessage) => void;

export const said = (text: string) => ({ content: [{ type: 'text', text }] });

export function json(response: ServerResponse, body: object, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Begins a response as a stream; writes each message. */
export function sse(response: ServerResponse, ...messages: object[]): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const message of messages) response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}

export const toolsChanged = { method: 'notifications/tools/list_changed' };

/** A server without the SDK, so that it can do what no honest one does. Each `tools/call` is noted, then does as told. */
export class RawServer {
  tools: RawTool[] = [{ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } }];
  /** Done to each call, in turn; the last one again and again. */
  behaviours: Behaviour[] = [];
  /** Done to each listing, in turn, once; then it lists its tools. */
  lists: Behaviour[] = [];
  readonly calls: Message[] = [];
  readonly initialized: string[] = [];
  /** What came with it each time. */
  readonly authorized: (string | undefined)[] = [];
  /** 2026 where true, else 2025. */
  isModern = false;
  hasSessions = true;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  static async start(
    options: Partial<Pick<RawServer, 'isModern' | 'hasSessions' | 'behaviours'>> = {},
  ): Promise<RawServer> {
    const raw = Object.assign(new RawServer(), options);
    await new Promise<void>((resolve) => raw.#server.listen(0, '127.0.0.1', resolve));
    return raw;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await stopServer(this.#server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    this.authorized.push(request.headers.authorization);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const message = JSON.parse(text) as Message;
    const { id, method } = message;
    if (id === undefined) return void response.writeHead(202).end();
    const reply = (result: object, headers?: Record<string, string>) =>
      json(
        response,
        { jsonrpc: '2.0', id, result: this.isModern ? { resultType: 'complete', ...result } : result },
        200,
        headers,
      );
    const capabilities = { tools: this.isModern ? {} : { listChanged: true } };
    const serverInfo = { name: 'raw', version: '1' };
    if (method === 'tools/call') {
      this.calls.push(message);
      const behaviour = this.behaviours.length > 1 ? this.behaviours.shift() : this.behaviours[0];
      return behaviour ? behaviour(response, message, request) : reply(said('paid'));
    }
    const listing = method === 'tools/list' ? this.lists.shift() : undefined;
    if (listing) return listing(response, message, request);
    if (method === 'tools/list') return reply({ tools: this.tools, ttlMs: 0, cacheScope: 'private' });
    if (method === 'initialize') {
      const session = `session-${this.initialized.push(method)}`;
      const headers: Record<string, string> = this.hasSessions ? { 'mcp-session-id': session } : {};
      return reply({ protocolVersion: '2025-11-25', capabilities, serverInfo }, headers);
    }
    if (method === 'server/discover' && this.isModern) {
      return reply({ supportedVersions: ['2026-07-28'], capabilities, serverInfo, ttlMs: 0, cacheScope: 'private' });
    }
    json(response, { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } });
  }
}
