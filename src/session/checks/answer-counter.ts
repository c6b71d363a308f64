import type { Check, Shape } from '../../base/index.ts';
import { amount, charsOf, MAX_TIMER_MS } from '../../base/index.ts';
import type { AnswerLimits, ContentPart } from '../../contracts/index.ts';
import { CoxswainError, DEFAULT_ANSWER_LIMITS } from '../../contracts/index.ts';

const bound: Check = { ...amount, needs: 'a number above 0', fits: (value) => amount.fits(value) && Number(value) > 0 };

export const answerLimits: Shape<AnswerLimits> = {
  text: bound,
  thoughts: bound,
  args: bound,
  other: bound,
  calls: bound,
  frames: bound,
  minutes: bound,
  idleMinutes: bound,
};

const words: Record<keyof AnswerLimits, string> = {
  text: 'characters of text',
  thoughts: 'characters of thoughts',
  args: 'characters of arguments',
  other: 'characters of media, citations and signatures',
  calls: 'calls',
  frames: 'pieces',
  minutes: 'minutes',
  idleMinutes: 'minutes without a piece',
};

const ANSWER = 'an answer of the model';

type Counted = 'text' | 'thoughts' | 'args' | 'other' | 'calls';

/** Counts one answer of a model, or what stands for one, while it comes in: the one mechanism of `answerLimits`. */
export class AnswerCounter {
  readonly #max: Required<AnswerLimits>;
  readonly #what: string;
  readonly #come: Record<Counted, number> = { text: 0, thoughts: 0, args: 0, other: 0, calls: 0 };
  #frames = 0;

  /** @param what is counted, for messages */
  constructor(limits: AnswerLimits = DEFAULT_ANSWER_LIMITS, what = ANSWER) {
    this.#max = limits === DEFAULT_ANSWER_LIMITS ? DEFAULT_ANSWER_LIMITS : boundsOf(limits);
    this.#what = what;
  }

  /**
   * Counts a piece that is to be added to those before it.
   * @throws CoxswainError `RESOURCE_EXHAUSTED / E_ANSWER_LIMIT`
   */
  add(parts: readonly ContentPart[]): void {
    if (++this.#frames > this.#max.frames) throw this.#over('frames');
    for (const part of parts) {
      if (part.type === 'text') this.more('text', charsOf(part.text));
      else if (part.type === 'thought') this.more('thoughts', charsOf(part.thought));
    }
  }

  /**
   * Counts what is kept of an answer and not shown in pieces.
   * @throws CoxswainError `RESOURCE_EXHAUSTED / E_ANSWER_LIMIT`
   */
  more(name: Counted, by: number): void {
    const sum = this.#come[name] + by;
    this.#come[name] = sum;
    if (sum > this.#max[name]) throw this.#over(name);
  }

  /**
   * Looks at a whole answer: it repeats what has come in pieces.
   * @throws CoxswainError `RESOURCE_EXHAUSTED / E_ANSWER_LIMIT`
   */
  whole(parts: readonly ContentPart[]): void {
    let text = 0;
    let thoughts = 0;
    let calls = 0;
    let other = 0;
    for (const part of parts) {
      if (part.type === 'text') text += charsOf(part.text);
      else if (part.type === 'thought') thoughts += charsOf(part.thought);
      else if (part.type === 'function_call') calls++;
      else other += otherIn(part);
    }
    if (text > this.#max.text) throw this.#over('text');
    if (thoughts > this.#max.thoughts) throw this.#over('thoughts');
    if (calls > this.#max.calls) throw this.#over('calls');
    if (other > this.#max.other) throw this.#over('other');
    let args = 0;
    for (const part of parts) {
      if (part.type !== 'function_call') continue;
      args += charsOf(part.args);
      if (args > this.#max.args) throw this.#over('args');
    }
  }

  /** Tells when the answer takes too long; what it gives stops that. One timer, and no clock for each piece. */
  watch(late: (error: CoxswainError) => void): () => void {
    const whole = this.#max.minutes * 60_000;
    const idle = this.#max.idleMinutes * 60_000;
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

  #over(name: keyof AnswerLimits): CoxswainError {
    const max = this.#max[name];
    const fate = this.#what === ANSWER ? '; none of its calls ran' : '';
    const message = `${this.#what} came to more than ${max} ${words[name]} (answerLimits.${name})${fate}`;
    return new CoxswainError('RESOURCE_EXHAUSTED', 'E_ANSWER_LIMIT', message, { details: { limit: name, max } });
  }
}

/** With the default where nothing is said. */
function boundsOf(limits: AnswerLimits): Required<AnswerLimits> {
  const bounds = { ...DEFAULT_ANSWER_LIMITS };
  for (const name of Object.keys(bounds) as (keyof AnswerLimits)[]) bounds[name] = limits[name] ?? bounds[name];
  return bounds;
}

/** What neither words nor calls bring. */
function otherIn(part: ContentPart): number {
  return 'data' in part && typeof part.data === 'string' ? part.data.length : charsOf(part);
}
