import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** What each program prints. */
const outputs: Record<string, string> = {
  sequential: `
outline: rowing, steering, landing
write: A text about rowing, steering, landing.
`,
  parallel: `
  wind: Wind: 4 from the west.
  tide: Tide: high at noon.
brief: Go out at noon, tack west.
`,
  compose: `
  wind: 4 from the west.
  tide: High at noon.
skipper: Go out at noon, tack west.
`,
  skills: `
mate calls load_skill({"name":"mooring"})
load_skill → Bow line first. Then the stern.
mate: Bow line first, then the stern.
`,
  loop: `
writer: Draft one.
critic: Shorter, please.
writer: Draft two.
critic calls exit_loop({})
exit_loop → {"done":true}
`,
  custom: `
captain: wind force 9
storm: Stay ashore.
`,
  transfer: `
desk calls transfer_to_agent({"agent_name":"billing"})
transfer_to_agent → {"transferred_to":"billing"}
billing: Which invoice is it?
billing: Invoice 7 is paid.
`,
  'agent-tool': `
host calls translator({"request":"good morning"})
  translator: god morgen
translator → {"result":"god morgen"}
host: In Norwegian: god morgen.
`,
  'sub-agent': `
boss calls clerk({"request":"pay invoice 7"})
? Run clerk? (The tool may change something.)
(input_required)
boss wants clerk: yes
  clerk calls pay({"invoice":7})
? Run pay? (The tool may change something.)
(input_required)
boss > clerk wants pay: yes
pay → invoice 7 is paid
  clerk: Done.
clerk → Done.
boss: Invoice 7 is paid.
`,
  memory: `
mate: Noted.
mate calls load_memory({"query":"boat name"})
load_memory → {"memories":[{"content":"My boat is called Albatross.","author":"user","timestamp":"(a time)"}]}
mate: Your boat is the Albatross.
`,
  artifacts: `
navigator calls draw_chart({})
draw_chart → {"saved":"chart.csv","version":1}
navigator: Your chart is ready.
navigator calls load_artifacts({"names":["chart.csv"]})
load_artifacts → chart.csv (version 1, text/csv):
hour,m
12,4

navigator: High water is at 12.
`,
  credentials: `
mate calls forecast({})
? The key of your weather service.
(input_required)
forecast → sunny
mate: It will be sunny.
the history holds the key: false
`,
  plugin: `
club calls lookup({})
lookup → Ann, (an address), Mondays
club: Ann rows on Mondays.
club calls lookup({})
lookup → Ann, (an address), Mondays
club: Ann rows on Mondays.
the model was asked 2 times
`,
};

const folder = join(import.meta.dirname, '../../examples/patterns');
const helpers = ['main.ts', 'say.ts'];

test('every pattern has its program, and its output is known', () => {
  const programs = readdirSync(folder).filter((name) => name.endsWith('.ts') && !helpers.includes(name));
  expect(programs.map((name) => name.replace('.ts', '')).sort()).toEqual(Object.keys(outputs).sort());
});

test.each(Object.entries(outputs))('the program for %s runs as written', async (name, expected) => {
  const { main } = (await import(join(folder, `${name}.ts`))) as { main(print: (line: string) => void): Promise<void> };
  const lines: string[] = [];
  await main((line) => lines.push(line));
  const printed = lines.join('\n').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '(a time)');
  expect(printed).toBe(expected.slice(1, -1));
});
