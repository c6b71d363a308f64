import type { Session } from '../../../contracts/index.ts';
import { CoxswainError } from '../../../contracts/index.ts';
import { newId } from '../../../session/index.ts';

/** Sessions that are held at a time: of one caller, and of all. */
const MOST_OF_ONE = 100;
const MOST = 1_000;

/** Milliseconds after which a caller may try again. */
const RETRY_MS = 1_000;

interface Held {
  readonly user: string;
  session?: Session;
  timer?: ReturnType<typeof setTimeout>;
}

/** Sessions that live in memory only, held open while a caller has their question. */
export class HeldSessions {
  readonly #held = new Map<string, Held>();
  readonly #forMs: number;
  readonly #warn: (message: string, error?: unknown) => void;

  constructor(forMs: number, warn: (message: string, error?: unknown) => void) {
    this.#forMs = forMs;
    this.#warn = warn;
  }

  /**
   * A place for a session.
   * @returns the name of the call that waits: ids of sessions are unique for one user of one agent, and callers choose them
   * @throws CoxswainError `UNAVAILABLE / E_FULL` where this user, or all together, have as many as are held
   */
  place(user: string): string {
    let own = 0;
    for (const held of this.#held.values()) if (held.user === user) own++;
    if (own >= MOST_OF_ONE || this.#held.size >= MOST) {
      const most = own >= MOST_OF_ONE ? `${MOST_OF_ONE} calls of one caller` : `${MOST} calls`;
      const message = `${most} wait for answers, as many as are held in memory: answer one of them, or try again later`;
      throw new CoxswainError('UNAVAILABLE', 'E_FULL', message, { details: { retryAfterMs: RETRY_MS } });
    }
    const name = newId();
    this.#held.set(name, { user });
    return name;
  }

  /** @param name of a place */
  keep(name: string, session: Session): void {
    const held = this.#held.get(name);
    if (!held) return;
    held.session = session;
    held.timer = setTimeout(() => {
      this.#held.delete(name);
      session[Symbol.asyncDispose]().catch((error: unknown) => {
        this.#warn(`session ${session.id} could not be closed`, error);
      });
    }, this.#forMs);
    held.timer.unref();
  }

  /** For one caller: nobody else finds it any more. */
  take(name: string): Session | undefined {
    const held = this.#held.get(name);
    // Its call is still on its way out.
    if (!held?.session) return undefined;
    clearTimeout(held.timer);
    this.#held.delete(name);
    return held.session;
  }
}
