import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ContentPart } from '../../../src/contracts/index.ts';
import { defineAgentTool, defineTool, textOfParts } from '../../../src/contracts/index.ts';
import type { AgentModule, AgentModuleContext } from '../../../src/embed/index.ts';
import type { Model } from '../../../src/index.ts';
import { LlmAgent } from '../../../src/index.ts';

/** Does what it is told: `say TEXT`, `call TOOL {…} …`, `hang`, `chatter`, `refuse`, `fail`, `cut TEXT`. After a call it says what it got. */
const model: Model = {
  name: 'puppet',
  async *generate({ contents }, { stream, signal }) {
    const last = contents.at(-1)?.parts ?? [];
    const [verb = '', ...rest] = textOfParts(last as ContentPart[]).split(' ');
    const usage = { inputTokens: 10, outputTokens: 5 };
    const answer = (parts: ContentPart[], finishReason = 'stop') => ({
      content: { role: 'model' as const, parts },
      finishReason,
      turnComplete: true,
      model: 'puppet',
      usage,
    });
    const got = last.filter((part) => part.type === 'function_response');
    if (got.length > 0) {
      yield answer([{ type: 'text', text: got.map(({ response }) => JSON.stringify(response)).join(' ') }]);
    } else if (verb === 'call') {
      const calls = [...rest.join(' ').matchAll(/(\w+) (\{[^}]*\})/g)].map(([, name = '', args = '']): ContentPart => {
        return { type: 'function_call', id: name, name, args: JSON.parse(args) as Record<string, unknown> };
      });
      yield answer(calls, 'tool_calls');
    } else if (verb === 'hang') {
      if (stream) yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: 'hanging' }] } };
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
    } else if (verb === 'chatter') {
      while (!signal.aborted) {
        await wait(1);
        yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: 'la ' }] } };
      }
      throw signal.reason;
    } else if (verb === 'fail') {
      throw new Error('the model broke\nin two lines');
    } else {
      const end = verb === 'refuse' ? 'refusal' : verb === 'cut' ? 'length' : 'stop';
      yield answer([{ type: 'text', text: rest.join(' ') }], end);
    }
  },
};

const mail = defineAgentTool({
  name: 'mail',
  description: 'Reads mail.',
  annotations: { readOnly: true },
  inputSchema: { type: 'object' },
  async execute(_, context) {
    const key = await context.getAuthResponse('mail');
    if (key === undefined)
      return context.requestCredential({ key: 'mail', scheme: 'api_key', hint: 'The key of the mail?' });
    return `read with ${typeof key === 'string' ? `${key.length} characters` : Object.keys(key as object).join()}`;
  },
});

/** `pay` writes to `ledger.txt` of the workspace, for whom its file `payee` names, and does not come back while there is a file named `hold`. */
export default function puppet({ workspace = '.', env }: AgentModuleContext): AgentModule {
  const here = (name: string) => join(workspace, name);
  const payee = () => (existsSync(here('payee')) ? readFileSync(here('payee'), 'utf8') : 'nobody');
  return {
    agent: new LlmAgent({ name: 'puppet', model, tools: [mail] }),
    tools: [
      defineTool({
        name: 'pay',
        description: 'Pays an amount.',
        kind: 'other',
        annotations: { readOnly: false, idempotent: false },
        inputSchema: {
          type: 'object',
          properties: { amount: { type: 'number' }, to: { type: 'string' } },
          required: ['amount'],
        },
        preview: ({ amount, to }) => [{ type: 'text', text: `pays ${amount} to ${to ?? payee()}` }],
        async execute({ amount }, context) {
          appendFileSync(here('ledger.txt'), `${amount}\n`);
          context.progress({ progress: 1, total: 2 });
          while (existsSync(here('hold')) && !context.signal.aborted) await wait(5);
          return `paid ${amount}`;
        },
      }),
      defineTool({
        name: 'seal',
        description: 'Seals a letter as it is.',
        annotations: { fixedArgs: true },
        inputSchema: { type: 'object', properties: { letter: { type: 'number' } }, required: ['letter'] },
        execute: ({ letter }) => `sealed ${letter}`,
      }),
      defineTool({
        name: 'sign',
        description: 'Asks by itself whether it shall.',
        annotations: { readOnly: true },
        inputSchema: { type: 'object' },
        execute(_, context) {
          if (context.confirmation) return 'signed';
          return context.requestConfirmation({ hint: 'Sign for 50 people?' });
        },
      }),
      defineTool({
        name: 'wonder',
        description: 'Asks while it runs.',
        annotations: { readOnly: true },
        inputSchema: { type: 'object' },
        execute: async (_, context) => (await context.elicit?.({ message: 'Shall I?' }))?.action,
      }),
      defineTool({
        name: 'look',
        description: 'Looks.',
        kind: 'read',
        annotations: { readOnly: true },
        inputSchema: { type: 'object' },
        execute: () => 'seen',
      }),
    ],
    close: () => (env.PUPPET_NEVER_CLOSES ? new Promise<void>(() => {}) : undefined),
  };
}
