import { emptyTally, sound, tryseed } from './replay/property.ts';
const seconds = Number(process.env.PROPERTY_SECONDS ?? 10);
const only = process.env.SEED;
const tally = emptyTally();
const start = Date.now();
let bad = 0;
for (let seed = only ? Number(only) : 1; Date.now() - start < seconds * 1000; seed++) {
  const found = await tryseed(sound, seed, tally);
  if (found) { bad++; console.log(JSON.stringify(found.case), found.faults.slice(0, 4).join('\n   ')); if (bad >= 8) break; }
  if (only) break;
}
console.log(tally, (tally.cases / ((Date.now() - start) / 1000)).toFixed(0) + '/s');
