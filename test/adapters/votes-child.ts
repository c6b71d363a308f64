import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { openStore } from '../../src/adapters/stores/open-store.ts';
import { quorumHost, vote } from './votes-host.ts';

// Another process on the same database: people there answer all at once what it is told of, one line each.

const [url = ''] = process.argv.slice(2);
const host = quorumHost(await openStore(url), () => {});
const session = await host.open('bot', { sessionId: 's' });
writeSync(1, 'ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const [requestId = '', ...people] = line.split(' ');
  const came = await Promise.all(people.map((id) => vote(session, requestId, id)));
  writeSync(1, `${JSON.stringify(came)}\n`);
}
process.exit();
