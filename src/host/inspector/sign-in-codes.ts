import { createHash, randomInt, timingSafeEqual } from 'node:crypto';

/** Letters and digits that nobody takes for one another. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LENGTH = 10;
const LIFETIME_MS = 10 * 60_000;
/** Wrong codes after which the right one opens nothing, too. */
const MAX_WRONG = 5;

/** One code at a time, for whoever reads this server's terminal: it signs one page in, once, within ten minutes. */
export class SignInCodes {
  #code: { digest: Buffer; expiresAt: number; wrong: number } | undefined;

  /** A new one; the one before is void. */
  make(): string {
    const code = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
    this.#code = { digest: digestOf(code), expiresAt: Date.now() + LIFETIME_MS, wrong: 0 };
    return `${code.slice(0, 5)}-${code.slice(5)}`;
  }

  /** Whether it is the code; then it is void. */
  take(given: string): boolean {
    const code = this.#code;
    if (!code) return false;
    const isRight = timingSafeEqual(code.digest, digestOf(given.toUpperCase().replace(/[^A-Z0-9]/g, '')));
    const isOver = code.expiresAt <= Date.now();
    if (!isRight) code.wrong++;
    if (isRight || isOver || code.wrong >= MAX_WRONG) this.#code = undefined;
    return isRight && !isOver;
  }
}

function digestOf(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}
