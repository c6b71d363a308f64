import { expect, test } from 'vitest';
import { allowAll, InMemorySessionService, ParallelAgent } from '../../src/index.ts';
import { bot, door, endOf, hostOf, notingTool, tool } from './kit.ts';

test('S3-14 a call that waits for its turn does not start when its turn of the session has ended', async () => {
  const asked = door();
  const ended = door();
  class Tells extends InMemorySessionService {
    override async append(...args: Parameters<InMemorySessionService['append']>) {
      const stored = await super.append(...args);
      if (!args[1].some(({ actions }) => actions.end)) return stored;
      ended.open();
      // Whoever wrote hears of it later than whoever waits.
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      return stored;
    }
  }
  const second = notingTool('second');
  const script = [
    async () => {
      await asked.opened;
      return {
        calls: [
          ['first', {}],
          ['second', {}],
        ],
      };
    },
  ];
  const left = bot(script as never, { name: 'left' });
  const fails = () => {
    throw new Error('the model is down');
  };
  const right = bot([{ calls: [['quick', {}]] }, fails], { name: 'right' });
  const { host } = hostOf(new ParallelAgent({ name: 'both', subAgents: [right, left] }), {
    store: new Tells(),
    policy: allowAll(),
    toolConcurrency: 1,
    tools: [tool('quick', () => 'quick'), tool('first', () => ended.opened.then(() => 'first')), second.tool],
  });
  const session = await host.open('both');
  const shown = [];
  for await (const event of session.stream('go')) {
    shown.push(event);
    if (event.type === 'tool_request' && event.name === 'quick') asked.open();
  }
  expect(endOf(shown).reason).toBe('failed');
  expect(second.runs).toEqual([]);
});
