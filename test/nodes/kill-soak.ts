import { newId } from '../../src/base/index.ts';
import { postgresServer } from '../adapters/databases.ts';
import { killNodes, percentile } from './kill-nodes.ts';

// node test/nodes/kill-soak.ts [kills, default 100] [nodes, default 3] [seed]: nodes over one PostgreSQL, killed and frozen.

const rounds = Number(process.argv[2] ?? 100);
const nodes = Number(process.argv[3] ?? 3);
const seed = Number(process.argv[4] ?? Date.now() % 2 ** 32);
if (postgresServer.skip) throw new Error(`no PostgreSQL: ${postgresServer.skip}`);
console.log(`${rounds} kills of ${nodes} nodes, seed ${seed}`);
const database = await postgresServer.make();
const schema = `queue_${newId().replaceAll('-', '').slice(0, 12)}`;
try {
  const { turns, takeovers, late } = await killNodes(database, schema, { nodes, rounds, seed, log: console.log });
  console.log(`${turns} turns, ${takeovers.length} takeovers: every acknowledged event stored, once, in order`);
  console.log(`${late} tools begun by a thawed node that had lost its turn`);
  for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
    const times = takeovers.filter((one) => one.signal === signal).map(({ ms }) => ms);
    console.log(
      `${signal}: takeover p50 ${percentile(times, 50)} ms, p99 ${percentile(times, 99)} ms, of ${times.length}`,
    );
  }
  const all = takeovers.map(({ ms }) => ms);
  console.log(`both: takeover p50 ${percentile(all, 50)} ms, p99 ${percentile(all, 99)} ms`);
} finally {
  await database.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await database.drop();
}
process.exit();
