import type { ServerLimits, Transport } from '../protocol/index.ts';

/**
 * Holds back a client that asks faster than it reads: above a mark its socket is not read any more, and where it makes
 * no progress, or more is sent to it than may wait, it is too slow.
 */
export class BackPressure {
  readonly #transport: Transport;
  readonly #limits: ServerLimits;
  readonly #slow: () => void;
  #room: PromiseWithResolvers<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(transport: Transport, limits: ServerLimits, slow: () => void) {
    this.#transport = transport;
    this.#limits = limits;
    this.#slow = slow;
  }

  /** Resolves once the client has read what waits; undefined: go on at once. */
  room(): Promise<void> | undefined {
    const { bufferedAmount } = this.#transport;
    if (bufferedAmount < this.#limits.highWaterBytes) return undefined;
    if (!this.#room) {
      this.#room = Promise.withResolvers();
      this.#transport.pause();
      this.#watch();
    }
    return this.#room.promise;
  }

  /** Something was sent. */
  sent(): void {
    if (this.#transport.bufferedAmount > this.#limits.maxUnsentBytes) this.#slow();
    else void this.room();
  }

  /** The socket has written what waited, or is gone. */
  release(): void {
    clearTimeout(this.#timer);
    const room = this.#room;
    if (!room) return;
    this.#room = undefined;
    this.#transport.resume();
    room.resolve();
  }

  #watch(): void {
    const before = this.#transport.unwritten;
    this.#timer = setTimeout(() => {
      if (this.#transport.unwritten < before) this.#watch();
      else this.#slow();
    }, this.#limits.stallMs).unref();
  }
}
