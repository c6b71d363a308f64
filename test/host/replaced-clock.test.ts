import { afterEach, expect, test, vi } from 'vitest';
import { all, bot, door, endOf, hostOf, readOnly, tool } from './kit.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('S3-14 a run does not hang where somebody has replaced the clock', async () => {
  const answered = door();
  const { host } = hostOf(
    bot([
      {
        calls: [
          ['quick', {}],
          ['late', {}],
        ],
      },
      'done',
    ]),
    {
      tools: [tool('quick', () => 'quick', readOnly), tool('late', () => answered.opened.then(() => 'late'), readOnly)],
    },
  );
  const session = await host.open('bot');
  vi.useFakeTimers({ toFake: ['setImmediate'] });
  const stream = session.stream('go');
  for await (const event of stream) if (event.type === 'tool_response' && event.name === 'quick') answered.open();
  expect(endOf(await all(session.events())).reason).toBe('completed');
});
