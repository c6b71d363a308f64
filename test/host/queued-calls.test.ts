import { expect, test } from 'vitest';
import { allowAll, InMemorySessionService, ParallelAgent } from '../../src/index.ts';
import { bot, door, endOf, hostOf, notingTool, tool, whole } from './kit.ts';

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

test('S3-14 a call of a thread that is being ended is not started while that is on its way into the log', async () => {
  const stored = door();
  const told = door();
  const judged = door();
  const ruled = door();
  /** Whoever wrote the end of the branch hears of it late. */
  class Tells extends InMemorySessionService {
    override async append(...args: Parameters<InMemorySessionService['append']>) {
      const events = await super.append(...args);
      if (!args[1].some(({ id }) => id.startsWith('res:'))) return events;
      stored.open();
      await told.opened;
      return events;
    }
  }
  const look = notingTool('look', { annotations: { readOnly: true } });
  const left = bot([{ calls: [['look', {}]] }, 'left is done'], { name: 'left' });
  const right = bot([{ calls: [['ask', {}]] }, 'right is done'], { name: 'right' });
  const { host } = hostOf(new ParallelAgent({ name: 'both', subAgents: [left, right] }), {
    store: new Tells(),
    policy: {
      async evaluate({ action }) {
        if (action === 'ask') return { outcome: 'ask' };
        judged.open();
        await ruled.opened;
        return { outcome: 'allow' };
      },
    },
    tools: [look.tool, tool('ask', () => 'asked')],
  });
  const session = await host.open('both');
  const shown = (async () => {
    const events = [];
    for await (const event of session.stream('go')) events.push(event);
    return events;
  })();
  await judged.opened;
  const [call] = (await whole(session).inner.pending()).filter(({ name }) => name === 'look');
  const aborting = session.abort({ threadId: call?.threadId ?? '' });
  await stored.opened;
  ruled.open();
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  told.open();
  await aborting;
  await session.abort();
  await shown;
  expect(look.runs).toEqual([]);
});
