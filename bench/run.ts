/**
 * `npm run bench -- [W1 W2 …] [--subject session|hosted] [--regime cold|steady] [--rounds N] [--iterations N] [--json]`
 *
 * Each workload runs in processes of its own, in turn with the bare floor and a calibrating loop. Cold figures are
 * medians over fresh processes of several rounds, in which subjects and workloads take turns; steady ones come from one
 * process that has done the work a thousand times before. A target is met or missed: ends with 1 if one is missed.
 */
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installed } from '../test/installed.ts';
import { printed } from './children.ts';
import { compile } from './compile.ts';
import type { Row } from './result.ts';
import { combined } from './result.ts';
import { table } from './table.ts';
import { ADK } from './workloads/crowd.ts';
import { workloads } from './workloads/index.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    subject: { type: 'string', multiple: true, default: ['session', 'hosted'] },
    regime: { type: 'string', multiple: true, default: ['cold', 'steady'] },
    rounds: { type: 'string', default: '5' },
    iterations: { type: 'string' },
  },
});
const names = positionals.length > 0 ? positionals : Object.keys(workloads);
const unknown = names.filter((name) => !workloads[name]);
if (unknown.length > 0) {
  console.error(`no such workload: ${unknown.join(', ')}; there are ${Object.keys(workloads).join(', ')}`);
  process.exit(2);
}

if (names.includes('W5')) {
  const folder = join(import.meta.dirname, '..', 'test', 'foreign', 'google-adk');
  const missing = installed(folder);
  if (missing === undefined) process.env[ADK] = join(folder, 'node_modules/@google/adk/dist/esm/index.js');
  else console.error(`W5 has no peer to stand beside: ${missing}`);
}

const { folder, remove } = await compile();
const measured = new Map<string, Row[]>();

async function measure(name: string, regime: string): Promise<void> {
  for (const subject of values.subject) {
    const args = [name, subject, regime, ...(values.iterations === undefined ? [] : [values.iterations])];
    for (const row of await printed<Row[]>(join(folder, 'child.js'), args)) {
      const key = [name, subject, row.measure, regime].join('|');
      measured.set(key, [...(measured.get(key) ?? []), row]);
    }
  }
}

try {
  if (values.regime.includes('cold')) {
    for (let round = 1; round <= Number(values.rounds); round++) {
      for (const name of names) {
        // Whose measurements are processes of their own needs no rounds.
        if (round > 1 && !workloads[name]?.plans.steady) continue;
        if (!values.json) console.log(`cold, round ${round}: ${name}  ${workloads[name]?.title}`);
        await measure(name, 'cold');
      }
    }
  }
  for (const name of values.regime.includes('steady') ? names : []) {
    if (!workloads[name]?.plans.steady) continue;
    if (!values.json) console.log(`steady: ${name}  ${workloads[name]?.title}`);
    await measure(name, 'steady');
  }
} finally {
  remove();
}

const order = (row: Row) => names.indexOf(row.workload);
const rows = [...measured.values()]
  .flatMap(([first, ...more]) => (first ? [combined([first, ...more])] : []))
  .sort((a, b) => order(a) - order(b));

if (values.json) console.log(JSON.stringify(rows, undefined, 2));
else {
  const [load = 0] = loadavg();
  const cores = availableParallelism();
  console.log(`\n${table(rows)}`);
  console.log(`\nNode ${process.version}, ${cores} cores, load ${load.toFixed(1)}`);
  if (load > cores)
    console.log('The machine is busy with other things: judge by the ratios, and W0 and W5 not at all.');
}
process.exitCode = rows.every((row) => row.pass) ? 0 : 1;
