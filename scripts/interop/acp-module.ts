/** An agent module for editors: a prompt `call NAME {…}` calls a tool, anything else is said again. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentModule, AgentModuleContext } from '../../src/embed/index.ts';
import type { ContentPart, Model } from '../../src/index.ts';
import { defineTool, LlmAgent, textOfParts } from '../../src/index.ts';

const model: Model = {
  name: 'parrot',
  async *generate({ contents }) {
    const last = (contents.at(-1)?.parts ?? []) as ContentPart[];
    const words = textOfParts(last);
    const [, name, args = '{}'] = /call (\S+)\s*(\{.*\})?/.exec(words) ?? [];
    const parts: ContentPart[] =
      name !== undefined && !last.some(({ type }) => type === 'function_response')
        ? [{ type: 'function_call', id: 'c', name, args: JSON.parse(args) }]
        : [{ type: 'text', text: name === undefined && words !== '' ? `you said ${words}` : 'that is all' }];
    yield { content: { role: 'model', parts }, turnComplete: true, finishReason: 'stop' };
  },
};

export default ({ workspace = '.' }: AgentModuleContext): AgentModule => ({
  agent: new LlmAgent({ name: 'parrot', description: 'Repeats.', model }),
  tools: [
    defineTool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: { type: 'object' },
      execute: () => appendFileSync(join(workspace, 'paid.txt'), 'paid\n'),
    }),
    defineTool({
      name: 'peek',
      description: 'Looks, and has to be asked about.',
      inputSchema: { type: 'object' },
      annotations: { readOnly: true },
      needsApproval: true,
      execute: () => 'nothing new',
    }),
  ],
});
