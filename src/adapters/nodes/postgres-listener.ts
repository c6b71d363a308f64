import type { Client } from 'pg';
import { orMissing } from './peers.ts';

/** Milliseconds before a connection that was lost is made anew; longer each time, up to the second. */
const AGAIN_MS = 100;
const AGAIN_MOST_MS = 5000;
/** Milliseconds between two questions by which a connection that is gone without a word is noticed, and for the answer. */
const LOOK_MS = 10_000;
const ANSWER_MS = 5000;

export interface ListenerOptions {
  url: string;
  channel: string;
  heard(payload: string): void;
  /** It listens, after whatever was said while it did not. */
  listening(): void;
  warn(message: string, error?: unknown): void;
}

/** A connection that listens to a channel of PostgreSQL and is made anew when it is lost. */
export class PostgresListener {
  readonly #options: ListenerOptions;
  #client: Client | undefined;
  /** What its connection was asked last. */
  #asked: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #closed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  get isListening(): boolean {
    return this.#client !== undefined;
  }

  /** Resolves with the first try, whatever becomes of it: a channel that cannot be heard is tried again. */
  async start(): Promise<void> {
    const { default: pg } = await loadPg();
    const { url, channel, heard, listening, warn } = this.#options;
    const client = new pg.Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
      fallback_application_name: 'coxswain',
    });
    let isLost = false;
    const lost = (error?: unknown) => {
      if (isLost) return;
      isLost = true;
      if (this.#client === client) this.#client = undefined;
      clearInterval(looks);
      client.end().catch(() => {});
      if (this.#closed) return;
      if (this.#failures++ === 0) warn(`channel ${channel} of PostgreSQL is not heard; it is tried again`, error);
      const pauseMs = Math.min(AGAIN_MS * 2 ** Math.min(this.#failures, 10), AGAIN_MOST_MS);
      this.#timer = setTimeout(() => void this.start(), pauseMs).unref();
    };
    const looks = setInterval(() => {
      const late = setTimeout(lost, ANSWER_MS, new Error('it does not answer')).unref();
      this.#ask(client, 'SELECT 1', []).then(() => clearTimeout(late), lost);
    }, LOOK_MS).unref();
    client.on('error', lost);
    client.on('end', () => lost());
    client.on('notification', ({ payload = '' }) => heard(payload));
    try {
      await client.connect();
      await client.query('SET idle_session_timeout = 0').catch(() => {});
      await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
      if (this.#closed || isLost) return void client.end().catch(() => {});
      this.#client = client;
      this.#asked = Promise.resolve();
      this.#failures = 0;
      listening();
    } catch (error) {
      lost(error);
    }
  }

  /** Tells whoever listens. It may be lost. @throws where the connection is away */
  async say(channel: string, payload: string): Promise<void> {
    if (!this.#client) throw new Error(`channel ${channel} of PostgreSQL is away`);
    await this.#ask(this.#client, 'SELECT pg_notify($1, $2)', [channel, payload]);
  }

  /** One after the other: a connection does one thing at a time, and its client is not to be asked for two. */
  #ask(client: Client, text: string, values: readonly string[]): Promise<unknown> {
    const answer = this.#asked.then(() => client.query(text, [...values]));
    this.#asked = answer.catch(() => {});
    return answer;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }
}

async function loadPg(): Promise<typeof import('pg')> {
  try {
    return await import('pg');
  } catch (error) {
    throw orMissing(error, 'pg');
  }
}
