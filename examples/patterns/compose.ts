import { composeAgent, fromAgent } from 'coxswain';
import type { CompositionNode } from 'coxswain/runtime';
import { ScriptedModel } from 'coxswain/testing';
import type { Print } from './say.ts';
import { say } from './say.ts';

/** The team as data: it may as well come from a file. */
const brief: CompositionNode = {
  name: 'brief',
  subAgents: [
    {
      name: 'look',
      subAgents: [{ name: 'wind' }, { name: 'tide' }],
      composition: { pattern: 'parallel', children: ['wind', 'tide'] },
    },
    { name: 'skipper', description: 'Decides.' },
  ],
  composition: { pattern: 'sequential', children: ['look', 'skipper'] },
};

export async function main(print: Print): Promise<void> {
  const model = new ScriptedModel({
    byAgent: { wind: ['4 from the west.'], tide: ['High at noon.'], skipper: ['Go out at noon, tack west.'] },
  });
  // Asked once for each agent that is no composition.
  const team = composeAgent(brief, ({ name }) => ({ model, instruction: `You are the ${name} of a boat.` }));
  const session = await fromAgent(team).open({}, { app: 'patterns' });
  await say(session, 'When do we leave?', print);
}
