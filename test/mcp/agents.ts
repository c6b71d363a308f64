import { appendFileSync } from 'node:fs';
import type { AnyTool, ContentPart, ToolCallContext } from '../../src/contracts/index.ts';
import { defineTool, textOfParts } from '../../src/contracts/index.ts';
import type { Model } from '../../src/index.ts';
import { LlmAgent } from '../../src/index.ts';

/** Does what it is told: `say TEXT`, `call TOOL {…}`, `hang`, `fail`, `media`. After a call it says what it got. */
export const puppetModel: Model = {
  name: 'puppet',
  async *generate({ contents }, { signal }) {
    const last = contents.at(-1)?.parts ?? [];
    const got = last.filter((part) => part.type === 'function_response');
    const answer = (parts: ContentPart[], finishReason = 'stop') => ({
      content: { role: 'model' as const, parts },
      finishReason,
      turnComplete: true,
      model: 'puppet',
      usage: { inputTokens: 10, outputTokens: 5 },
    });
    if (got.length > 0) {
      yield answer([{ type: 'text', text: `got ${got.map(({ response }) => JSON.stringify(response)).join(' ')}` }]);
      return;
    }
    const [verb = '', ...rest] = textOfParts(last as ContentPart[]).split(' ');
    const words = rest.join(' ');
    switch (verb) {
      case 'call': {
        const calls = [...words.matchAll(/(\w+) (\{[^}]*\})/g)].map(([, name = '', args = '']): ContentPart => {
          return { type: 'function_call', id: name, name, args: JSON.parse(args) as Record<string, unknown> };
        });
        yield answer([{ type: 'text', text: 'let me see' }, ...calls], 'tool_calls');
        return;
      }
      case 'hang':
        await new Promise((_, reject) => {
          if (signal.aborted) reject(signal.reason);
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        });
        return;
      case 'fail':
        throw new Error('the model broke');
      case 'count':
        yield answer([{ type: 'text', text: `${contents.filter(({ role }) => role === 'user').length} said` }]);
        return;
      default:
        yield answer([{ type: 'text', text: words }]);
    }
  },
};

export const puppet = () => new LlmAgent({ name: 'puppet', description: 'Does what it is told.', model: puppetModel });

/** A tool that needs a yes; notes each run in `runs` and, if there is one, in a file. */
export function payTool(runs: unknown[], ledger?: string): AnyTool {
  return defineTool({
    name: 'pay',
    description: 'Pays an amount.',
    inputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
    preview: ({ amount }) => [{ type: 'text', text: `pays ${amount} euro` }],
    execute({ amount }) {
      runs.push(amount);
      if (ledger) appendFileSync(ledger, `${amount}\n`);
      return `paid ${amount}`;
    },
  });
}

/** A read-only tool that waits until it is let go or called off. */
export function waitTool() {
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string>();
  const released = Promise.withResolvers<void>();
  const tool = defineTool({
    name: 'wait',
    description: 'Waits.',
    annotations: { readOnly: true },
    inputSchema: { type: 'object' },
    async execute(_, { signal }: ToolCallContext) {
      started.resolve();
      const off = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      await Promise.race([released.promise, off]);
      ended.resolve(signal.aborted ? 'aborted' : 'released');
      return 'waited';
    },
  });
  return { tool, started: started.promise, ended: ended.promise, release: () => released.resolve() };
}
