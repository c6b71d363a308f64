import { createHash } from 'node:crypto';
import type { Shape } from '../../base/index.ts';
import { amount, checkOptions, fn, MAX_TIMER_MS, name, required, text, warnWith } from '../../base/index.ts';
import type { Dispatcher, SessionPlace } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { checkUrl } from './peers.ts';
import { RestateEndpoint } from './restate-endpoint.ts';

/** How often a look that fails is tried, in 24 seconds: a database that is full or restarted may take as long. */
const TRIES = 12;
/** Milliseconds before it is tried again for the first time; each time twice as long, up to the other. */
const AGAIN_MS = 200;
const AGAIN_MOST_MS = 3000;
/** Milliseconds between two tries to be known to Restate, and that a wake waits for that. */
const KNOWN_MS = 250;
const WAKE_MS = 30_000;

export interface RestateDispatcherOptions {
  /** App of the host that it is for: hosts of one app share their wakes. */
  app: string;
  /** Of Restate's admin API. Default: port 9070 of the same host. */
  admin?: string;
  /** Address on which Restate calls this program. Default `127.0.0.1`. */
  listen?: string;
  /** Port of that; 0: any free one. Default 0. */
  port?: number;
  /**
   * URL by which Restate reaches the programs that run turns: of what balances between them, where there are several. Default:
   * this program's own. All programs of an app name the same one.
   */
  address?: string;
  /** Restate's public key for signed requests, `publickeyv1_…`: requests of others are refused. */
  identityKey?: string;
  /** Gets what went wrong without consequence. Default: stderr. */
  warn?: (message: string, error?: unknown) => void;
}

const shape: Shape<RestateDispatcherOptions> = {
  app: required(name),
  admin: text,
  listen: text,
  port: amount,
  address: text,
  identityKey: text,
  warn: fn,
};

/**
 * A dispatcher by Restate: a virtual object a session, which brings one look at a time, and another program's where the first
 * has died. The log of the session stays the record: Restate knows places alone. Needs the package `@restatedev/restate-sdk`,
 * and a Restate server, whose licence is BSL 1.1.
 * @param url of Restate's ingress: `http://…`, `https://…`, or `restate://…` for the first
 * @throws CoxswainError `INVALID_ARGUMENT / E_STORE_URL`, `FAILED_PRECONDITION / E_UNSUPPORTED`; `UNAVAILABLE / E_DISPATCHER`
 *   where it does not answer
 */
export async function restateDispatcher(url: string, options: RestateDispatcherOptions): Promise<Dispatcher> {
  const given = checkUrl(url, 'restateDispatcher', ['restate', 'http', 'https']);
  checkOptions<RestateDispatcherOptions>(options, 'restateDispatcher: options', shape);
  const ingress = new URL(given.replace(/^restate:/, 'http:'));
  const admin = new URL(options.admin ?? ingress);
  if (options.admin === undefined) admin.port = '9070';
  const dispatcher = new RestateDispatcher(ingress, admin, options);
  await dispatcher.open();
  return dispatcher;
}

interface Server {
  readonly look: Parameters<Dispatcher['serve']>[0];
  readonly concurrency: number;
  readonly running: Set<Promise<void>>;
}

