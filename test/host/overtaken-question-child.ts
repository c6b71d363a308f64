/** Takes up a session in which a handler of another process has asked, runs the call again, and never ends. */
import { openSqlite } from '../../src/adapters/stores/sqlite.ts';
import { createHost, defineTool, LlmAgent, presetPolicy } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  inputSchema: { type: 'object' },
  execute: () => {
    process.stdout.write('paid\n');
    return new Promise(() => setInterval(() => {}, 60_000));
  },
});
const host = createHost({
  app: 'shop',
  agents: [new LlmAgent({ name: 'clerk', model: new ScriptedModel(['done']) })],
  tools: [pay],
  policy: presetPolicy('autonomous'),
  sessions: openSqlite(process.argv[2] ?? ''),
});
const session = await host.open('clerk', { sessionId: 's' });
const [asked] = await session.pending();
process.stdout.write(`${asked?.kind}\n`);
await session.respond(asked?.requestId ?? '', { kind: 'approve' });
for await (const _ of session.stream({ kind: 'continue' }));
