/**
 * An agent module that is made for a folder, and calls a tool that only an editor's server has. Notes its end in
 * `closed.txt` of the folder.
 */
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentModule, AgentModuleContext } from '../../src/embed/index.ts';
import { LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

export default ({ workspace = 'no folder' }: AgentModuleContext): AgentModule => ({
  agent: new LlmAgent({
    name: 'folder',
    model: new ScriptedModel([{ calls: [['echo', { text: `from ${workspace}` }]] }, { text: `done in ${workspace}` }]),
  }),
  close: () => {
    if (existsSync(workspace)) appendFileSync(join(workspace, 'closed.txt'), 'closed\n');
  },
});
