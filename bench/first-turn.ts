import { caller, talker } from './models.ts';
import type { Subject } from './result.ts';
import { play, sessionsOf } from './subjects.ts';
import { adder, allow } from './tools.ts';

/** An agent with a tool, a session, a turn: without and with a call of the tool, which loads the validator. */
export async function firstTurn(subject: Subject, kind: string): Promise<void> {
  const model = kind === 'call' ? caller({ steps: 1 }) : talker(1);
  const sessions = sessionsOf(subject, { model, tools: [adder(({ a, b }) => a + b)], policy: allow });
  await play(await sessions.open(), 'go');
}
