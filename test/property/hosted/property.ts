import { ensureValidator } from '../../../src/gate/index.ts';
import type { Tally } from './live.ts';
import { Life } from './live.ts';

export interface Finding {
  seed: number;
  faults: string[];
  trace: string[];
}

export function emptyTally(): Tally {
  return { seeds: 0, cases: 0, streams: 0, deaths: 0, runs: 0, events: 0 };
}

/** One session under random traffic; what is wrong with it, if anything. */
export async function trySeed(seed: number, tally: Tally, tracing = false): Promise<Finding | undefined> {
  const loading = ensureValidator();
  if (loading) await loading;
  const life = new Life(seed, tally, tracing);
  const { world } = life;
  const unhandled = (error: unknown) =>
    world.fault(`unhandled rejection: ${error instanceof Error ? error.stack : String(error)}`);
  process.on('unhandledRejection', unhandled);
  try {
    await life.live();
    await new Promise((resolve) => setImmediate(resolve));
  } catch (error) {
    world.fault(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    process.off('unhandledRejection', unhandled);
  }
  return world.faults.length > 0 ? { seed, faults: world.faults, trace: world.trace } : undefined;
}

/** Seeds from `from` until one is wrong or `goesOn` says no. */
export async function search(options: {
  from: number;
  goesOn: (tally: Tally) => boolean;
}): Promise<{ tally: Tally; finding: Finding | undefined }> {
  const tally = emptyTally();
  for (let seed = options.from; options.goesOn(tally); seed++) {
    tally.seeds++;
    const finding = await trySeed(seed, tally);
    // Once more to see how it came to that.
    if (finding) return { tally, finding: (await trySeed(seed, emptyTally(), true)) ?? finding };
  }
  return { tally, finding: undefined };
}

/** What is wrong, how it came to that and how to see it again. */
export function describeFinding({ seed, faults, trace }: Finding): string {
  const again = `again: SEED=${seed} npm test -- test/property/hosted/hosted.test.ts`;
  return [...trace, '', `seed ${seed}:`, ...faults, again].join('\n');
}
