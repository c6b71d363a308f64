import { fromAgent, LlmAgent, ParallelAgent, SequentialAgent } from 'coxswain';
import { ScriptedModel } from 'coxswain/testing';
import type { Print } from './say.ts';
import { say } from './say.ts';

export async function main(print: Print): Promise<void> {
  const model = new ScriptedModel({
    byAgent: { wind: ['Wind: 4 from the west.'], tide: ['Tide: high at noon.'], brief: ['Go out at noon, tack west.'] },
  });
  // Neither sees the other; the one that follows sees both.
  const both = new ParallelAgent({
    name: 'both',
    subAgents: [new LlmAgent({ name: 'wind', model }), new LlmAgent({ name: 'tide', model })],
  });
  const team = new SequentialAgent({ name: 'team', subAgents: [both, new LlmAgent({ name: 'brief', model })] });
  const session = await fromAgent(team).open({}, { app: 'patterns' });
  await say(session, 'How is it out there?', print);
}
