import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shared } from './databases.ts';
import { killForks, killWriters, randomFrom } from './kill.ts';
import { killServer } from './kill-servers.ts';
import { find, mariadb, postgres } from './servers.ts';

// node test/adapters/kill-soak.ts [rounds, default 200] [seed]: the crash test of every store, for longer.

process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'coxswain-tests-compile-cache');
const rounds = Number(process.argv[2] ?? 200);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32);
console.log(`${rounds} kills on each store, seed ${seed}`);
for (const server of shared) {
  if (server.skip) continue;
  const database = await server.make();
  try {
    const start = performance.now();
    const events = await killWriters(database, rounds, randomFrom(seed));
    console.log(
      `${server.name}: ${events} events, all consistent, ${Math.round((performance.now() - start) / 1000)} s`,
    );
    const copying = Math.ceil(rounds / 4);
    await killForks(database, copying, randomFrom(seed));
    console.log(`${server.name}: ${copying} kills while it copies, no copy that is seen is half one`);
  } finally {
    await database.drop();
  }
}
for (const recipe of [postgres, mariadb]) {
  if (!find(recipe.program)) continue;
  const times = Math.ceil(rounds / 10);
  const start = performance.now();
  const events = await killServer(recipe, times, randomFrom(seed));
  const seconds = Math.round((performance.now() - start) / 1000);
  console.log(`${recipe.name} itself, ${times} times: ${events} events acknowledged, none lost, ${seconds} s`);
}
