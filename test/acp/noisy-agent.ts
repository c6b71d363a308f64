/** An agent module that writes to stdout, as modules do. */
import { spawnSync } from 'node:child_process';
import { defineTool } from '../../src/contracts/index.ts';
import type { AgentModule } from '../../src/embed/index.ts';
import { LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

console.log('a module says hello on stdout');

export default (): AgentModule => ({
  agent: new LlmAgent({
    name: 'noisy',
    model: new ScriptedModel([{ calls: [['rm', { file: 'x' }]] }, { text: 'done' }]),
  }),
  tools: [
    defineTool({
      name: 'rm',
      description: 'Removes a file.',
      inputSchema: { type: 'object' },
      execute: () => {
        console.log('removed on stdout');
        process.stdout.write('half a line');
        spawnSync(process.execPath, ['-e', 'console.log("a child of a tool")'], { stdio: 'inherit' });
        return 'gone';
      },
    }),
  ],
});
