import { join } from 'node:path';
import { fromAgent, LlmAgent } from 'coxswain';
import { ScriptedModel } from 'coxswain/testing';
import { loadSkills } from 'coxswain/tools/skills';
import type { Print } from './say.ts';
import { say } from './say.ts';

export async function main(print: Print): Promise<void> {
  const skills = await loadSkills(join(import.meta.dirname, 'skills'));
  const model = new ScriptedModel([
    { calls: [['load_skill', { name: 'mooring' }]] },
    'Bow line first, then the stern.',
  ]);
  // A function: a text would have names in braces replaced.
  const instruction = () => `Help the crew.\n\n${skills.instruction}`;
  const agent = new LlmAgent({ name: 'mate', model, instruction, tools: [...skills.tools] });
  const session = await fromAgent(agent).open({}, { app: 'patterns' });
  await say(session, 'How do we moor?', print);
}
