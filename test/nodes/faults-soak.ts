import { randomFrom } from '../adapters/kill.ts';
import { faultNodes, faults } from './faults.ts';

// node test/nodes/faults-soak.ts [faults, default 12] [nodes, default 3] [seed]: PostgreSQL and NATS of its own fail, one after the
// other, under nodes that run turns.

const rounds = Number(process.argv[2] ?? 12);
const nodes = Number(process.argv[3] ?? 3);
const seed = Number(process.argv[4] ?? Date.now() % 2 ** 32);
console.log(`${rounds} faults under ${nodes} nodes, seed ${seed}`);
const random = randomFrom(seed);
const plan = Array.from({ length: rounds }, (_, n) => faults[n < faults.length ? n : random(faults.length)] ?? 'cut');
const { turns, healed } = await faultNodes({ nodes, seed, plan, log: console.log });
console.log(`${turns} turns, ${healed.length} faults: every acknowledged event stored, once, in order`);
for (const fault of faults) {
  const times = healed.filter((one) => one.fault === fault).map(({ ms }) => ms);
  if (times.length > 0) console.log(`${fault}: healed after ${times.join(', ')} ms`);
}
process.exit();
