import { ensureValidator } from '../../../src/gate/index.ts';
import { judge } from './judge.ts';
import type { Case, Life, Trial, Way } from './live.ts';
import { live, ways } from './live.ts';
import { below, randomOf } from './random.ts';
import { soundParts } from './tree.ts';

/** The runtime as it is. */
export const sound: Trial = { parts: soundParts };

/** Killed lives of each tree and way of replaying. */
const VARIANTS = 3;

export interface Tally {
  seeds: number;
  cases: number;
  deaths: number;
  answers: number;
  events: number;
}

export interface Finding {
  case: Case;
  faults: string[];
}

export interface SearchOptions {
  from: number;
  /** Asked before each seed. */
  goesOn: (tally: Tally) => boolean;
  /** Default: all. */
  ways?: readonly Way[];
}

/** Tries seed after seed, up to the first case that is wrong. */
export async function search(trial: Trial, options: SearchOptions): Promise<{ tally: Tally; finding?: Finding }> {
  // Loaded when first needed: the first seed would take another course than when it is tried again.
  await ensureValidator();
  const tally: Tally = { seeds: 0, cases: 0, deaths: 0, answers: 0, events: 0 };
  for (let seed = options.from; options.goesOn(tally); seed++) {
    tally.seeds++;
    const finding = await trySeed(trial, seed, options.ways ?? ways, tally);
    if (finding) return { tally, finding };
  }
  return { tally };
}

/** One tree: lived through undisturbed, then with deaths, in each way. */
async function trySeed(trial: Trial, seed: number, given: readonly Way[], tally: Tally): Promise<Finding | undefined> {
  for (const way of given) {
    const reference = await attempt(trial, { seed, variant: 0, way }, tally);
    if ('faults' in reference) return reference;
    for (let variant = 1; variant <= VARIANTS; variant++) {
      const life = await attempt(trial, { seed, variant, way }, tally, reference);
      if ('faults' in life) return life;
    }
  }
  return undefined;
}

async function attempt(trial: Trial, what: Case, tally: Tally, reference?: Life): Promise<Life | Finding> {
  const { seed, variant, way } = what;
  const random = randomOf(seed * 131 + variant * ways.length + ways.indexOf(way));
  const span = Math.max(2, (reference?.log.length ?? 0) / 2);
  try {
    const life = await live(trial, what, random, (length) => {
      if (!reference || random() < 0.15) return undefined;
      return { at: length + 1 + below(random, span), stored: random() < 0.5 };
    });
    tally.cases++;
    tally.deaths += life.deaths;
    tally.answers += life.answers;
    tally.events += life.log.length;
    const faults = judge(life, reference);
    return faults.length > 0 ? { case: what, faults } : life;
  } catch (error) {
    return { case: what, faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)] };
  }
}

/** What is wrong and how to see it again. */
export function describeFinding({ case: what, faults }: Finding): string {
  const { seed, variant, way } = what;
  const life = variant === 0 ? 'nobody died' : `life ${variant}`;
  const more = faults.length > 10 ? [`and ${faults.length - 10} more`] : [];
  return [
    `seed ${seed}, ${life}, ${way}:`,
    ...[...faults.slice(0, 10), ...more].map((fault) => `  ${fault}`),
    `again: SEED=${seed} npm test -- test/property/replay/replay.test.ts`,
  ].join('\n');
}
