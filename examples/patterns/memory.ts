import { fromAgent, InMemorySessionService, LlmAgent } from 'coxswain';
import { InMemoryMemoryService, loadMemoryTool } from 'coxswain/runtime';
import { ScriptedModel } from 'coxswain/testing';
import type { Print } from './say.ts';
import { say } from './say.ts';

export async function main(print: Print): Promise<void> {
  const store = new InMemorySessionService();
  const memory = new InMemoryMemoryService();
  const model = new ScriptedModel([
    'Noted.',
    { calls: [['load_memory', { query: 'boat name' }]] },
    ({ contents }) =>
      JSON.stringify(contents).includes('Albatross') ? 'Your boat is the Albatross.' : 'I do not know.',
  ]);
  const agent = fromAgent(new LlmAgent({ name: 'mate', model, tools: [loadMemoryTool()] }), {
    store,
    services: { memory },
  });
  const context = { app: 'patterns', userId: 'ann' };
  await say(await agent.open({ sessionId: 'monday', create: true }, context), 'My boat is called Albatross.', print);

  const key = { ...context, id: 'monday' };
  await memory.addSession(key, (await store.get(key))?.events ?? []);
  await say(await agent.open({ sessionId: 'friday', create: true }, context), 'What is the name of my boat?', print);
}
