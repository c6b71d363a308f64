import { ensureValidator } from '../../../src/gate/index.ts';
import { judge } from './judge.ts';
import type { Case, Life, Trial } from './live.ts';
import { live } from './live.ts';
import { below, randomOf } from './random.ts';
import { soundParts } from './tree.ts';

export const sound: Trial = { parts: soundParts };

/** Killed lives of each tree and way of replaying. */
const VARIANTS = 3;

export interface Tally {
  cases: number;
  deaths: number;
  answers: number;
  events: number;
  seeds: number;
}

export interface Finding {
  case: Case;
  faults: string[];
}

/** All cases of one seed, up to the first that is wrong. */
export async function tryseed(trial: Trial, seed: number, tally: Tally): Promise<Finding | undefined> {
  const validator = ensureValidator();
  if (validator) await validator;
  tally.seeds++;
  for (const usesCompleted of [true, false]) {
    const first: Case = { seed, variant: 0, usesCompleted };
    const found = await attempt(trial, first, tally);
    if ('faults' in found) return found;
    const { length } = found.log;
    for (let variant = 1; variant <= VARIANTS; variant++) {
      const killed = await attempt(trial, { seed, variant, usesCompleted }, tally, found, length);
      if ('faults' in killed) return killed;
    }
  }
  return undefined;
}

async function attempt(trial: Trial, what: Case, tally: Tally, reference?: Life, length = 0): Promise<Life | Finding> {
  const { seed, variant, usesCompleted } = what;
  const random = randomOf(seed * 131 + variant * 2 + Number(usesCompleted));
  try {
    const life = await live(trial, what, random, (logged) => {
      if (!reference || random() < 0.15) return undefined;
      return { at: logged + 1 + below(random, Math.max(2, length / 2)), stored: random() < 0.5 };
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

export function emptyTally(): Tally {
  return { cases: 0, deaths: 0, answers: 0, events: 0, seeds: 0 };
}
