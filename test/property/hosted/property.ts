import { ensureValidator } from '../../../src/gate/index.ts';
import type { Tally } from './live.ts';
import { Life } from './live.ts';

export interface Finding {
  seed: number;
  faults: string[];
  trace: string[];
}

export function emptyTally(): Tally {
  return { cases: 0, streams: 0, deaths: 0, runs: 0, calls: 0, events: 0 };
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
