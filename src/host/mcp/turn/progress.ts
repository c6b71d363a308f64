import type { ServerContext } from '@modelcontextprotocol/server';
import type { AgentEvent } from '../../../contracts/index.ts';
import { MAX_TIMER_MS } from '../../../gate/index.ts';

/** Tells a caller who gave a token that the call is alive, with numbers that only rise. */
export class Progress {
  readonly #context: ServerContext;
  readonly #token: string | number | undefined;
  readonly #everyMs: number;
  readonly #warn: (message: string, error?: unknown) => void;
  #count = 0;
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
    if (event.type === 'tool_request') this.#say(`calls ${event.name}`);
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
    this.#count += 1;
    const params = { progressToken: this.#token, progress: this.#count, message };
    this.#context.mcpReq.notify({ method: 'notifications/progress', params }).catch((error: unknown) => {
      // Once the caller is gone the call is cancelled; until then it is worth knowing.
      if (!this.#ended && !this.#context.mcpReq.signal.aborted) this.#warn('progress could not be sent', error);
    });
  }
}
