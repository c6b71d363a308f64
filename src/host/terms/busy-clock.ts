import { CoxswainError } from '../../contracts/index.ts';
import { MAX_TIMER_MS } from '../../gate/index.ts';

/** Fires when a stream has been busy for its minutes; waiting for people does not count. */
export class BusyClock {
  readonly #limitMs: number;
  readonly #fire: () => void;
  #spent = 0;
  #since: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(limitMs: number, fire: () => void) {
    this.#limitMs = limitMs;
    this.#fire = fire;
    this.resume();
  }

  pause(): void {
    if (this.#since === undefined) return;
    this.#spent += Date.now() - this.#since;
    this.#since = undefined;
    clearTimeout(this.#timer);
  }

  resume(): void {
    if (this.#since !== undefined) return;
    this.#since = Date.now();
    const left = Math.max(0, this.#limitMs - this.#spent);
    this.#timer = setTimeout(() => this.#rang(left), Math.min(left, MAX_TIMER_MS));
    this.#timer.unref?.();
  }

  #rang(left: number): void {
    if (left <= MAX_TIMER_MS) this.#fire();
    else {
      this.pause();
      this.resume();
    }
  }
}

/** A clock for a stream's minutes, which runs from now. Undefined: no limit. */
export function startClock(minutes: number | undefined, fire: (error: CoxswainError) => void): BusyClock | undefined {
  if (minutes === undefined) return undefined;
  const message = `the stream has used its ${minutes} minutes; continue to proceed`;
  return new BusyClock(minutes * 60_000, () => fire(new CoxswainError('RESOURCE_EXHAUSTED', 'E_MAX_TIME', message)));
}
