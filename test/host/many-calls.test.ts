import { expect, test } from 'vitest';
import { allowAll } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bot, endOf, hostOf, notingTool, ofType, policyOf, say } from './kit.ts';

const MANY = 600;
const calls = Array.from({ length: MANY }, (_, k) => ['look', { k }] as const);
const asksOnce = () => new ScriptedModel([{ calls }, 'done']);

/** How often the event loop has come round while `work` went on. */
async function rounds<T>(work: () => Promise<T>): Promise<[result: T, rounds: number]> {
  let count = 0;
  let isOver = false;
  const look = () => {
    count++;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const result = await work();
  isOver = true;
  return [result, count];
}

for (const where of ['host', 'agent'] as const) {
  test(`ATT-B6 many calls of a tool of the ${where} in one answer: others of the process are served on the way`, async () => {
    const { tool, runs } = notingTool('look');
    const { host } = hostOf(bot(asksOnce(), where === 'agent' ? { tools: [tool] } : {}), {
      tools: where === 'host' ? [tool] : [],
      policy: allowAll(),
    });
    const session = await host.open('bot');
    const [events, count] = await rounds(() => say(session, 'go'));
    expect(endOf(events).reason).toBe('completed');
    expect(
      ofType(events, 'tool_response')
        .map(({ requestId }) => requestId)
        .toSorted(),
    ).toEqual(
      ofType(events, 'tool_request')
        .map(({ requestId }) => requestId)
        .toSorted(),
    );
    expect(runs).toHaveLength(MANY);
    expect(count).toBeGreaterThan(MANY / 100);
  });
}

test('ATT-B6 policy is asked once about each of many calls, however many results come in between', async () => {
  const { tool, runs } = notingTool('look');
  const policy = policyOf({});
  const { host } = hostOf(bot(asksOnce()), { tools: [tool], policy, toolConcurrency: 1 });
  await say(await host.open('bot'), 'go');
  expect([runs.length, policy.asked.length]).toEqual([MANY, MANY]);
});

test('ATT-B6 an abort in the midst of many calls is heard before the last of them', async () => {
  const { tool, runs } = notingTool('look');
  const { host } = hostOf(bot(asksOnce()), { tools: [tool], policy: allowAll() });
  const session = await host.open('bot');
  const events = [];
  for await (const event of session.stream('go')) {
    events.push(event);
    if (event.type === 'tool_response') void session.abort();
  }
  expect(endOf(events).reason).toBe('aborted');
  expect(runs.length).toBeLessThan(MANY);
  expect(await session.pending()).toEqual([]);
});
