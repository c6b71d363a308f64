/** Milliseconds of work, about, before others of the process are let in. */
const PIECE_MS = 5;

// As they are now: whoever replaces the clock later means to hold time, not work.
const now = performance.now.bind(performance);
const later: (go: () => void) => void = globalThis.setImmediate ?? ((go) => void setTimeout(go, 0));

/**
 * Cuts long work into pieces. Whoever works through many things asks after each: all who ask while others of the
 * process are let in wait until those are done.
 */
export class Pace {
  #since = now();
  #resting: Promise<void> | undefined;

  /** Undefined: go on at once. */
  rest(): Promise<void> | undefined {
    if (this.#resting || now() - this.#since < PIECE_MS) return this.#resting;
    this.#resting = new Promise((resolve) => {
      later(() => {
        this.#resting = undefined;
        this.#since = now();
        resolve();
      });
    });
    return this.#resting;
  }
}

// The same: a clock that somebody holds would hold up whoever waits here.
const after: (go: () => void, ms: number) => void = (globalThis.setTimeout as typeof setTimeout).bind(globalThis);
/** Writers that are outrun as often go on at once. */
const QUICK_TRIES = 3;
const LONGEST_PAUSE_MS = 32;

/**
 * Before whoever was outrun by another writer tries again: of many that write at once each gets its turn, and others of
 * the process are served. Undefined: go on at once.
 * @param tries how many have failed
 */
export function pauseAfter(tries: number): Promise<void> | undefined {
  if (tries < QUICK_TRIES) return undefined;
  const longest = Math.min(LONGEST_PAUSE_MS, 2 ** (tries - QUICK_TRIES));
  return new Promise((resolve) => after(resolve, Math.random() * longest));
}

/** As many parts of one event, or things of one list, take milliseconds: work on them stands by itself. */
export const MANY = 256;

/** Others of the process are let in. */
export function breath(): Promise<void> {
  return new Promise(later);
}

/** Things that are begun before others of the process are let in. */
const AT_ONCE = 32;

/**
 * `Promise.all` over many things: each is begun in order, and others of the process are let in on the way. One alone, and
 * none, is what most have: that costs no more than itself.
 */
export function eachInPieces<T, R>(items: readonly T[], work: (item: T) => R | Promise<R>): R[] | Promise<R[]> {
  const [first] = items;
  if (items.length > 1) return eachOfMany(items, work);
  if (items.length === 0) return [];
  try {
    const result = work(first as T);
    return result instanceof Promise ? result.then((made) => [made]) : [result];
  } catch (error) {
    return Promise.reject(error);
  }
}

async function eachOfMany<T, R>(items: readonly T[], work: (item: T) => R | Promise<R>): Promise<R[]> {
  if (items.length <= AT_ONCE) return Promise.all(items.map((item) => work(item)));
  const begun: (R | Promise<R>)[] = [];
  const pace = new Pace();
  for (const item of items) {
    const result = work(item);
    // Nobody waits for it yet.
    if (result instanceof Promise) result.catch(() => {});
    begun.push(result);
    if (begun.length % AT_ONCE === 0) await breath();
    const rest = pace.rest();
    if (rest) await rest;
  }
  return Promise.all(begun);
}
