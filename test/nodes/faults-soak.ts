import { parseArgs } from 'node:util';
import { randomFrom } from '../adapters/kill.ts';
import { faultNodes, faults } from './faults.ts';

// node test/nodes/faults-soak.ts [faults, default 12] [nodes, default 3] [seed] [--dispatcher postgres|restate]: PostgreSQL, NATS and
// Restate of its own fail, one after the other, under nodes that run turns.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dispatcher: { type: 'string', default: 'postgres' } },
});
const { dispatcher } = values;
if (dispatcher !== 'postgres' && dispatcher !== 'restate') throw new Error('--dispatcher: postgres or restate');
const restate = dispatcher === 'restate';
const [rounds = 12, nodes = 3, seed = Date.now() % 2 ** 32] = positionals.map(Number);
console.log(`${rounds} faults under ${nodes} nodes, turns by ${dispatcher}, seed ${seed}`);
const random = randomFrom(seed);
const known = faults.filter((fault) => restate || fault !== 'restate').toReversed();
const plan = Array.from({ length: rounds }, (_, n) => known[n < known.length ? n : random(known.length)] ?? 'cut');
const { turns, healed } = await faultNodes({ nodes, seed, plan, restate, log: console.log });
console.log(`${turns} turns, ${healed.length} faults: every acknowledged event stored, once, in order`);
for (const fault of known) {
  const times = healed.filter((one) => one.fault === fault).map(({ ms }) => ms);
  if (times.length > 0) console.log(`${fault}: healed after ${times.join(', ')} ms`);
}
process.exit();
