import type { FunctionResponsePart } from '../../contracts/index.ts';
import { textOfResult } from './cleared.ts';
import type { History, Unit } from './history.ts';

/** What may be left out of a history, and how far that is to go. */
export interface Bounds {
  /** Tokens of a request above which something is left out. */
  readonly limit: number;
  /** How many of the newest units stay as they are. */
  readonly keep: number;
  /** Calls that have no result yet. */
  readonly open: { has(callId: string): boolean };
  /** The newest turn: what a user has said in it stays. */
  readonly turnId: string;
  /** Tokens below which a summary would save nothing worth its model call; those of former summaries do not count. */
  readonly worth: number;
}

/** Results that become references: what is left of each, by call id. */
export interface Clearing {
  readonly from: number;
  readonly through: number;
  readonly cleared: Record<string, number>;
}

/** Characters of a result below which a reference would save nothing worth while. */
const WORTH_CLEARING = 1000;
/** Characters that a token of an excerpt has, about. */
const CHARS_PER_TOKEN = 3;
/** Tokens below which no summary is made. */
export const WORTH_SUMMARISING = 200;

/**
 * Results to be cleared: first of those that were not sent yet what is more than their share, where one of them takes half of what
 * there is. Where that is not enough, those before the newest units, whole; then of the newest ones, from the oldest on, what is more
 * than their share. Undefined: there is nothing worth while.
 */
export function planClearing(history: History, bounds: Bounds): Clearing | undefined {
  const units = history.units();
  const kept = Math.max(0, units.length - bounds.keep);
  const wanted = history.tokens - enough(bounds);
  const plan = new ClearingPlan(history, bounds);
  for (const unit of units) {
    if (unit.end > history.sentTo) plan.clear(unit, shareOf(bounds), bounds.limit / 2);
  }
  if (plan.saved > 0 && plan.saved >= wanted) return plan.clearing;
  for (const [at, unit] of units.entries()) {
    if (at < kept) plan.clear(unit, 0);
    else plan.clear(unit, shareOf(bounds), 0, wanted);
  }
  return plan.clearing;
}

/** What is cleared of a history, as it is put together. */
class ClearingPlan {
  /** Tokens, about. */
  saved = 0;
  readonly #history: History;
  readonly #bounds: Bounds;
  readonly #cleared: Record<string, number> = {};
  readonly #touched: Unit[] = [];

  constructor(history: History, bounds: Bounds) {
    this.#history = history;
    this.#bounds = bounds;
  }

  /** Undefined: nothing. */
  get clearing(): Clearing | undefined {
    const touched = this.#touched.sort((a, b) => a.start - b.start);
    const [first, last] = [touched[0], touched.at(-1)];
    return first && last && { from: first.seq, through: last.seq, cleared: this.#cleared };
  }

  /**
   * Leaves so many characters of each result of a unit, where that is worth while; of those alone that have `least` tokens, and
   * until `most` are saved.
   */
  clear(unit: Unit, left: number, least = 0, most = Number.POSITIVE_INFINITY): void {
    for (const part of resultsIn(this.#history, unit)) {
      if (this.saved >= most) return;
      if (this.#bounds.open.has(part.id)) continue;
      const size = textOfResult(part).length + attachedIn(part);
      if (size / 4 < least || size < Math.max(WORTH_CLEARING, left + WORTH_CLEARING / 2)) continue;
      const before = this.#cleared[part.id] ?? size;
      if (before <= left) continue;
      this.#cleared[part.id] = left;
      this.saved += Math.ceil((before - left) / 4);
      this.#touched.push(unit);
    }
  }
}

/** Characters that each of the newest results may have: all of them together take half of what there is. */
function shareOf({ limit, keep }: Bounds): number {
  return Math.floor((limit * CHARS_PER_TOKEN) / 2 / Math.max(1, keep));
}

/** As far as clearing is to come: a little less than the limit would be reached again with the next step. */
function enough({ limit }: Bounds): number {
  return limit * 0.75;
}

/** Above this a summary is made as well: estimates differ by more than what is missing to {@link enough}. */
export function tooMuch({ limit }: Pick<Bounds, 'limit'>): number {
  return limit * 0.85;
}

/** Units of which one summary can be made: all of them without a gap, and none that has to stay. */
export interface Range {
  readonly from: number;
  readonly through: number;
  /** Places of its contents. */
  readonly start: number;
  readonly end: number;
}

/** The range whose summary saves most. Undefined: there is none worth while. */
export function planSummary(history: History, bounds: Bounds): Range | undefined {
  const units = history.units();
  const kept = keptFrom(history, units, bounds);
  let best: { range: Range; tokens: number } | undefined;
  let run: Unit[] = [];
  const close = () => {
    const range = rangeOf(units, run);
    const tokens = range ? newIn(history, run, range) : 0;
    run = [];
    if (range && tokens >= bounds.worth && tokens > (best?.tokens ?? 0)) best = { range, tokens };
  };
  for (const [at, unit] of units.entries()) {
    if (at >= kept) break;
    if (mustStay(history, unit, bounds)) close();
    else run.push(unit);
  }
  close();
  return best?.range;
}

/** Tokens in a range that no summary was made of yet. */
function newIn(history: History, run: readonly Unit[], { start, end }: Range): number {
  let tokens = 0;
  for (const unit of run) {
    if (unit.kind !== 'summary' && unit.start >= start && unit.end <= end)
      tokens += history.estimate(unit.start, unit.end);
  }
  return tokens;
}

/** From here on units stay as they are: fewer than wanted, where these alone take half of what there is. */
function keptFrom(history: History, units: readonly Unit[], { keep, limit }: Bounds): number {
  let from = units.length;
  let tokens = 0;
  while (from > 0 && units.length - from < keep) {
    const unit = units[from - 1] as Unit;
    tokens += history.estimate(unit.start, unit.end);
    if (tokens > limit / 2 && from < units.length) break;
    from--;
  }
  return from;
}

/** What a person has still to answer, and what a user wants in this turn. */
function mustStay(history: History, unit: Unit, { open, turnId }: Bounds): boolean {
  if (unit.kind === 'words' && unit.turnId === turnId) return true;
  for (const part of history.contents[unit.start]?.parts ?? []) {
    if (part.type === 'function_call' && open.has(part.id)) return true;
  }
  return false;
}

/** Units that one event has put there go together. A summary alone is not summed up again. */
function rangeOf(units: readonly Unit[], run: readonly Unit[]): Range | undefined {
  const [before, after] = [units[units.indexOf(run[0] as Unit) - 1], units[units.indexOf(run.at(-1) as Unit) + 1]];
  let [start, end] = [0, run.length];
  while (start < end && run[start]?.seq === before?.seq) start++;
  while (end > start && run[end - 1]?.seq === after?.seq) end--;
  const [first, last] = [run[start], run[end - 1]];
  if (!first || !last || end <= start || (first === last && first.kind === 'summary')) return undefined;
  return { from: first.from ?? first.seq, through: last.seq, start: first.start, end: last.end };
}

function* resultsIn(history: History, unit: Unit): Generator<FunctionResponsePart> {
  for (const part of history.contents[unit.end - 1]?.parts ?? []) if (part.type === 'function_response') yield part;
}

function attachedIn({ content = [] }: FunctionResponsePart): number {
  let size = 0;
  for (const part of content) if (part.type !== 'text') size += part.data?.length ?? 0;
  return size;
}
