import { newId } from '../../src/base/index.ts';
import { postgresServer } from '../adapters/databases.ts';

// node test/nodes/scan-cost.ts [sessions, default 100000] [open turns, default 10000] [running, default 100]: what one look
// of a node for turns that nobody runs costs, in milliseconds: each second for those whose node has died, every fifth time for
// all.

const sessions = Number(process.argv[2] ?? 100_000);
const turns = Number(process.argv[3] ?? 10_000);
const running = Number(process.argv[4] ?? 100);
if (postgresServer.skip) throw new Error(`no PostgreSQL: ${postgresServer.skip}`);
const database = await postgresServer.make();
const store = await database.open();
try {
  const owner = `'{"pid":1,"host":"${newId()}","uid":"x"}'`;
  await database.query(
    `INSERT INTO adk_sessions (app_name, user_id, id, inserted_at, updated_at, last_seq, epoch)
      SELECT 'shop', 'u' || (n % 1000), 's-' || md5(n::text), now(), now(), 7, 1 FROM generate_series(1, ${sessions}) n`,
  );
  await database.query(
    `INSERT INTO adk_open_turns SELECT app_name, user_id, id, 'clerk', now() FROM adk_sessions ORDER BY id LIMIT ${turns}`,
  );
  await database.query(
    `UPDATE adk_sessions s SET owner = ${owner} FROM (SELECT * FROM adk_open_turns LIMIT ${running}) t
      WHERE s.user_id = t.user_id AND s.id = t.session_id`,
  );
  await database.query('ANALYZE adk_sessions');
  await database.query('ANALYZE adk_open_turns');
  for (const [what, options] of [
    ['first look at turns whose node has died', { silentMs: 1750 }],
    ['turns whose node has died', { silentMs: 1750 }],
    ['all turns', { silentMs: 1750, changedSince: Date.now() - 30 * 60_000 }],
  ] as const) {
    const times: number[] = [];
    let found = 0;
    for (let n = 0; n < (what.startsWith('first') ? 1 : 20); n++) {
      const begun = performance.now();
      found = (await store.unattended({ app: 'shop' }, options)).length;
      times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    const [p50, most] = [times[Math.floor(times.length / 2)] ?? 0, times.at(-1) ?? 0];
    console.log(`${what}: ${found} found, p50 ${p50.toFixed(1)} ms, most ${most.toFixed(1)} ms`);
  }
} finally {
  await store.close();
  await database.drop();
}
