import { CustomAgent, fromAgent, LlmAgent } from 'coxswain';
import { ScriptedModel } from 'coxswain/testing';
import type { Print } from './say.ts';
import { say } from './say.ts';

export async function main(print: Print): Promise<void> {
  const model = new ScriptedModel({ byAgent: { calm: ['A fine day for a row.'], storm: ['Stay ashore.'] } });
  const calm = new LlmAgent({ name: 'calm', model });
  const storm = new LlmAgent({ name: 'storm', model });
  const captain = new CustomAgent({
    name: 'captain',
    subAgents: [calm, storm],
    async run(context) {
      // After a pause the function runs again from the top: what a step has found out once stays.
      const wind = await context.step('measure', () => 9);
      await context.emit(`wind force ${wind}`);
      await context.run(wind > 7 ? storm : calm);
    },
  });
  const session = await fromAgent(captain).open({}, { app: 'patterns' });
  await say(session, 'Shall we go out?', print);
}
