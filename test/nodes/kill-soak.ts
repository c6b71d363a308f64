import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { newId } from '../../src/base/index.ts';
import { postgresServer } from '../adapters/databases.ts';
import { ownRestate } from './dispatchers.ts';
import type { Killed } from './kill-nodes.ts';
import { killNodes, percentile, phases, signals } from './kill-nodes.ts';
import { restateProgram } from './restate-server.ts';

// node test/nodes/kill-soak.ts [kills, default 100] [nodes, default 3] [seed] [--dispatcher postgres|restate]
// [--seconds N, after which nothing more is killed] [--silent MS, default 1750: silentMs of the nodes]: nodes over one PostgreSQL,
// killed and frozen.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dispatcher: { type: 'string', default: 'postgres' },
    seconds: { type: 'string', default: 'Infinity' },
    silent: { type: 'string', default: '1750' },
  },
});
const { dispatcher, seconds, silent } = values;
process.env.COXSWAIN_TEST_SILENT_MS = silent;
if (dispatcher !== 'postgres' && dispatcher !== 'restate') throw new Error('--dispatcher: postgres or restate');
const [rounds = 100, nodes = 3, seed = Date.now() % 2 ** 32] = positionals.map(Number);
if (postgresServer.skip) throw new Error(`no PostgreSQL: ${postgresServer.skip}`);
if (dispatcher === 'restate' && restateProgram === undefined) throw new Error('no Restate: npm install it');
console.log(`${rounds} kills of ${nodes} nodes, turns by ${dispatcher}, seed ${seed}`);
const database = await postgresServer.make();
const schema = `queue_${newId().replaceAll('-', '').slice(0, 12)}`;
const restate = dispatcher === 'restate' ? await ownRestate() : undefined;
try {
  const { kills, turns, takeovers, late } = await killNodes(database, restate?.word ?? schema, {
    nodes,
    rounds,
    seed,
    mostMs: Number(seconds) * 1000,
    log: console.log,
    ...(restate ? { behind: restate.behind } : {}),
  });
  console.log(`${turns} turns, ${takeovers.length} takeovers: every acknowledged event stored, once, in order`);
  console.log(`${late} tools begun by a thawed node that had lost its turn`);
  const show = (what: string, isMeant: (of: Killed['kills'][number]) => boolean) => {
    const times = takeovers.filter(isMeant).map(({ ms }) => ms);
    const [p50, p99] = [percentile(times, 50), percentile(times, 99)];
    console.log(
      `${what}: ${kills.filter(isMeant).length} kills, ${times.length} takeovers, p50 ${p50} ms, p99 ${p99} ms`,
    );
  };
  for (const one of signals) {
    for (const where of phases) show(`${one} in ${where}`, ({ signal, phase }) => signal === one && phase === where);
  }
  for (const one of signals) show(one, ({ signal }) => signal === one);
  show('all', () => true);
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
} finally {
  await restate?.close();
  await database.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await database.drop();
}
process.exit();
