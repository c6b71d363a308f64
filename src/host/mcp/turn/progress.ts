import type { ServerContext } from '@modelcontextprotocol/server';
import type { AgentEvent } from '../../../contracts/index.ts';
import { MAX_TIMER_MS } from '../../../gate/index.ts';

/** Messages that wait for a caller who does not read: of those behind them the newest is sent. */
const MAX_UNSENT = 16;

/** Messages after which calls of tools are news no more: over HTTP nothing says that a caller does not read. */
const MAX_NEWS = 1000;

/** Tells a caller who gave a token that the call is alive, with numbers that only rise. */
export class Progress {
  readonly #context: ServerContext;
  readonly #token: string | number | undefined;
  readonly #everyMs: number;
  readonly #warn: (message: string, error?: unknown) => void;
  #count = 0;
  /** Messages that the connection has not taken yet, and the newest of those that wait for that. */
  #unsent = 0;
  #waiting: string | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #ended = false;

  constructor(context: ServerContext, everyMs: number, warn: (message: string, error?: unknown) => void) {
    this.#context = context;
    this.#token = context.mcpReq._meta?.progressToken;
    this.#everyMs = everyMs;
    this.#warn = warn;
  }

  start(): void {
    if (this.#token === undefined) return;
    this.#say('started');
    this.#timer = setInterval(() => this.#say('working'), Math.min(this.#everyMs, MAX_TIMER_MS));
  }

  /** A call of a tool is news; what it is called with is not for everybody. */
  see(event: AgentEvent): void {
    if (event.type === 'tool_request' && this.#count < MAX_NEWS) this.#say(`calls ${event.name}`);
  }

  waits(): void {
    this.#say('waits for an answer');
  }

  stop(): void {
    this.#ended = true;
    clearInterval(this.#timer);
  }

  #say(message: string): void {
    if (this.#token === undefined || this.#ended || this.#context.mcpReq.signal.aborted) return;
    if (this.#unsent >= MAX_UNSENT) {
      this.#waiting = message;
      return;
    }
    this.#count += 1;
    const params = { progressToken: this.#token, progress: this.#count, message };
    void this.#send({ method: 'notifications/progress', params });
  }

  async #send(notification: Parameters<ServerContext['mcpReq']['notify']>[0]): Promise<void> {
    this.#unsent += 1;
    try {
      await this.#context.mcpReq.notify(notification);
    } catch (error) {
      // Once the caller is gone the call is cancelled; until then it is worth knowing.
      if (!this.#ended && !this.#context.mcpReq.signal.aborted) this.#warn('progress could not be sent', error);
    }
    this.#unsent -= 1;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) this.#say(waiting);
  }
}
