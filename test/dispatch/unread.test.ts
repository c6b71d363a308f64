import { expect, test } from 'vitest';
import { byo, endOf, open, say } from './agent-kit.ts';

test('ATK2-30 pieces that an executor reports faster than anybody reads come joined, and each character once', async () => {
  const pieces = Array.from({ length: 20_000 }, (_, n) => `${n} `);
  const agent = byo((context, { reportMessage }) => {
    for (const piece of pieces) reportMessage('m', piece);
    reportMessage('m', '', { isComplete: true });
    context.ack();
  });
  const events = await say(await open(agent), 'go');
  const partial = events.flatMap((event) => (event.type === 'message' && event.partial ? [event] : []));
  expect(partial.length).toBeLessThan(80);
  const said = partial.flatMap(({ content }) => content).map((part) => ('text' in part ? part.text : ''));
  expect(said.join('')).toBe(pieces.join(''));
  expect(endOf(events)).toMatchObject({ reason: 'completed' });
});
