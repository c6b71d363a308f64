import type { ModelResponse, Plugin } from 'coxswain';
import { defineTool, fromAgent, LlmAgent } from 'coxswain';
import { ScriptedModel } from 'coxswain/testing';
import type { Print } from './say.ts';
import { say } from './say.ts';

/** Answers a question that was asked before without asking the model. */
function cache(): Plugin {
  const answers = new Map<string, ModelResponse>();
  // Ids are new each time; the rest of what was said last decides.
  const keyOf = (contents: readonly unknown[]) =>
    JSON.stringify(contents.at(-1), (name, value) => (name === 'id' ? undefined : value));
  let asked = '';
  return {
    name: 'cache',
    beforeModel(_, { contents }) {
      asked = keyOf(contents);
      return answers.get(asked);
    },
    afterModel(_, response) {
      answers.set(asked, response);
      return undefined;
    },
  };
}

/** Takes addresses out of what tools bring. */
const redact: Plugin = {
  name: 'redact',
  afterTool: (_, __, ___, result) => JSON.parse(JSON.stringify(result).replace(/\S+@\S+?\.\w+/g, '(an address)')),
};

export async function main(print: Print): Promise<void> {
  const model = new ScriptedModel([{ calls: [['lookup']] }, 'Ann rows on Mondays.']);
  const lookup = defineTool({
    name: 'lookup',
    description: 'Looks up a member.',
    inputSchema: { type: 'object' },
    execute: () => 'Ann, ann@example.org, Mondays',
  });
  const agent = new LlmAgent({ name: 'club', model, tools: [lookup] });
  const session = await fromAgent(agent, { plugins: [cache(), redact] }).open({}, { app: 'patterns' });
  await say(session, 'When does Ann row?', print);
  await say(session, 'When does Ann row?', print);
  print(`the model was asked ${model.requests.length} times`);
}
