import type { Session } from '../../../contracts/index.ts';

/** Sessions that live in memory only, held open while a caller has their question. */
export class HeldSessions {
  readonly #held = new Map<string, { session: Session; timer: ReturnType<typeof setTimeout> }>();
  readonly #forMs: number;
  readonly #warn: (message: string, error?: unknown) => void;

  constructor(forMs: number, warn: (message: string, error?: unknown) => void) {
    this.#forMs = forMs;
    this.#warn = warn;
  }

  /** @param name of the call that waits: ids of sessions are unique for one user of one agent, and callers choose them */
  keep(name: string, session: Session): void {
    const timer = setTimeout(() => {
      this.#held.delete(name);
      session[Symbol.asyncDispose]().catch((error: unknown) => {
        this.#warn(`session ${session.id} could not be closed`, error);
      });
    }, this.#forMs);
    timer.unref();
    this.#held.set(name, { session, timer });
  }

  /** For one caller: nobody else finds it any more. */
  take(name: string): Session | undefined {
    const held = this.#held.get(name);
    clearTimeout(held?.timer);
    this.#held.delete(name);
    return held?.session;
  }
}
