import { fromAgent, LlmAgent, LoopAgent } from 'coxswain';
import { exitLoopTool } from 'coxswain/runtime';
import { ScriptedModel } from 'coxswain/testing';
import type { Print } from './say.ts';
import { say } from './say.ts';

export async function main(print: Print): Promise<void> {
  const model = new ScriptedModel({
    byAgent: {
      writer: ['Draft one.', 'Draft two.'],
      critic: ['Shorter, please.', { calls: [['exit_loop']] }],
    },
  });
  const loop = new LoopAgent({
    name: 'refine',
    // A cap, should the critic never be content.
    maxIterations: 5,
    subAgents: [
      new LlmAgent({ name: 'writer', model }),
      new LlmAgent({ name: 'critic', model, tools: [exitLoopTool()] }),
    ],
  });
  const session = await fromAgent(loop).open({}, { app: 'patterns' });
  await say(session, 'Write a sentence.', print);
}
