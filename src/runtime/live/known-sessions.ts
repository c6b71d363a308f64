import type { SessionKey, SessionService } from '../store/index.ts';
import type { LiveSession } from './live-session.ts';

/** Names that are known before those nobody holds any more are looked for. */
const MANY_NAMES = 1000;

const known = new WeakMap<SessionService, KnownSessions>();

/** The live sessions of one store. Names are swept now and then: being told of each that is gone costs more. */
export class KnownSessions {
  readonly #byName = new Map<string, WeakRef<LiveSession>>();
  readonly #reading = new Map<string, Promise<LiveSession | undefined>>();
  #sweepAt = MANY_NAMES;

  static of(service: SessionService): KnownSessions {
    let sessions = known.get(service);
    if (!sessions) {
      sessions = new KnownSessions();
      known.set(service, sessions);
    }
    return sessions;
  }

  get(key: SessionKey): LiveSession | undefined {
    return this.#byName.get(nameOf(key))?.deref();
  }

  set(live: LiveSession): void {
    this.#byName.set(nameOf(live.key), new WeakRef(live));
    if (this.#byName.size < this.#sweepAt) return;
    for (const [name, ref] of this.#byName) if (ref.deref() === undefined) this.#byName.delete(name);
    this.#sweepAt = Math.max(MANY_NAMES, 2 * this.#byName.size);
  }

  forget(key: SessionKey): void {
    this.#byName.delete(nameOf(key));
  }

  /** Whoever asks while a session is being read waits for that. */
  async read(
    key: SessionKey,
    read: () => Promise<LiveSession | undefined>,
  ): Promise<{ live: LiveSession | undefined; isNew: boolean }> {
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
