import type { AppendOptions, SessionKey, StoredEvent } from '../../../src/runtime/index.ts';
import { InMemorySessionService } from '../../../src/runtime/index.ts';
import type { Random } from './random.ts';
import { pause } from './random.ts';

export const key: SessionKey = Object.freeze({ app: 'property', userId: 'u', id: 's' });

/** When a process dies: at its n-th event, which is lost, or stored without anybody hearing of it. */
export interface Death {
  at: number;
  stored: boolean;
}

export interface ProcessOptions {
  death?: Death | undefined;
  /** Takes time over reads and writes: they overtake one another. */
  slowness?: Random | undefined;
  /** What becomes of a batch on its way into the store. */
  writes?: ((events: readonly StoredEvent[]) => readonly StoredEvent[]) | undefined;
}

/** A store whose process dies at an append: that append and all later ones never return. */
export class MortalService extends InMemorySessionService {
  readonly died: Promise<undefined>;
  /** Of all sessions. */
  readonly log: StoredEvent[] = [];
  /** By session. */
  readonly logs = new Map<string, StoredEvent[]>();
  readonly #options: ProcessOptions;
  #isDead = false;
  #die: () => void = () => {};

  private constructor(options: ProcessOptions) {
    super();
    this.#options = options;
    this.died = new Promise((resolve) => {
      this.#die = () => resolve(undefined);
    });
  }

  /** A new process over what the last one left behind: its sessions, with their stored events, and nothing else. */
  static async over(
    logs: ReadonlyMap<string, readonly StoredEvent[]>,
    options: ProcessOptions = {},
  ): Promise<MortalService> {
    const service = new MortalService(options);
    await service.create(key);
    for (const [id, log] of logs) {
      if (id !== key.id) await service.create({ ...key, id });
      await service.#store(JSON.parse(JSON.stringify(log)) as StoredEvent[], { ...key, id });
    }
    return service;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  override async create(...args: Parameters<InMemorySessionService['create']>) {
    if (this.#isDead) return never();
    const made = await super.create(...args);
    if (!this.logs.has(made.key.id)) this.logs.set(made.key.id, []);
    return made;
  }

  override async append(
    at: SessionKey,
    events: readonly StoredEvent[],
    options?: AppendOptions,
  ): Promise<readonly StoredEvent[]> {
    const { death, writes, slowness } = this.#options;
    if (slowness) await pause(slowness);
    if (this.#isDead) return never();
    const dies = death !== undefined && this.log.length + events.length >= death.at;
    if (dies) {
      this.#isDead = true;
      this.#die();
      if (!death.stored) return never();
    }
    const stored = await this.#store(writes ? writes(events) : events, at, options);
    if (slowness) await pause(slowness);
    return dies ? never() : stored;
  }

  override async get(...args: Parameters<InMemorySessionService['get']>): ReturnType<InMemorySessionService['get']> {
    const record = await super.get(...args);
    if (this.#options.slowness) await pause(this.#options.slowness);
    return record;
  }

  async #store(
    events: readonly StoredEvent[],
    at: SessionKey,
    options?: AppendOptions,
  ): Promise<readonly StoredEvent[]> {
    const stored = await super.append(at, events, options);
    this.log.push(...stored);
    this.logs.set(at.id, [...(this.logs.get(at.id) ?? []), ...stored]);
    return stored;
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
