/** A server over stdio for the tests, made of the library as a user would. */
import { appendFileSync } from 'node:fs';
import { stdout as early } from 'node:process';
import { Writable } from 'node:stream';
import { claimStdout, serveMcpStdio } from '../../src/host/mcp/index.ts';
import { createHost, InMemorySessionService } from '../../src/index.ts';
import { payTool, puppet, waitTool } from './agents.ts';

claimStdout();
const ledger = process.env.LEDGER;
const note = (line: string) => ledger && appendFileSync(ledger, `${line}\n`);
const waiting = waitTool();
void waiting.started.then(() => note('wait started'));
void waiting.ended.then((how) => note(`wait ${how}`));
console.log('printed at start');
const host = createHost({
  app: 'stdio',
  agents: [puppet()],
  tools: [
    payTool([], ledger),
    waiting.tool,
    {
      name: 'noisy',
      description: 'Prints.',
      inputSchema: { type: 'object' },
      annotations: { readOnly: true },
      execute() {
        console.log('x');
        console.info('{"jsonrpc":"2.0"');
        console.table([1]);
        process.stdout.write('raw');
        Reflect.apply(Writable.prototype.write, process.stdout, ['past its own write']);
        early.write('by an older name');
        process.stdout.end('at its end');
        return 'quiet';
      },
    },
  ],
  store: new InMemorySessionService(),
});
const server = await serveMcpStdio(host, { progressMs: 500 });
await server.closed;
await host.close();
