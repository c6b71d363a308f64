import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import WebSocket from 'ws';

interface Message {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: { code: string; status: string } };
}

// biome-ignore lint/suspicious/noExplicitAny: what comes over the wire is looked at field by field
type Loose = Record<string, any>;

/** A client that knows nothing: it sends and receives frames. */
export class Raw {
  readonly ws: WebSocket;
  readonly received: Message[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #lastId = 0;
  readonly #waiters = new Set<() => void>();

  constructor(ws: WebSocket) {
    this.ws = ws;
    ws.on('message', (data) => {
      this.received.push(JSON.parse(String(data)));
      for (const wake of this.#waiters) wake();
    });
    ws.on('error', () => {});
    this.closed = new Promise((resolve) => {
      ws.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
    });
  }

  static open(url: string, options: { token?: string; headers?: Record<string, string>; protocols?: string[] } = {}) {
    const { token, headers = {}, protocols = ['coxswain.v1'] } = options;
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const ws = new WebSocket(url, protocols, { headers: { ...authorization, ...headers } });
    const raw = new Raw(ws);
    onTestFinished(() => ws.terminate());
    return new Promise<Raw>((resolve, reject) => {
      ws.on('open', () => resolve(raw));
      ws.on('unexpected-response', (_, response) => reject(new Error(`HTTP ${response.statusCode}`)));
      ws.on('error', reject);
    });
  }

  /** Opened and initialised. */
  static async ready(url: string, token = 'anna'): Promise<Raw> {
    const raw = await Raw.open(url, { token });
    await raw.ask('initialize', { protocolVersion: '1' });
    return raw;
  }

  get socket(): Socket {
    return (this.ws as unknown as { _socket: Socket })._socket;
  }

  /** Ids of requests begin behind this one. */
  startAt(id: number): void {
    this.#lastId = id;
  }

  send(message: object): void {
    this.ws.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  notify(method: string, params: object): void {
    this.send({ method, params });
  }

  async request(method: string, params: object = {}): Promise<Message> {
    const id = ++this.#lastId;
    this.send({ id, method, params });
    return this.until((message) => message.id === id);
  }

  /** The result, or a throw with the error's code. */
  async ask(method: string, params: object = {}): Promise<Loose> {
    const { result, error } = await this.request(method, params);
    if (error) throw Object.assign(new Error(error.message), { code: error.data?.code, rpc: error.code });
    return result as Loose;
  }

  async until(wanted: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.received.find(wanted);
      if (found) return found;
      await this.#more();
    }
  }

  frames(): { offset?: number; from?: number; at?: number; epoch: string; event: Loose }[] {
    return this.received.flatMap(({ method, params }) => (method === 'session/event' ? [params as never] : []));
  }

  #more(): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = () => {
        this.#waiters.delete(wake);
        resolve();
      };
      this.#waiters.add(wake);
      void this.closed.then(({ code }) => reject(new Error(`closed with ${code}`)));
    });
  }
}

/** A frame that ends a stream. */
export function endOf(streamId: string): (message: Message) => boolean {
  return ({ params }) => {
    const event = params?.event as Loose | undefined;
    return event?.type === 'stream_end' && event.streamId === streamId;
  };
}
