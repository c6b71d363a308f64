import { expect, test } from 'vitest';
import { InMemorySessionService } from '../../../src/index.ts';
import type { Script } from '../../../src/testing/index.ts';
import { endOf, notingTool, policyOf, readOnly, say, tool } from '../kit.ts';
import { askExpert, team } from './kit.ts';

const usage = { inputTokens: 30, outputTokens: 10 };
const look = tool('look', () => 'seen', readOnly);

test('S3-08 S3-56 tokens of a sub-agent are its caller’s: both are ended when they are used up', async () => {
  const { host, boss, expert } = team({
    boss: [{ ...askExpert, usage }, 'never'],
    expert: [{ calls: [['look']], usage }, { calls: [['look']], usage }, { calls: [['look']], usage }, 'never'],
    tools: [look],
    host: { policy: policyOf({}), limits: { tokens: 100 } },
  });
  const session = await host.open('boss');
  const events = await say(session, 'go');
  // 40 of its own, and two calls of 40 below it: the expert alone would have had one more.
  expect(endOf(events).reason).toBe('max_budget');
  expect([boss.requests.length, expert.requests.length]).toEqual([1, 2]);
  expect(await session.pending()).toEqual([]);
});

test('S3-08 S3-56 what both have used before a question counts when a new host goes on after it', async () => {
  const store = new InMemorySessionService();
  const pay = notingTool('pay');
  const hostWith = (boss: readonly Script[], expert: readonly Script[]) =>
    team({
      boss,
      expert,
      store,
      tools: [pay.tool, look],
      host: { policy: policyOf({ pay: 'ask' }), limits: { tokens: 100 } },
    });
  const first = await hostWith([{ ...askExpert, usage }], [{ calls: [['pay']], usage }]).host.open('boss');
  expect(endOf(await say(first, 'go')).reason).toBe('input_required');
  const { id } = first;
  await first[Symbol.asyncDispose]();

  const later = hostWith(['never'], [{ calls: [['look']], usage }, 'never']);
  const session = await later.host.open('boss', { sessionId: id });
  const [question] = await session.pending();
  const events = await say(session, { kind: 'tool_approval', requestId: String(question?.requestId) });
  expect(endOf(events).reason).toBe('max_budget');
  expect([later.boss.requests.length, later.expert.requests.length]).toEqual([0, 1]);
});

test('S3-08 an agent that has called nobody counts its own tokens, and may finish beyond them', async () => {
  const { host } = team({
    boss: [{ text: 'done', usage: { inputTokens: 500 } }],
    expert: [],
    host: { limits: { tokens: 100 } },
  });
  expect(endOf(await say(await host.open('boss'), 'go')).reason).toBe('completed');
});
