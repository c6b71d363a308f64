import { describeFinding, search, sound } from './replay/property.ts';

// `npm run prop`: the replay property for PROPERTY_SECONDS (default 60), from SEED or from anywhere.
const seconds = Number(process.env.PROPERTY_SECONDS ?? 60);
const from = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
const start = performance.now();
const passed = () => (performance.now() - start) / 1000;

console.log(`replay property, ${seconds} s from seed ${from}`);
const { tally, finding } = await search(sound, { from, goesOn: () => passed() < seconds });
const { seeds, cases, deaths, answers, events } = tally;
const rate = (cases / passed()).toFixed(0);
console.log(`${seeds} seeds, ${cases} turns (${rate}/s), ${deaths} deaths, ${answers} answers, ${events} events`);
if (finding) {
  console.error(describeFinding(finding));
  process.exitCode = 1;
}
