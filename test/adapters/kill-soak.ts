import { shared } from './databases.ts';
import { killWriters, randomFrom } from './kill.ts';

// node test/adapters/kill-soak.ts [rounds, default 200] [seed]: the crash test of every store, for longer.

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
  } finally {
    await database.drop();
  }
}
