import { agentTool, fromAgent, LlmAgent } from 'coxswain';
import { ScriptedModel } from 'coxswain/testing';
import type { Print } from './say.ts';
import { say } from './say.ts';

export async function main(print: Print): Promise<void> {
  const model = new ScriptedModel({
    byAgent: {
      host: [{ calls: [['translator', { request: 'good morning' }]] }, 'In Norwegian: god morgen.'],
      translator: ['god morgen'],
    },
  });
  const translator = new LlmAgent({ name: 'translator', description: 'Translates into Norwegian.', model });
  // A history of its own; what it says last is the result.
  const host = new LlmAgent({ name: 'host', model, tools: [agentTool(translator)] });
  const session = await fromAgent(host).open({}, { app: 'patterns' });
  await say(session, 'How do I say good morning in Norwegian?', print);
}
