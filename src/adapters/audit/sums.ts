import { hash } from 'node:crypto';
import { canonicalJson } from '../../contracts/index.ts';

/** First line of an export. */
export const FORMAT = { format: 'coxswain-audit', version: 1 } as const;

/** Lines of an export, each with a sum over itself and the one before. */
export class Sums {
  #last = '';

  line(value: Record<string, unknown>): string {
    this.#last = this.of(value);
    return JSON.stringify({ ...value, sum: this.#last });
  }

  /** Whether a line that was read has the sum that it should have; goes on with the one it has. */
  fits({ sum, ...value }: Record<string, unknown>): boolean {
    const fits = this.of(value) === sum;
    this.#last = typeof sum === 'string' ? sum : '';
    return fits;
  }

  of(value: Record<string, unknown>): string {
    return hash('sha256', `${this.#last}\n${canonicalJson(value)}`, 'base64url');
  }
}
