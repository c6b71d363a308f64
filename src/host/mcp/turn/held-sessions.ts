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

  keep(session: Session): void {
    const timer = setTimeout(() => {
      this.#held.delete(session.id);
      session[Symbol.asyncDispose]().catch((error: unknown) => {
        this.#warn(`session ${session.id} could not be closed`, error);
      });
    }, this.#forMs);
    timer.unref();
    this.#held.set(session.id, { session, timer });
  }

  /** For one caller: nobody else finds it any more. */
  take(id: string): Session | undefined {
    const held = this.#held.get(id);
    clearTimeout(held?.timer);
    this.#held.delete(id);
    return held?.session;
  }
}
