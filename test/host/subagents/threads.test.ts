import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/index.ts';
import { allowAll, fromAgent, LlmAgent, ParallelAgent, SequentialAgent, subagentTool } from '../../../src/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { all, hostOf, ofType, say } from '../kit.ts';

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
  await host.close();
});
