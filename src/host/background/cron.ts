import { CoxswainError, messageOf } from '../../contracts/index.ts';

/**
 * Milliseconds before the newest time that is looked for, from which on all are counted until one is found: more than clocks are set
 * back by, and each time that is counted costs about a millisecond.
 */
const RANGES_MS = [4 * 3600_000, 26 * 3600_000] as const;
/** Times that are counted from one that is known. */
const MOST_COUNTED = 64;

/**
 * Where clocks are set back by less than an hour, the parser finds nothing from the day before on: so many of these milliseconds later
 * it does.
 */
const SKIP_MS = 1800_000;
const SKIPS = 52;

/** When a schedule is due. */
export interface Cron {
  /** The first time after this one, in epoch milliseconds; undefined: never again. */
  next(after: number): number | undefined;
  /** The last time that is not after this one. `since`: one that it is not before, e.g. where the last one was. */
  last(until: number, since?: number): number | undefined;
}

/** Five fields. `H` is another time in each program, and seconds are none of cron's. */
const FIELD = /^[\d*,/a-z#-]+$/i;
const HASHED = /(^|[,/-])h/i;

/**
 * Reads a cron expression by the package `cron-parser`.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`, `FAILED_PRECONDITION / E_UNSUPPORTED` where the package is not installed
 */
export async function readCron(expression: string, timeZone: string, where: string): Promise<Cron> {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 5 || !fields.every((field) => FIELD.test(field) && !HASHED.test(field))) {
    throw bad(`${where}.cron: five fields: minute, hour, day of the month, month, day of the week, e.g. "0 9 * * 1-5"`);
  }
  try {
    new Intl.DateTimeFormat('en', { timeZone });
  } catch (error) {
    throw bad(`${where}.timeZone: a time zone such as "UTC" or "Europe/Berlin"`, error);
  }
  const { CronExpressionParser } = await loadParser();
  const from = (time: number) =>
    CronExpressionParser.parse(fields.join(' '), { tz: timeZone, currentDate: new Date(time) });
  try {
    from(0);
  } catch (error) {
    throw bad(`${where}.cron: ${messageOf(error)}`, error);
  }
  const next = (after: number) => nextOf(from, after);
  return {
    next,
    last(until, since) {
      const counted = since === undefined ? undefined : lastBetween(from, since, until, MOST_COUNTED);
      if (counted && !counted.isCut) return counted.found;
      const near = timeOf(() =>
        from(until + 1)
          .prev()
          .getTime(),
      );
      if (near === undefined) return undefined;
      // Counted forwards, as `next` does: where clocks are set back, backwards gives other times.
      for (const range of RANGES_MS) {
        const { found } = lastBetween(from, near - range, until);
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}

/** Times from one on, as the parser has them. */
type From = (time: number) => { next(): { getTime(): number } };

function nextOf(from: From, after: number): number | undefined {
  return timeOf(() => from(after).next().getTime()) ?? skipped(from, after);
}

/** From the earliest place from which the parser finds anything. */
function skipped(from: From, after: number): number | undefined {
  const look = (skips: number) =>
    timeOf(() =>
      from(after + skips * SKIP_MS)
        .next()
        .getTime(),
    );
  let found = look(SKIPS);
  // It never comes again.
  if (found === undefined) return undefined;
  for (let few = 0, many = SKIPS; many - few > 1; ) {
    const middle = (few + many) >>> 1;
    const time = look(middle);
    if (time === undefined) few = middle;
    else {
      many = middle;
      found = time;
    }
  }
  return found;
}

/** @returns `isCut`: there are more than `most` */
function lastBetween(
  from: From,
  after: number,
  until: number,
  most = Number.POSITIVE_INFINITY,
): { found: number | undefined; isCut: boolean } {
  let found: number | undefined;
  let times = from(after);
  for (let count = 0; count < most; count++) {
    let time = timeOf(() => times.next().getTime());
    if (time === undefined) {
      time = skipped(from, found ?? after);
      if (time !== undefined) times = from(time);
    }
    if (time === undefined || time > until) return { found, isCut: false };
    found = time;
  }
  return { found, isCut: true };
}

/** A 30th of February never comes. */
function timeOf(look: () => number): number | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

async function loadParser() {
  try {
    return await import('cron-parser');
  } catch (error) {
    if (!/^(Cannot find (module|package)|Could not resolve) /.test(messageOf(error))) throw error;
    const message = 'schedules need a package that is not installed: npm install cron-parser';
    throw new CoxswainError('FAILED_PRECONDITION', 'E_UNSUPPORTED', message, { cause: error });
  }
}

function bad(message: string, cause?: unknown): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message, cause === undefined ? {} : { cause });
}
