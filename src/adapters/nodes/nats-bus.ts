import { createHash } from 'node:crypto';
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import { checkOptions, warnWith } from '../../base/index.ts';
import type { Bus } from '../../contracts/index.ts';
import { checkUrl, orMissing } from './peers.ts';
import type { BusOptions } from './postgres-bus.ts';
import { busShape } from './postgres-bus.ts';
import { Subscriptions } from './subscriptions.ts';

/**
 * A bus by NATS: a program hears the topics that it has subscribed to alone. Needs the package `@nats-io/transport-node`.
 * It is tried again for ever where the server is away.
 * @throws CoxswainError `INVALID_ARGUMENT / E_STORE_URL`, `FAILED_PRECONDITION / E_UNSUPPORTED`; what NATS says where it
 *   does not answer at the start
 */
export async function natsBus(url: string, options: BusOptions): Promise<Bus> {
  checkUrl(url, 'natsBus', ['nats', 'tls', 'ws', 'wss']);
  checkOptions<BusOptions>(options, 'natsBus: options', busShape);
  let module: typeof import('@nats-io/transport-node');
  try {
    module = await import('@nats-io/transport-node');
  } catch (error) {
    throw orMissing(error, '@nats-io/transport-node');
  }
  const connection = await module.connect({ servers: url, maxReconnectAttempts: -1, reconnectTimeWait: 500 });
  return new NatsBus(connection, options.app, warnWith(options.warn));
}

class NatsBus implements Bus {
  readonly #connection: NatsConnection;
  readonly #prefix: string;
  readonly #warn: (message: string, error?: unknown) => void;
  readonly #topics = new Subscriptions();
  readonly #open = new Map<string, Subscription>();

  constructor(connection: NatsConnection, app: string, warn: (message: string, error?: unknown) => void) {
    this.#connection = connection;
    this.#prefix = `coxswain.${digest(app)}`;
    this.#warn = warn;
    void this.#watch();
  }

  publish(topic: string, message: string): void {
    if (this.#connection.isClosed()) return;
    try {
      this.#connection.publish(this.#subject(topic), message);
    } catch (error) {
      this.#warn('a message to other nodes is lost: NATS does not take it', error);
    }
  }

  subscribe(topic: string, heard: (message: string) => void, missed: () => void): () => void {
    const leave = this.#topics.add(topic, heard, missed);
    if (!this.#open.has(topic) && !this.#connection.isClosed()) {
      const callback = (error: Error | null, message: { string(): string }) => {
        if (!error) this.#topics.hear(topic, message.string());
      };
      this.#open.set(topic, this.#connection.subscribe(this.#subject(topic), { callback }));
    }
    return () => {
      if (!leave()) return;
      this.#open.get(topic)?.unsubscribe();
      this.#open.delete(topic);
    };
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  /** Ids may have what a subject may not. */
  #subject(topic: string): string {
    return `${this.#prefix}.${digest(topic)}`;
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === 'disconnect') this.#warn('NATS is away: other nodes are heard by looks into the store');
      else if (type === 'reconnect') this.#topics.missed();
    }
  }
}

const digest = (of: string) => createHash('sha256').update(of).digest('base64url').slice(0, 32);
