import { describeFinding as describeHosted, search as searchHosted } from './hosted/property.ts';
import { describeFinding, search, sound } from './replay/property.ts';

// `npm run prop`: each property for half of PROPERTY_SECONDS (default 60), from SEED or from anywhere.
const seconds = Number(process.env.PROPERTY_SECONDS ?? 60) / 2;
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
