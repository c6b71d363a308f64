import type { AppendOptions, Lease, SessionKey, SessionService, StoredEvent } from '../../../src/runtime/index.ts';
import { InMemorySessionService } from '../../../src/runtime/index.ts';
import type { Random } from '../replay/random.ts';
import { below } from '../replay/random.ts';
import type { World } from './world.ts';

export const key: SessionKey = Object.freeze({ app: 'hosted', userId: 'u', id: 's' });

/** The store, which no process takes with it. */
export class Store extends InMemorySessionService {
  readonly #world: World;

  constructor(world: World) {
    super();
    this.#world = world;
  }

  override async append(
    at: SessionKey,
    events: readonly StoredEvent[],
    options?: AppendOptions,
  ): Promise<readonly StoredEvent[]> {
    const stored = await super.append(at, events, options);
    this.#world.log.push(...stored);
    if (at.id !== key.id) for (const event of stored) this.#world.below.add(event);
    for (const event of stored) this.#world.note(() => `  stored ${describe(event)}`);
    return stored;
  }
}

function describe({ seq, id, author, content, actions, path }: StoredEvent): string {
  const parts = content?.parts.map((part) => {
    if (part.type === 'text') return JSON.stringify(part.text.slice(0, 30));
    if (part.type === 'function_call') return `call ${part.name} ${part.id.slice(0, 8)} ${JSON.stringify(part.args)}`;
    if (part.type === 'function_response')
      return `response ${part.name} ${part.id.slice(0, 8)} ${part.errorType ?? ''}`;
    return part.type;
  });
  const { stateDelta: _, artifactDelta: __, escalate: ___, skipSummarization: ____, ...rest } = actions;
  return `${seq} ${id.slice(0, 16)} ${path} ${author}: ${parts?.join(' | ') ?? ''} ${JSON.stringify(rest)}`;
}

export function never(): Promise<never> {
  return new Promise(() => {});
}

/** How one process sees the store: until it dies, from when on nothing that it asks for ever returns. */
export class Access implements SessionService {
  readonly died: Promise<void>;
  isDead = false;
  readonly #store: Store;
  readonly #leases = new Set<Lease>();
  /** Appends until death; infinite for most. */
  #left: number;
  readonly #storesLast: boolean;
  /** Turns of the event loop that a request or its answer is on its way for at most. */
  readonly #distance: number;
  readonly #random: Random;
  #die: () => void = () => {};

  constructor(store: Store, left: number, storesLast: boolean, random: Random, distance: number) {
    this.#store = store;
    this.#left = left;
    this.#storesLast = storesLast;
    this.#random = random;
    this.#distance = distance;
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
  }

  get leases(): number {
    return this.#leases.size;
  }

  kill(): void {
    if (this.isDead) return;
    this.isDead = true;
    for (const lease of this.#leases) void lease.release();
    this.#die();
  }

  create: SessionService['create'] = (given, options) => this.#alive(() => this.#store.create(given, options));
  get: SessionService['get'] = (given, options) => this.#alive(() => this.#store.get(given, options));
  list: SessionService['list'] = (scope, options) => this.#alive(() => this.#store.list(scope, options));
  delete: SessionService['delete'] = (given) => this.#alive(() => this.#store.delete(given));
  fork: SessionService['fork'] = (given, options) => this.#alive(() => this.#store.fork(given, options));
  openCalls: SessionService['openCalls'] = (scope) => this.#alive(() => this.#store.openCalls(scope));
  openTurns: SessionService['openTurns'] = (scope) => this.#alive(() => this.#store.openTurns(scope));
  holder: SessionService['holder'] = (given) => this.#alive(() => this.#store.holder(given));
  close: SessionService['close'] = async () => {};

  append: SessionService['append'] = async (at, events, options) => {
    await this.#travel();
    if (this.isDead) return never();
    if (--this.#left > 0) return this.#answered(() => this.#store.append(at, events, options));
    // Stored without anybody hearing of it, or lost.
    if (this.#storesLast) await this.#store.append(at, events, options);
    this.kill();
    return never();
  };

  acquire: SessionService['acquire'] = async (given) => {
    await this.#travel();
    if (this.isDead) return never();
    const lease = await this.#store.acquire(given);
    this.#leases.add(lease);
    await this.#travel();
    if (this.isDead) {
      await lease.release();
      return never();
    }
    return {
      ...lease,
      release: async () => {
        await this.#travel();
        if (this.isDead) return never();
        this.#leases.delete(lease);
        await lease.release();
        await this.#travel();
      },
    };
  };

  async #alive<T>(work: () => Promise<T>): Promise<T> {
    await this.#travel();
    return this.isDead ? never() : this.#answered(work);
  }

  async #answered<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      await this.#travel();
      if (this.isDead) await never();
    }
  }

  /** Near stores answer at once. */
  async #travel(): Promise<void> {
    if (this.#distance === 0) return;
    for (let turns = below(this.#random, this.#distance + 1); turns > 0; turns--) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
