const MINUTE_MS = 60_000;

/**
 * Tells of what clients send that cannot be answered, a line a minute whoever sends how much of it: a log is not theirs
 * to fill.
 */
export class Strangers {
  readonly #warn: (message: string) => void;
  #since = Number.NEGATIVE_INFINITY;
  #untold = 0;

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  note(what: string, now = Date.now()): void {
    if (now - this.#since < MINUTE_MS) {
      this.#untold += 1;
      return;
    }
    const others = this.#untold === 0 ? '' : ` (and ${this.#untold} more since the last word of it)`;
    this.#since = now;
    this.#untold = 0;
    this.#warn(`an MCP client sent what cannot be answered: ${withoutContent(what)}${others}`);
  }
}

/** What it sent may be what a person has answered too late: only the words before it are told. */
function withoutContent(what: string): string {
  const words = what.slice(0, 200).replace(/\s*[{["].*/s, ' …');
  return words.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ');
}
