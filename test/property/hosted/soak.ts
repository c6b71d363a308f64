import { emptyTally, trySeed } from './property.ts';

const seconds = Number(process.env.PROPERTY_SECONDS ?? 15);
const only = process.env.SEED;
const most = Number(process.env.FINDINGS ?? 5);
const tally = emptyTally();
const start = Date.now();
const kinds = new Map<string, number[]>();
let found = 0;
for (let seed = Number(only ?? process.env.FROM ?? 1); Date.now() - start < seconds * 1000; seed++) {
  const finding = await trySeed(seed, tally, only !== undefined);
  if (finding) {
    found++;
    if (only !== undefined) console.log(finding.trace.join('\n'));
    const kind = finding.faults[0]!.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
      .replace(/\bk\d+\w*/g, 'K')
      .slice(0, 400);
    const seeds = kinds.get(kind) ?? [];
    kinds.set(kind, [...seeds, seed]);
    if (found >= most) break;
  }
  if (only !== undefined) break;
}
for (const [kind, seeds] of kinds) console.log(`${seeds.length}× SEED=${seeds.slice(0, 4).join(',')}: ${kind}\n`);
console.log(tally, `${(tally.cases / ((Date.now() - start) / 1000)).toFixed(0)}/s`);
