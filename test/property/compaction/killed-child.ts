import { writeSync } from 'node:fs';
import { openSqlite } from '../../../src/adapters/stores/sqlite.ts';
import { createHost, run } from '../../../src/index.ts';
import { clerk } from './killed-clerk.ts';

// Says where it has come to, and waits there to be killed.

const [path = '', where = ''] = process.argv.slice(2);
const forever = () => new Promise<never>(() => setInterval(() => {}, 1000));
const reach = async (place: string): Promise<void> => {
  if (place !== where) return;
  writeSync(1, `${place}\n`);
  await forever();
};

const store = openSqlite(path);
const append = store.append.bind(store);
store.append = async (key, events, options) => {
  const compacts = events.some(({ actions }) => actions.compacted?.summary !== undefined);
  if (compacts) await reach('before the append');
  const stored = await append(key, events, options);
  if (compacts) await reach('behind the append');
  return stored;
};
const host = createHost({
  app: 'shop',
  userId: 'ann',
  agents: [clerk(() => reach('before the summary'))],
  store,
});
const session = await host.open('clerk', { sessionId: 's', create: true });
for (const words of ['one', 'two', 'three']) await run(session, words);
writeSync(1, 'the end\n');
