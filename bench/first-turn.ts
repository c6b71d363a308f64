import { caller } from './models.ts';
import type { Subject } from './result.ts';
import { play, sessionsOf } from './subjects.ts';
import { adder, allow } from './tools.ts';

/** An agent with a tool, a session, a turn in which the tool is called. */
export async function firstTurn(subject: Subject): Promise<void> {
  const model = caller({ steps: 1 });
  const sessions = sessionsOf(subject, { model, tools: [adder(({ a, b }) => a + b)], policy: allow });
  await play(await sessions.open(), 'go');
}
