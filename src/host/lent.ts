import type { BorrowedSession } from './approvals/index.ts';
import type { HostedSession } from './hosted/index.ts';

/** A handle that a host has opened for itself: closed once the last of those who use it has given it back. */
export class Lent {
  readonly #session: HostedSession;
  readonly #over: () => void;
  #users = 0;

  constructor(session: HostedSession, over: () => void) {
    this.#session = session;
    this.#over = over;
  }

  /** For one more. */
  again(): BorrowedSession {
    this.#users++;
    let isBack = false;
    return {
      session: this.#session,
      [Symbol.asyncDispose]: async () => {
        if (isBack) return;
        isBack = true;
        if (--this.#users > 0) return;
        this.#over();
        await this.#session[Symbol.asyncDispose]();
      },
    };
  }
}
