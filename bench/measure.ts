/** How often a thing is done before it is measured, and how often while it is. */
export interface Plan {
  warmUp: number;
  iterations: number;
}

/** Does a piece of work once and says how many milliseconds the part that counts took. */
export type Trial = () => number | Promise<number>;

/**
 * Medians of several pieces of work, done in turn: whatever slows the machine down for a while hits them all. Who
 * goes first changes, since whoever follows pays for what the one before has left in caches and heap.
 */
export async function inTurn<K extends string>(plan: Plan, trials: Record<K, Trial>): Promise<Record<K, number>> {
  const names = Object.keys(trials) as K[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  for (let n = -plan.warmUp; n < plan.iterations; n++) {
    for (let k = 0; k < names.length; k++) {
      const name = names[(k + n + plan.warmUp) % names.length]!;
      const time = await trials[name]();
      if (n >= 0) times[name].push(time);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times[name])])) as Record<K, number>;
}

/** CPU milliseconds that all threads of this process have taken so far. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The same of the main thread alone: what of it holds up timers, but for what the collector does on others meanwhile. */
export function mainCpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** A trial, and the CPU time of its measured repetitions. */
export function withCpu(plan: Plan, trial: Trial): { trial: Trial; cpu(): number } {
  let done = 0;
  let spent = 0;
  return {
    async trial() {
      const start = cpuTime();
      const time = await trial();
      if (done++ >= plan.warmUp) spent += cpuTime() - start;
      return time;
    },
    cpu: () => spent / Math.max(1, done - plan.warmUp),
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

const LOOP = 100_000;

/** The calibrating loop: arithmetic that no library and no collector has a part in. */
export function cpuLoop(): number {
  const start = performance.now();
  let x = 1;
  for (let n = 0; n < LOOP; n++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
  }
  // Never true; the result must be used, or the loop is optimised away.
  if (x === 0) throw new Error('xorshift came to 0');
  return performance.now() - start;
}

/** Milliseconds that the work took. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
