import { shared } from '../adapters/databases.ts';
import { describeFinding as describeHosted, search as searchHosted } from './hosted/property.ts';
import { circumstances } from './lies/circumstances.ts';
import { describeFinding as describeLies, search as searchLies } from './lies/property.ts';
import { describeFinding as describeOwner, searchOn, seedsFrom } from './owner/owners.ts';
import { describeFinding, search, sound } from './replay/property.ts';

// `npm run prop`: each property for its part of PROPERTY_SECONDS (default 60), from SEED or from anywhere.
const stores = shared.filter(({ skip }) => !skip);
const seconds = Number(process.env.PROPERTY_SECONDS ?? 60) / (2 + Object.keys(circumstances).length + stores.length);
const from = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));

interface Found {
  /** What was tried; `cases` first of all. */
  tally: { seeds: number; cases: number };
  fault: string | undefined;
}

async function soak(name: string, run: (goesOn: () => boolean) => Promise<Found>): Promise<void> {
  const start = performance.now();
  const passed = () => (performance.now() - start) / 1000;
  console.log(`${name} property, ${seconds} s from seed ${from}`);
  const { tally, fault } = await run(() => passed() < seconds);
  const { seeds, cases, ...counts } = tally;
  const rate = (cases / passed()).toFixed(0);
  const rest = Object.entries(counts).map(([what, count]) => `, ${count} ${what}`);
  console.log(`${seeds} seeds, ${cases} cases (${rate}/s)${rest.join('')}`);
  if (fault === undefined) return;
  console.error(fault);
  process.exitCode = 1;
}

await soak('replay', async (goesOn) => {
  const { tally, finding } = await search(sound, { from, goesOn });
  return { tally, fault: finding && describeFinding(finding) };
});
await soak('hosted', async (goesOn) => {
  const { tally, finding } = await searchHosted({ from, goesOn });
  return { tally, fault: finding && describeHosted(finding) };
});
for (const [name, trySeed] of Object.entries(circumstances)) {
  await soak(`lies (${name})`, async (goesOn) => {
    const { tally, finding } = await searchLies({ from, trySeed, goesOn });
    return { tally, fault: finding && describeLies(finding) };
  });
}
for (const server of stores) {
  await soak(`owner (two processes on ${server.name})`, async (goesOn) => {
    const { tally, finding } = await searchOn(server, seedsFrom(from), goesOn);
    return { tally: { seeds: tally.cases, ...tally }, fault: finding && describeOwner(finding) };
  });
}
process.exit();
