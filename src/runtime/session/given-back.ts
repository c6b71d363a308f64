import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveSession } from '../live/index.ts';
import type { StoredEvent } from '../log/index.ts';

/** Milliseconds from one look to the next whether a session is given back: the first, and the longest. */
const FIRST_MS = 1;
const LONGEST_MS = 50;

/**
 * Shows stored events in order, and the end of a turn when whoever has ended it has given the session back: who has seen
 * it may go on at once.
 */
export class EndsGivenBack {
  readonly #live: LiveSession;
  readonly #show: (event: StoredEvent) => void;
  readonly #warn: ((message: string, error?: unknown) => void) | undefined;
  /** An end that waits, and what came behind it. `over` ends the wait. */
  #waiting: { readonly streamId: string; readonly events: StoredEvent[]; readonly over: AbortController } | undefined;

  constructor(
    live: LiveSession,
    show: (event: StoredEvent) => void,
    warn: ((message: string, error?: unknown) => void) | undefined,
  ) {
    this.#live = live;
    this.#show = show;
    this.#warn = warn;
  }

  show(event: StoredEvent): void {
    const waiting = this.#waiting;
    if (waiting && (event.streamId === '' || event.streamId === waiting.streamId)) {
      waiting.events.push(event);
      return;
    }
    // Of another stream: that has the session by now.
    this.#showAll();
    if (event.actions.end) {
      this.#waiting = { streamId: event.streamId, events: [event], over: new AbortController() };
      void this.#wait(this.#waiting);
    } else this.#show(event);
  }

  /** Nobody reads any more. */
  stop(): void {
    this.#waiting?.over.abort();
    this.#waiting = undefined;
  }

  async #wait(waiting: { readonly over: AbortController }): Promise<void> {
    try {
      // What else is in the log already is shown first.
      await null;
      if (this.#waiting !== waiting) return;
      const holder = await this.#live.holder();
      let now = holder;
      for (let ms = FIRST_MS; now !== undefined && now === holder && this.#waiting === waiting; ms *= 2) {
        // The process lives on for it: whoever follows waits for an end that has come already.
        await sleep(Math.min(ms, LONGEST_MS), undefined, { signal: waiting.over.signal });
        now = await this.#live.holder();
      }
    } catch (error) {
      if (waiting.over.signal.aborted) return;
      this.#warn?.(`session ${this.#live.key.id}: whether it is given back could not be read; its end is shown`, error);
    }
    if (this.#waiting === waiting) this.#showAll();
  }

  #showAll(): void {
    const events = this.#waiting?.events ?? [];
    this.#waiting?.over.abort();
    this.#waiting = undefined;
    for (const event of events) this.#show(event);
  }
}
