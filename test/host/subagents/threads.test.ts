import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/index.ts';
import { allowAll, fromAgent, LlmAgent, ParallelAgent, SequentialAgent, subagentTool } from '../../../src/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { all, door, endOf, hostOf, ofType, results, say, tool } from '../kit.ts';

test('S3-72 branches of a sub-agent called from a branch: each begins, speaks and ends in its own thread', async () => {
  const model = new ScriptedModel({
    byAgent: { left: [{ calls: [['crew', { request: 'go' }]] }, 'left'], right: ['right'], x: ['x'], y: ['y'] },
  });
  const agent = (name: string) => new LlmAgent({ name, model });
  const pair = new ParallelAgent({ name: 'pair', subAgents: [agent('x'), agent('y')] });
  const crew = subagentTool(fromAgent(new SequentialAgent({ name: 'crew', subAgents: [pair] })));
  const boss = new ParallelAgent({ name: 'boss', subAgents: [agent('left'), agent('right')] });
  const { host } = hostOf(boss, { tools: [crew], policy: allowAll() });
  const session = await host.open('boss', { sessionId: 's', create: true });
  const shown = await say(session, 'go');
  const call = ofType(shown, 'tool_request').find(({ name }) => name === 'crew')?.requestId;
  const threads: Record<string, string[]> = {
    left: ['boss.left'],
    right: ['boss.right'],
    pair: [`boss.left/${call}`],
    x: [`boss.left/${call}.pair.x`],
    y: [`boss.left/${call}.pair.y`],
  };
  const seen = (events: readonly AgentEvent[], lifecycleOnly: boolean) => {
    const found: Record<string, string[]> = {};
    for (const { agentId = '', threadId = '', ...event } of events) {
      const told = event.type === 'custom' && /^agent_/.test(String(event.kind));
      if (!(agentId in threads) || (lifecycleOnly && !told)) continue;
      found[agentId] = [...new Set([...(found[agentId] ?? []), threadId])];
    }
    return found;
  };
  expect(seen(shown, true)).toEqual(threads);
  expect(seen(shown, false)).toEqual(threads);
  expect(seen(await all(session.history()), false)).toEqual(threads);
  expect(results(shown)).toEqual({ crew: 'x\n\ny' });
  await host.close();
});

test('S3-56 a sub-agent that is aborted by its thread ends with its call; its caller goes on', async () => {
  const running = door();
  const slow = tool('slow', (_, { signal }) => {
    running.open();
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  });
  const model = new ScriptedModel({
    byAgent: { boss: [{ calls: [['crew', { request: 'go' }]] }, 'goes on'], crew: [{ calls: [['slow']] }] },
  });
  const crew = subagentTool(fromAgent(new LlmAgent({ name: 'crew', model })));
  const { host } = hostOf(new LlmAgent({ name: 'boss', model }), { tools: [slow, crew], policy: allowAll() });
  const session = await host.open('boss', { sessionId: 's', create: true });
  const events = say(session, 'go');
  await running.opened;
  const call = (await all(session.events())).find(({ type }) => type === 'tool_request');
  await session.abort({ threadId: `/${(call as { requestId: string }).requestId}` });
  const ends = ofType(await events, 'tool_response').map(({ name, errorType }) => [name, errorType]);
  expect(ends).toEqual([
    ['slow', 'interrupted'],
    ['crew', 'interrupted'],
  ]);
  expect(endOf(await events).reason).toBe('completed');
  await host.close();
});
