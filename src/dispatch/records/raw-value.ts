import { CoxswainError } from '../../contracts/index.ts';
import { bag, checkIs, guarded, object } from '../../session/index.ts';

export type TimeLike = Date | number | string;

/** Checks one object field by field; what is wrong is said of all fields at once. */
export class RawValue {
  readonly #type: string;
  readonly #raw: Record<string, unknown>;
  readonly #faults: string[] = [];

  constructor(type: string, raw: object) {
    this.#type = type;
    // What throws when it is read throws here, and not halfway.
    guarded(type, () => (raw as { id?: unknown } | undefined)?.id);
    // Of what is no object every field is missing.
    this.#raw = (guarded(type, () => object.fits(raw)) ? raw : {}) as Record<string, unknown>;
    checkIs(this.#raw, type, bag);
  }

  text(name: string): string {
    const value = this.#raw[name];
    if (typeof value === 'string' && value !== '') return value;
    return this.fault(`${name}: expected text`, '');
  }

  optionalText(name: string): string | undefined {
    const value = this.#raw[name];
    if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
    return this.fault(`${name}: expected text`, undefined);
  }

  flag(name: string): boolean {
    const value = this.#raw[name] ?? false;
    return typeof value === 'boolean' ? value : this.fault(`${name}: expected true or false`, false);
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T {
    const value = this.#raw[name] as T;
    if (values.includes(value)) return value;
    return this.fault(`${name}: expected one of ${values.join(', ')}`, values[0] as T);
  }

  /** Epoch milliseconds. */
  time(name: string): number {
    const value = this.#raw[name];
    const isTime = value instanceof Date || typeof value === 'number' || typeof value === 'string';
    const time = isTime ? new Date(value).getTime() : Number.NaN;
    return Number.isNaN(time) ? this.fault(`${name}: expected a time`, 0) : time;
  }

  fault<T>(message: string, instead: T): T {
    this.#faults.push(message);
    return instead;
  }

  /** @throws CoxswainError `INVALID_ARGUMENT / E_INVALID_INITIAL_VALUE` if anything was wrong */
  done(): void {
    if (this.#faults.length === 0) return;
    throw new CoxswainError(
      'INVALID_ARGUMENT',
      'E_INVALID_INITIAL_VALUE',
      `${this.#type}: ${this.#faults.join('; ')}`,
      {
        details: { faults: [...this.#faults] },
      },
    );
  }
}
