import { LlmAgent } from '../src/runtime/index.ts';
import { caller } from './models.ts';
import type { Subject } from './result.ts';
import { playTo, sessionsOf } from './subjects.ts';
import { adder } from './tools.ts';

/** An agent with a tool, a session, a turn in which the tool is called. */
export async function firstTurn(subject: Subject): Promise<void> {
  const model = caller({ steps: 1 });
  const agent = new LlmAgent({ name: 'caller', model, tools: [adder(({ a, b }) => a + b)] });
  const sessions = sessionsOf(subject, { agent, policy: { evaluate: () => ({ outcome: 'allow' }) } });
  await playTo('completed', await sessions.open(), 'go');
}
