import type { Bus } from '../../contracts/index.ts';

/** Milliseconds between two messages that measure the way. */
const EVERY_MS = 5000;

/** How long a message takes through the bus, back to the program that sent it: measured when somebody asks. */
export class BusLag {
  readonly #bus: Bus;
  readonly #topic = `lag-${crypto.randomUUID()}`;
  readonly #forget: () => void;
  #sent: { mark: string; at: number } | undefined;
  /** When the first message was sent of those that have not come back. */
  #waitsSince: number | undefined;
  #seconds: number | undefined;

  constructor(bus: Bus) {
    this.#bus = bus;
    const heard = (mark: string) => {
      if (this.#sent?.mark !== mark || this.#waitsSince === undefined) return;
      this.#seconds = (performance.now() - this.#sent.at) / 1000;
      this.#waitsSince = undefined;
    };
    this.#forget = bus.subscribe(this.#topic, heard, () => {});
  }

  /** Absent before the first message has come back; while none does: the time since the first of those was sent. */
  get seconds(): number | undefined {
    const now = performance.now();
    if (!this.#sent || now - this.#sent.at >= EVERY_MS) {
      this.#sent = { mark: crypto.randomUUID(), at: now };
      this.#waitsSince ??= now;
      this.#bus.publish(this.#topic, this.#sent.mark);
    }
    const waited = this.#waitsSince === undefined ? 0 : (now - this.#waitsSince) / 1000;
    return this.#seconds === undefined && waited === 0 ? undefined : Math.max(this.#seconds ?? 0, waited);
  }

  stop(): void {
    this.#forget();
  }
}
