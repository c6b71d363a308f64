/**
 * `npm run fuzz:schemas [tries] [seed]`: random patterns and schemas; ends with 1 if the engine disagrees or one is slow.
 * Tells how far it has come on stderr; a long run is as good as several short ones of other seeds.
 */
import { differing, evaluateOne, randomOf } from './patterns.ts';

const LIMIT_MS = 1000;
/** Tries between two words of how far it has come. */
const EVERY = 500;
const [tries = 10_000, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);
const random = randomOf(seed);
const counts: Record<string, number> = {};
let slowest = 0;
const wrong: string[] = [];
for (let n = 0; n < tries; n++) {
  const difference = differing(random);
  if (difference !== undefined) wrong.push(difference);
  const before = process.cpuUsage();
  const outcome = evaluateOne(random);
  const { user } = process.cpuUsage(before);
  slowest = Math.max(slowest, user / 1000);
  counts[outcome] = (counts[outcome] ?? 0) + 1;
  if ((n + 1) % EVERY === 0)
    console.error(`${n + 1} of ${tries}, seed ${seed}: slowest ${Math.round(slowest)} ms of CPU`);
}
console.log({ seed, tries, counts, slowestMs: Math.round(slowest), wrong: wrong.slice(0, 5) });
process.exitCode = wrong.length > 0 || slowest > LIMIT_MS ? 1 : 0;
