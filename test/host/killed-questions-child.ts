/** Begins a turn whose call asks, says the id of the question and its digest, and waits to be killed. */
import { openSqlite } from '../../src/adapters/stores/sqlite.ts';
import { createHost } from '../../src/index.ts';
import { asker, clerk, policy } from './killed-questions-kit.ts';

const [, , path = '', how = ''] = process.argv;
const host = createHost({
  app: 'shop',
  agents: [clerk()],
  tools: [asker(how, { account: 'savings' }, (line) => process.stdout.write(`${line}\n`))],
  policy,
  store: openSqlite(path),
});
const session = await host.open('clerk', { sessionId: 's', create: true });
for await (const event of session.stream('go')) {
  if (event.type === 'elicitation_request')
    process.stdout.write(`asked ${event.requestId} ${event.approval?.previewDigest ?? '-'}\n`);
}
// It is killed while it holds what its handler has asked.
setInterval(() => {}, 60_000);
