import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresDispatcher } from '../../src/adapters/nodes/index.ts';
import { newId } from '../../src/base/index.ts';
import { isCoxswainError } from '../../src/contracts/index.ts';
import type { SubmitOptions } from '../../src/host/background/index.ts';
import { postgresServer } from '../adapters/databases.ts';
import { randomFrom } from '../adapters/kill.ts';
import type { Child } from '../adapters/processes.ts';
import { startChild } from '../adapters/processes.ts';
import { faultsOf } from './check-history.ts';
import { percentile } from './kill-nodes.ts';
import { loadHost } from './load-host.ts';

// node test/nodes/load.ts [seconds, default 120] [nodes, default 3] [running, default 500] [sessions, default 5000]
//   [tenants, default 10] [modelMs, default 8000] [seed]: turns of several tenants over several nodes, one PostgreSQL.

const [seconds = 120, nodeCount = 3, running = 500, sessions = 5000, tenants = 10, modelMs = 8000, seed = 1] =
  process.argv.slice(2).map(Number);
if (postgresServer.skip) throw new Error(`no PostgreSQL: ${postgresServer.skip}`);
const random = randomFrom(seed);
const database = await postgresServer.make();
const url = database.url as string;
const schema = `queue_${newId().replaceAll('-', '').slice(0, 12)}`;
const store = await database.open();
await database.query(
  `CREATE TABLE effects (call_id text, tool text, pid integer, was_finished boolean, holds boolean);
  CREATE TABLE frozen (pid integer PRIMARY KEY)`,
);
/** Of each node: what it holds and what it takes, in MiB, each 20 seconds. */
const nodes: { child: Child; warnings: string[]; held: number[]; taken: number[] }[] = [];
let isOver = false;
let refused = 0;
let endsBy = Number.POSITIVE_INFINITY;
const dispatcher = await postgresDispatcher(url, { app: 'shop', schema });
const host = loadHost(store, { dispatcher, warn: () => {} }, modelMs);
try {
  for (let n = 0; n < nodeCount; n++) {
    const turns = String(Math.ceil(running / nodeCount) + 20);
    const child = startChild('../nodes/load-child.ts', url, schema, turns, String(modelMs));
    if ((await child.next()) !== 'ready') throw new Error('a node did not start');
    const node = { child, warnings: [] as string[], held: [] as number[], taken: [] as number[] };
    nodes.push(node);
    void (async () => {
      for (let line = await child.next(); line !== undefined; line = await child.next()) {
        const [, held, taken] = /^memory (\S+) (\S+)$/.exec(line) ?? [];
        if (held === undefined || taken === undefined) node.warnings.push(line);
        else {
          node.held.push(Number(held));
          node.taken.push(Number(taken));
        }
      }
    })();
  }
  const cpuBefore = cpuOf(nodes.map(({ child }) => child.pid));
  const begun = performance.now();
  const until = begun + seconds * 1000;
  endsBy = until + 60_000;
  const ended: { tenant: number; ms: number; at: number }[] = [];
  const messages: { session: string; words: string }[] = [];
  const waiting = new Map<string, () => void>();
  const free = Array.from({ length: tenants }, (_, tenant) =>
    Array.from({ length: Math.floor(sessions / tenants) }, (_, n) => ({ id: `t${tenant}-s${n}`, used: 0 })),
  );
  const watching = (async () => {
    while (!isOver) {
      const before = [...waiting];
      const open = new Set(
        (await database.query('SELECT session_id FROM adk_open_turns')).map(({ session_id }) => String(session_id)),
      );
      for (const [id, tell] of before) if (!open.has(id)) tell();
      await sleep(100);
    }
  })();
  const works = async (worker: number) => {
    const tenant = worker % tenants;
    // They do not all begin at once.
    await sleep(random(2 * modelMs));
    while (performance.now() < until) {
      const mine = free[tenant] ?? [];
      const session = mine.splice(random(mine.length), 1)[0];
      if (!session) throw new Error('too few sessions');
      const words = `order ${session.used++} of ${session.id}.`;
      const at = performance.now();
      await submit(words, {
        sessionId: session.id,
        create: session.used === 1,
        userId: `tenant${tenant}`,
      });
      messages.push({ session: session.id, words });
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.set(session.id, resolve);
      await promise;
      waiting.delete(session.id);
      ended.push({ tenant, ms: performance.now() - at, at: performance.now() });
      mine.push(session);
    }
  };
  const loads: number[] = [];
  const measuring = (async () => {
    while (!isOver) {
      loads.push(loadavg()[0] ?? 0);
      await sleep(2000);
    }
  })();
  await Promise.all(Array.from({ length: running }, (_, worker) => works(worker)));
  isOver = true;
  await Promise.all([watching, measuring]);
  const tookSeconds = (performance.now() - begun) / 1000;
  const cpu = cpuOf(nodes.map(({ child }) => child.pid)) - cpuBefore;
  const steady = ended.filter(({ at }) => at > begun + 2.2 * modelMs && at < until);
  const times = steady.map(({ ms }) => ms);
  const perTenant = Array.from(
    { length: tenants },
    (_, tenant) => steady.filter((one) => one.tenant === tenant).length,
  );
  console.log(
    `${nodeCount} nodes, ${tenants} tenants, ${sessions} sessions, ${running} turns at a time, ${Math.round(tookSeconds)} s`,
  );
  console.log(
    `${ended.length} turns; ${(steady.length / ((until - begun - 2.2 * modelMs) / 1000)).toFixed(1)} a second when all run`,
  );
  console.log(
    `a turn (${2 * modelMs} ms of it are the model's): p50 ${percentile(times, 50)} ms, p99 ${percentile(times, 99)} ms`,
  );
  console.log(`turns of a tenant: least ${Math.min(...perTenant)}, most ${Math.max(...perTenant)}`);
  for (const [n, { held, taken }] of nodes.entries()) {
    const shown = (of: readonly number[]) => of.map(Math.round).join(' ');
    console.log(
      `node ${n}: heap after a collection ${shown(held)} MiB, ${slopeOf(held)} MiB a minute in the second half`,
    );
    console.log(`node ${n}: memory ${shown(taken)} MiB, ${slopeOf(taken)} a minute in the second half`);
  }
  console.log(`load average ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}`);
  console.log(`${refused} turns were refused at first, and taken later`);
  console.log(`CPU of the nodes: ${((1000 * cpu) / ended.length).toFixed(1)} ms a turn`);
  const [rows] = await database.query(
    `SELECT count(*) AS events, pg_total_relation_size('adk_events') AS bytes FROM adk_events`,
  );
  console.log(
    `${rows?.events} events, ${Math.round(Number(rows?.bytes) / Number(rows?.events))} bytes each with indexes`,
  );
  const warnings = nodes.flatMap((node) => node.warnings);
  console.log(`${warnings.length} warnings${warnings.length > 0 ? `, the first: ${warnings[0]}` : ''}`);
  const faults = (await faultsOf(database.query, { messages: messages.slice(0, 500) })).filter(
    (one) => !one.includes('held'),
  );
  console.log(faults.length === 0 ? 'every acknowledged event stored, once, in order' : faults.slice(0, 5).join('\n'));
} finally {
  isOver = true;
  for (const { child } of nodes) await child.kill();
  await host.close();
  await dispatcher.close();
  await store.close();
  await database.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await database.drop();
}
process.exit();

/** A host that has too much to do says so, and when to come again. */
async function submit(words: string, options: SubmitOptions): Promise<void> {
  for (;;) {
    try {
      await host.submit('clerk', words, options);
      return;
    } catch (error) {
      if (!isCoxswainError(error) || !error.retryable || performance.now() > endsBy) throw error;
      refused++;
      await sleep(200);
    }
  }
}

/** By least squares over the second half of values that were taken each 20 seconds. */
function slopeOf(values: readonly number[]): string {
  const half = values.slice(Math.floor(values.length / 2));
  const mean = half.reduce((sum, one) => sum + one, 0) / half.length;
  const middle = (half.length - 1) / 2;
  const [above, below] = half.reduce(
    ([a, b], one, n) => [a + (n - middle) * (one - mean), b + (n - middle) ** 2],
    [0, 0],
  );
  return (3 * (above / below)).toFixed(2);
}

/** Seconds of both kinds of CPU time. */
function cpuOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return sum + (Number(fields[11]) + Number(fields[12])) / 100;
  }, 0);
}
