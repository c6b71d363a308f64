import { parseArgs } from 'node:util';
import type { Figures } from './measure.ts';
import { judge, measure } from './measure.ts';
import { openPlace } from './place.ts';
import { round } from './rounds.ts';

// `npm run soak -- --minutes 15`: whether anything grows while clients come and go. Exit code 1: something does.
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '15' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes ${values.minutes} is no number above 0`);

/** Of load, each with a quiet time behind it; the first warms up. */
const SPELLS = 5;

const place = await openPlace();
const spells: { rounds: number; figures: Figures }[] = [];
let rounds = 0;
let failures = 0;
const failed = (part: string, error: unknown) => {
  if (++failures <= 10) console.error(`${part} failed:`, error);
};
for (let spell = 0; spell < SPELLS; spell++) {
  const end = Date.now() + (minutes * 60_000) / SPELLS;
  for (; Date.now() < end; rounds++) await round(place, rounds, failed);
  await place.quiet();
  await place.prune();
  spells.push({ rounds, figures: await measure(await place.rows()) });
  // Nobody had a turn meanwhile: sockets that have ended are seen to before they are used again.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  console.log(`${rounds} rounds: ${JSON.stringify(spells.at(-1)?.figures)}`);
}
await place.close();

const verdicts = judge(spells);
console.log(`\n${'what'.padEnd(20)}${'first'.padStart(10)}${'last'.padStart(10)}${'per 1000 rounds'.padStart(18)}`);
for (const { what, first, last, slope, grows } of verdicts) {
  const numbers = `${String(first).padStart(10)}${String(last).padStart(10)}${slope.toFixed(1).padStart(18)}`;
  console.log(`${what.padEnd(20)}${numbers}  ${grows ? 'GROWS' : 'flat'}`);
}
// One of a hundred may be lost; more is a fault.
const isFaulty = failures > rounds / 100 + 1;
console.log(`${failures} failures in ${rounds} rounds`);
process.exit(isFaulty || verdicts.some(({ grows }) => grows) ? 1 : 0);
