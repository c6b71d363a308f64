import type { SessionKey } from '../store/index.ts';

/** Names that are known before those nobody holds any more are looked for. */
const MANY_NAMES = 1000;

interface Keyed {
  readonly key: SessionKey;
}

/** The live sessions of one store. Names are swept now and then: being told of each that is gone costs more. */
export class KnownSessions<T extends Keyed> {
  readonly #byName = new Map<string, WeakRef<T>>();
  readonly #reading = new Map<string, Promise<T | undefined>>();
  #sweepAt = MANY_NAMES;

  get(key: SessionKey): T | undefined {
    return this.#byName.get(nameOf(key))?.deref();
  }

  set(live: T): void {
    this.#byName.set(nameOf(live.key), new WeakRef(live));
    if (this.#byName.size < this.#sweepAt) return;
    for (const [name, ref] of this.#byName) if (ref.deref() === undefined) this.#byName.delete(name);
    this.#sweepAt = Math.max(MANY_NAMES, 2 * this.#byName.size);
  }

  forget(key: SessionKey): void {
    this.#byName.delete(nameOf(key));
  }

  /** Whoever asks while a session is being read waits for that. */
  async read(key: SessionKey, read: () => Promise<T | undefined>): Promise<{ live: T | undefined; isNew: boolean }> {
    const name = nameOf(key);
    const reading = this.#reading.get(name);
    if (reading) return { live: await reading, isNew: false };
    const own = read();
    this.#reading.set(name, own);
    try {
      const live = await own;
      if (live) this.set(live);
      return { live, isNew: true };
    } finally {
      this.#reading.delete(name);
    }
  }
}

function nameOf({ app, userId, id }: SessionKey): string {
  return `${app}/${userId}/${id}`;
}