class RestateDispatcher implements Dispatcher {
  readonly #ingress: URL;
  readonly #admin: URL;
  readonly #options: RestateDispatcherOptions;
  readonly #warn: (message: string, error?: unknown) => void;
  readonly #name: string;
  readonly #endpoint: RestateEndpoint;
  #servers: readonly Server[] = [];
  /** Looks under way, by the session's key. */
  readonly #running = new Map<string, Promise<void>>();
  /** Those that wait for room, or for a look at the same session. */
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  constructor(ingress: URL, admin: URL, options: RestateDispatcherOptions) {
    this.#ingress = ingress;
    this.#admin = admin;
    this.#options = options;
    this.#warn = warnWith(options.warn);
    this.#name = `coxswain_${digest([options.app]).slice(0, 24)}`;
    const { listen = '127.0.0.1', port = 0, identityKey } = options;
    this.#endpoint = new RestateEndpoint({
      name: this.#name,
      listen,
      port,
      identityKey,
      tries: TRIES,
      againMs: (tries) => Math.min(AGAIN_MS * 2 ** (tries - 1), AGAIN_MOST_MS),
      ready: async (key) => void (await this.#room(key)),
      look: (key, place, again) => this.#look(key, place, again),
    });
  }

  async open(): Promise<void> {
    await this.#endpoint.open();
    try {
      if (!(await this.#isKnown())) await this.#register();
    } catch (error) {
      await this.#endpoint.close();
      throw error;
    }
  }

  async wake(place: SessionPlace): Promise<void> {
    await this.#ring(place);
  }

  async schedule(place: SessionPlace, at: Date): Promise<void> {
    await this.#ring(place, Math.max(0, at.getTime() - Date.now()));
  }

  async serve(look: Server['look'], { concurrency }: { concurrency: number }): Promise<() => Promise<void>> {
    const server: Server = { look, concurrency, running: new Set() };
    this.#servers = [...this.#servers, server];
    await this.#register();
    this.#stir();
    return async () => {
      this.#servers = this.#servers.filter((one) => one !== server);
      this.#stir();
      await Promise.all(server.running);
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const running = this.#servers.flatMap((server) => [...server.running]);
    this.#servers = [];
    this.#stir();
    await Promise.all(running);
    await this.#endpoint.close();
  }

  /** Who has room for a look. Where nobody serves here, the call is Restate's again. */
  async #room(key: string): Promise<Server> {
    for (;;) {
      if (this.#servers.length === 0) throw new Error('this program takes no looks now');
      const server = this.#servers.find(({ running, concurrency }) => running.size < concurrency);
      if (server && !this.#running.has(key)) return server;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** One look; false: it has failed. */
  async #look(key: string, { agent, userId, sessionId }: SessionPlace, again: boolean): Promise<boolean> {
    let server = await this.#room(key);
    // Somebody else may have taken it in between.
    while (server.running.size >= server.concurrency || this.#running.has(key)) server = await this.#room(key);
    let isDone = true;
    const { running } = server;
    const looking = server
      .look({ agent, userId, sessionId }, again ? { again } : {})
      .catch((error: unknown) => {
        isDone = false;
        this.#warn(`session ${sessionId} could not be looked at; it is tried again`, error);
      })
      .finally(() => {
        running.delete(looking);
        this.#running.delete(key);
        this.#stir();
      });
    running.add(looking);
    this.#running.set(key, looking);
    await looking;
    return isDone;
  }

  #stir(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }

  async #ring({ agent, userId, sessionId }: SessionPlace, delayMs = 0): Promise<void> {
    const place = { agent, userId, sessionId };
    const delay = delayMs > 0 ? `?delay=${Math.min(delayMs, MAX_TIMER_MS)}ms` : '';
    const path = `/${this.#name}_bell/${keyOf(place)}/ring/send${delay}`;
    for (const deadline = performance.now() + WAKE_MS; ; await pause(KNOWN_MS)) {
      const answer = await this.#ask(new URL(path, this.#ingress), place);
      if (answer.ok) return;
      // Nobody has told it of these programs yet.
      if (answer.status !== 404 || performance.now() > deadline) throw away(`Restate refuses a wake: ${answer.text}`);
    }
  }

  async #isKnown(): Promise<boolean> {
    return (await this.#ask(new URL(`/services/${this.#name}`, this.#admin))).ok;
  }

  /** Restate asks what is there: where a balancer stands in between, that may know no program yet. */
  async #register(): Promise<void> {
    const uri = this.#options.address ?? this.#endpoint.address;
    for (const deadline = performance.now() + WAKE_MS; ; await pause(KNOWN_MS)) {
      const answer = await this.#ask(new URL('/deployments', this.#admin), { uri, force: true });
      if (answer.ok || this.#isClosed) return;
      if (performance.now() > deadline) throw away(`Restate does not find the programs at ${uri}: ${answer.text}`);
    }
  }

  async #ask(url: URL, body?: unknown): Promise<{ ok: boolean; status: number; text: string }> {
    try {
      const response = await fetch(url, {
        method: body === undefined ? 'GET' : 'POST',
        signal: AbortSignal.timeout(10_000),
        ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      });
      return { ok: response.ok, status: response.status, text: (await response.text()).slice(0, 500) };
    } catch (error) {
      throw away(`Restate does not answer at ${url.host}: ${messageOf(error)}`, error);
    }
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function away(message: string, cause?: unknown): CoxswainError {
  return new CoxswainError('UNAVAILABLE', 'E_DISPATCHER', message, cause === undefined ? {} : { cause });
}

const keyOf = ({ agent, userId, sessionId }: SessionPlace) => digest([agent, userId, sessionId]);

const digest = (of: readonly string[]) => createHash('sha256').update(JSON.stringify(of)).digest('hex');
