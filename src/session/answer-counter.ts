import type { AnswerLimits, ContentPart } from '../contracts/index.ts';
import { CoxswainError, DEFAULT_ANSWER_LIMITS } from '../contracts/index.ts';
import type { Check, Shape } from './shape.ts';
import { amount } from './shape.ts';

const bound: Check = { ...amount, needs: 'a number above 0', fits: (value) => amount.fits(value) && Number(value) > 0 };

export const answerLimits: Shape<AnswerLimits> = {
  text: bound,
  thoughts: bound,
  args: bound,
  calls: bound,
  frames: bound,
  minutes: bound,
  idleMinutes: bound,
};

const words: Record<keyof AnswerLimits, string> = {
  text: 'characters of text',
  thoughts: 'characters of thoughts',
  args: 'characters of arguments',
  calls: 'calls',
  frames: 'pieces',
  minutes: 'minutes',
  idleMinutes: 'minutes without a piece',
};

/** What no timer reaches. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Counts one answer of a model while it comes in. */
export class AnswerCounter {
  readonly #limits: AnswerLimits;
  #text = 0;
  #thoughts = 0;
  #frames = 0;

  constructor(limits: AnswerLimits = DEFAULT_ANSWER_LIMITS) {
    this.#limits = limits;
  }

  /**
   * Counts a piece that is to be added to those before it.
   * @throws CoxswainError `RESOURCE_EXHAUSTED / E_ANSWER_LIMIT`
   */
  add(parts: readonly ContentPart[]): void {
    if (++this.#frames > this.#max('frames')) throw this.#over('frames');
    for (const part of parts) {
      if (part.type === 'text') this.#text += part.text.length;
      else if (part.type === 'thought') this.#thoughts += part.thought.length;
    }
    if (this.#text > this.#max('text')) throw this.#over('text');
    if (this.#thoughts > this.#max('thoughts')) throw this.#over('thoughts');
  }

  /**
   * Looks at a whole answer: it repeats what has come in pieces.
   * @throws CoxswainError `RESOURCE_EXHAUSTED / E_ANSWER_LIMIT`
   */
  whole(parts: readonly ContentPart[]): void {
    let text = 0;
    let thoughts = 0;
    let calls = 0;
    for (const part of parts) {
      if (part.type === 'text') text += part.text.length;
      else if (part.type === 'thought') thoughts += part.thought.length;
      else if (part.type === 'function_call') calls++;
    }
    if (text > this.#max('text')) throw this.#over('text');
    if (thoughts > this.#max('thoughts')) throw this.#over('thoughts');
    if (calls > this.#max('calls')) throw this.#over('calls');
    let args = 0;
    for (const part of parts) {
      if (part.type !== 'function_call') continue;
      args += lengthOf(part.args);
      if (args > this.#max('args')) throw this.#over('args');
    }
  }

  /** Tells when the answer takes too long; what it gives stops that. One timer, and no clock for each piece. */
  watch(late: (error: CoxswainError) => void): () => void {
    const whole = this.#max('minutes') * 60_000;
    const idle = this.#max('idleMinutes') * 60_000;
    const period = Math.min(whole, idle);
    if (period > MAX_TIMER_MS) return () => {};
    const start = Date.now();
    let seen = this.#frames;
    const timer = setInterval(() => {
      if (Date.now() - start >= whole) late(this.#over('minutes'));
      else if (this.#frames === seen && period === idle) late(this.#over('idleMinutes'));
      seen = this.#frames;
    }, period);
    (timer as { unref?: () => void }).unref?.();
    return () => clearInterval(timer);
  }

  #max(name: keyof AnswerLimits): number {
    return this.#limits[name] ?? DEFAULT_ANSWER_LIMITS[name];
  }

  #over(name: keyof AnswerLimits): CoxswainError {
    const max = this.#max(name);
    const message = `an answer of the model came to more than ${max} ${words[name]} (answerLimits.${name}); none of its calls ran`;
    return new CoxswainError('RESOURCE_EXHAUSTED', 'E_ANSWER_LIMIT', message, { details: { limit: name, max } });
  }
}

/** Characters as JSON; of what is no JSON, none: it is refused where it is checked. */
function lengthOf(args: unknown): number {
  try {
    return JSON.stringify(args)?.length ?? 0;
  } catch {
    return 0;
  }
}
