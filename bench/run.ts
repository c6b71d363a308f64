/**
 * `npm run bench -- [W1 W2 …] [--subject session|hosted] [--iterations N] [--json]`
 *
 * Each workload runs in a process of its own, in turn with the bare floor and a calibrating loop. Ends with 1 if a
 * target is missed.
 */
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installed } from '../test/installed.ts';
import { printed } from './children.ts';
import { compile } from './compile.ts';
import type { Row, Subject } from './result.ts';
import { table } from './table.ts';
import { ADK } from './workloads/crowd.ts';
import { workloads } from './workloads/index.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    subject: { type: 'string', multiple: true, default: ['session', 'hosted'] },
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

const rows: Row[] = [];
const { folder, remove } = await compile();
try {
  for (const name of names) {
    if (!values.json) console.log(`${name}  ${workloads[name]?.title}`);
    for (const subject of values.subject as Subject[]) {
      const args = [name, subject, ...(values.iterations === undefined ? [] : [values.iterations])];
      rows.push(...(await printed<Row[]>(join(folder, 'child.js'), args)));
    }
  }
} finally {
  remove();
}

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
