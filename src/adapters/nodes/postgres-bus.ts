import { createHash } from 'node:crypto';
import type { Shape } from '../../base/index.ts';
import { checkOptions, fn, name, required, warnWith } from '../../base/index.ts';
import type { Bus } from '../../contracts/index.ts';
import { checkUrl } from './peers.ts';
import { PostgresListener } from './postgres-listener.ts';
import { Subscriptions } from './subscriptions.ts';

/** Milliseconds in which messages are gathered into one notification: each is a commit of the database. */
const GATHER_MS = 20;
/** Bytes of one notification: PostgreSQL takes less than 8,000. */
const MOST_BYTES = 7900;
/** Messages that wait for the database; older ones are lost first. */
const MOST_WAITING = 2000;

export interface BusOptions {
  /** App of the hosts that hear one another. */
  app: string;
  /** Gets what went wrong without consequence. Default: stderr. */
  warn?: (message: string, error?: unknown) => void;
}

export const busShape: Shape<BusOptions> = { app: required(name), warn: fn };

/**
 * A bus by LISTEN and NOTIFY of PostgreSQL: one connection a program, which must not go through a pooler that hands out
 * connections by transaction. All programs of an app hear everything; for more than some hundred messages a second take
 * `natsBus`. Needs the package `pg`.
 * @throws CoxswainError `INVALID_ARGUMENT / E_STORE_URL`, `FAILED_PRECONDITION / E_UNSUPPORTED`
 */
export async function postgresBus(url: string, options: BusOptions): Promise<Bus> {
  checkUrl(url, 'postgresBus', ['postgres', 'postgresql']);
  checkOptions<BusOptions>(options, 'postgresBus: options', busShape);
  const digest = createHash('sha256').update(options.app).digest('hex').slice(0, 24);
  const bus = new PostgresBus(url, `coxswain_bus_${digest}`, warnWith(options.warn));
  await bus.start();
  return bus;
}

class PostgresBus implements Bus {
  readonly #channel: string;
  readonly #subscriptions = new Subscriptions();
  readonly #listener: PostgresListener;
  #waiting: [topic: string, message: string][] = [];
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(url: string, channel: string, warn: (message: string, error?: unknown) => void) {
    this.#channel = channel;
    this.#listener = new PostgresListener({
      url,
      channel,
      heard: (payload) => this.#hear(payload),
      listening: () => this.#subscriptions.missed(),
      warn,
    });
  }

  start(): Promise<void> {
    return this.#listener.start();
  }

  publish(topic: string, message: string): void {
    if (this.#closed || !this.#listener.isListening) return;
    if (this.#waiting.length >= MOST_WAITING) this.#waiting.shift();
    this.#waiting.push([topic, message]);
    this.#timer ??= setTimeout(() => this.#send(), GATHER_MS).unref();
  }

  subscribe(topic: string, heard: (message: string) => void, missed: () => void): () => void {
    return this.#subscriptions.add(topic, heard, missed);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#listener.close();
  }

  #send(): void {
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    let some: string[] = [];
    let bytes = 2;
    const flush = () => {
      // Lost with the connection: whoever listens looks for itself.
      if (some.length > 0) this.#listener.say(this.#channel, `[${some.join(',')}]`).catch(() => {});
      some = [];
      bytes = 2;
    };
    for (const one of waiting) {
      const text = JSON.stringify(one);
      const size = Buffer.byteLength(text) + 1;
      if (size + 2 > MOST_BYTES) continue;
      if (bytes + size > MOST_BYTES) flush();
      some.push(text);
      bytes += size;
    }
    flush();
  }

  #hear(payload: string): void {
    let said: unknown;
    try {
      said = JSON.parse(payload);
    } catch {
      // Anybody who may connect can say something on the channel.
      return;
    }
    if (!Array.isArray(said)) return;
    for (const one of said as unknown[]) {
      const [topic, message] = Array.isArray(one) ? (one as unknown[]) : [];
      if (typeof topic === 'string' && typeof message === 'string') this.#subscriptions.hear(topic, message);
    }
  }
}
