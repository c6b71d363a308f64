/** An agent module that prints wherever it can. */
import { execFileSync } from 'node:child_process';
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentModule, AgentModuleContext } from '../../src/embed/index.ts';
import { payTool, puppet } from './agents.ts';

console.log('printed at import');
process.stdout.write('written at import');

export default function module({ workspace = '.', note }: AgentModuleContext): AgentModule {
  note(`pid ${process.pid}`);
  return {
    agent: puppet(),
    tools: [
      payTool([], join(workspace, 'ledger.txt')),
      {
        name: 'chatty',
        description: 'Prints a line.',
        inputSchema: { type: 'object' },
        annotations: { readOnly: true },
        execute() {
          console.log('a line');
          return 'said';
        },
      },
      {
        name: 'stray',
        description: 'Lets go of a promise that is rejected.',
        inputSchema: { type: 'object' },
        annotations: { readOnly: true },
        async execute() {
          void Promise.reject(new Error('let go'));
          await new Promise((resolve) => setImmediate(resolve));
          return 'still here';
        },
      },
      {
        name: 'noisy',
        description: 'Prints.',
        inputSchema: { type: 'object' },
        annotations: { readOnly: true },
        execute() {
          console.log('{"jsonrpc":"2.0","id":1,"result":{}}');
          console.error('on stderr');
          writeSync(1, 'past every stream\n');
          execFileSync(process.execPath, ['-e', 'console.log("a grandchild")'], { stdio: 'inherit' });
          return 'quiet';
        },
      },
    ],
  };
}
