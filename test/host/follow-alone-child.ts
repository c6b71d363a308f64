/**
 * Follows a session to its end; nothing else keeps this process. With `there` it only follows what another process does,
 * else it decides on an approval, and the run goes on by itself.
 */
import { openSqlite } from '../../src/adapters/stores/sqlite.ts';
import { createHost, defineTool, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

const store = openSqlite(process.argv[2] ?? '');
const model = new ScriptedModel([{ calls: [['pay', {}]] }, 'done']);
const pay = defineTool({ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, execute: () => 'paid' });
const host = createHost({
  app: 'shop',
  agents: [new LlmAgent({ name: 'clerk', model })],
  tools: [pay],
  store: store,
});
const session = await host.open('clerk', { sessionId: 'one', create: true });
if (process.argv[3] === 'there') process.stdout.write('here ');
else {
  for await (const _ of session.stream('go'));
  const [asked] = await host.approvals.list();
  await host.approvals.decide(asked?.request.requestId ?? '', { kind: 'approve' }, { by: { id: 'local' } });
}
for await (const event of session.events({ live: true })) {
  if (event.type === 'stream_end' && event.reason === 'completed') break;
}
process.stdout.write('followed to its end');
await host.close();
await store.close();
