import type { Model } from 'coxswain';
import { defineTool, LlmAgent, rulePolicy } from 'coxswain';

export const tools = [
  defineTool({
    name: 'send_letter',
    description: 'Sends a letter to a person.',
    inputSchema: {
      type: 'object',
      properties: { to: { type: 'string' }, text: { type: 'string' } },
      required: ['to', 'text'],
    },
    execute: ({ to, text }) => `sent to ${to}: ${text}`,
  }),
];

/** A person looks at every letter before it is sent; at one that is long, an editor does. */
export const policy = rulePolicy([
  {
    id: 'long',
    tool: 'send_letter',
    args: { '/text': { minLength: 60 } },
    outcome: 'ask',
    approvers: { roles: ['editor'] },
  },
  { id: 'letters', tool: 'send_letter', outcome: 'ask' },
]);

/** Stands in for a model: it writes the letter that it is asked for, and says what came of it. */
const standIn: Model = {
  name: 'stand-in',
  async *generate({ contents }) {
    const newest = contents.at(-1)?.parts.at(-1);
    const said = newest?.type === 'text' ? newest.text : '';
    const [, to, text] = /tell (\S+) (?:that )?(.+)/i.exec(said) ?? [];
    const call = to && text ? { to, text: `Dear ${to}, ${text}.` } : undefined;
    let words = 'Whom do I tell what? Try: tell Bo that lunch is at 12.';
    if (call) words = `I write to ${to}.`;
    else if (newest?.type === 'function_response')
      words = newest.isError ? 'It stays here, then.' : 'It is on its way.';
    for (const word of words.split(/(?<= )/)) {
      yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: word }] } };
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const calls = call
      ? [{ type: 'function_call' as const, id: crypto.randomUUID(), name: 'send_letter', args: call }]
      : [];
    yield {
      content: { role: 'model', parts: [{ type: 'text', text: words }, ...calls] },
      turnComplete: true,
      finishReason: call ? 'tool_calls' : 'stop',
    };
  },
};

export const agent = new LlmAgent({ name: 'writer', description: 'Writes letters.', model: standIn });
