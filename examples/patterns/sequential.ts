import { fromAgent, LlmAgent, SequentialAgent } from 'coxswain';
import { ScriptedModel } from 'coxswain/testing';
import type { Print } from './say.ts';
import { say } from './say.ts';

export async function main(print: Print): Promise<void> {
  const model = new ScriptedModel({
    byAgent: {
      outline: ['rowing, steering, landing'],
      write: [({ systemInstruction }) => `A text about ${systemInstruction?.split(': ')[1]}.`],
    },
  });
  const team = new SequentialAgent({
    name: 'team',
    subAgents: [
      new LlmAgent({ name: 'outline', model, instruction: 'Outline the text.', outputKey: 'plan' }),
      new LlmAgent({ name: 'write', model, instruction: 'Write it along these points: {plan}' }),
    ],
  });
  const session = await fromAgent(team).open({}, { app: 'patterns' });
  await say(session, 'Write about boats.', print);
}
