import type { Http2Server, Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from 'node:http2';
import { createServer } from 'node:http2';
import { newId } from '../../base/index.ts';
import type { SessionPlace } from '../../contracts/index.ts';
import { orMissing } from './peers.ts';

/** Named by a value: whoever has not installed it needs neither it nor its types. */
const SDK: string = '@restatedev/restate-sdk';

/** Of the SDK, as far as it is used. */
interface Context {
  readonly key: string;
  run<T>(name: string, action: () => Promise<T>): Promise<T>;
  sleep(ms: number): Promise<void>;
  get<T>(name: string): Promise<T | null>;
  set(name: string, value: unknown): void;
  clear(name: string): void;
  objectClient(definition: object, key: string): { take(): Promise<void> };
  objectSendClient(definition: object, key: string): { look(place: SessionPlace): void };
}
interface Sdk {
  object(definition: {
    name: string;
    handlers: Record<string, (context: Context, given: SessionPlace) => Promise<unknown>>;
    options?: object;
  }): object;
  endpoint(): Endpoint;
}
interface Endpoint {
  bind(definition: object): Endpoint;
  withIdentityV1(...keys: string[]): Endpoint;
  setLogger(logger: (meta: { level: string }, ...words: unknown[]) => void): Endpoint;
  http2Handler(): (request: Http2ServerRequest, response: Http2ServerResponse) => void;
}

export interface EndpointParts {
  readonly name: string;
  readonly listen: string;
  readonly port: number;
  readonly identityKey: string | undefined;
  /** How often a look that fails is tried. */
  readonly tries: number;
  /** Milliseconds until the next try after so many. */
  againMs(tries: number): number;
  /** Resolves when a look at a session can begin here. Rejects where another program is to try. */
  ready(key: string): Promise<void>;
  /** One look at a session; false: it has failed. Rejects where another program is to try. `again`: another one had begun it. */
  look(key: string, place: SessionPlace, again: boolean): Promise<boolean>;
}

/** A day in milliseconds: a turn may run for long without a word to Restate. */
const LONG = 24 * 3_600_000;

// What is away is tried again soon, for ever: who looks, and who died while looking.
const retryPolicy = { initialInterval: 50, maxInterval: 1000, exponentiationFactor: 2, maxAttempts: 1_000_000 };
const options = { inactivityTimeout: LONG, abortTimeout: LONG, retryPolicy, ingressPrivate: false };

/**
 * What Restate calls. Two objects a session: its bell, which notes that somebody rang until a look begins, and its looks, of
 * which one runs at a time.
 */
export class RestateEndpoint {
  readonly #parts: EndpointParts;
  readonly #sessions = new Set<ServerHttp2Session>();
  /** Of this program: a look that another one was ready for has come from there. */
  readonly #id = newId();
  #server: Http2Server | undefined;

  constructor(parts: EndpointParts) {
    this.#parts = parts;
  }

  /** @throws CoxswainError `FAILED_PRECONDITION / E_UNSUPPORTED`; what listening fails with */
  async open(): Promise<void> {
    const { name, identityKey, listen, port } = this.#parts;
    let sdk: Sdk;
    try {
      sdk = (await import(SDK)) as Sdk;
    } catch (error) {
      throw orMissing(error, SDK);
    }
    const looks = sdk.object({
      name,
      handlers: { look: (context, place) => this.#look(context, place, bell) },
      options,
    });
    const bell: object = sdk.object({
      name: `${name}_bell`,
      handlers: {
        // Of several rings before a look one remains.
        async ring(context, place) {
          if (await context.get('rung')) return;
          context.set('rung', true);
          context.objectSendClient(looks, context.key).look(place);
        },
        async take(context) {
          context.clear('rung');
        },
      },
      options,
    });
    const endpoint = sdk.endpoint().bind(looks).bind(bell);
    if (identityKey !== undefined) endpoint.withIdentityV1(identityKey);
    // What fails is reported where it fails.
    endpoint.setLogger(() => {});
    const server = createServer(endpoint.http2Handler());
    this.#server = server;
    server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
      session.on('error', () => {});
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, listen, () => {
        server.off('error', reject);
        resolve();
      });
    });
  }

  /** URL on which it listens. */
  get address(): string {
    const place = this.#server?.address();
    if (!place || typeof place === 'string') throw new TypeError('it does not listen');
    const { address, port, family } = place;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const session of this.#sessions) session.destroy();
    await closed;
  }

  async #look(context: Context, place: SessionPlace, bell: object): Promise<void> {
    const { tries, againMs, ready, look } = this.#parts;
    // Until somebody serves, all who ring want this one.
    const first = await context.run('ready', async () => {
      await ready(context.key);
      return this.#id;
    });
    // Whoever rings from here on wants another look.
    await context.objectClient(bell, context.key).take();
    for (let n = 0; n < tries; n++) {
      if (n > 0) await context.sleep(againMs(n));
      if (await context.run(`look ${n + 1}`, () => look(context.key, place, n === 0 && first !== this.#id))) return;
    }
  }
}
