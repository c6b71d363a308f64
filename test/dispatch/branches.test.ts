import { expect, test } from 'vitest';
import { dispatchAgent, storeEvent } from '../../src/dispatch/index.ts';
import type { Agent } from '../../src/index.ts';
import { agentTool, fromAgent, ParallelAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bot, ofType, say } from '../host/kit.ts';

/** An executor of another framework, whose tree has branches of its own. */
const foreign = (name: string) =>
  dispatchAgent({
    name,
    executor: async (ctx) => {
      for (const branch of ['team.a', 'team.b']) {
        const content = { role: 'model' as const, parts: [{ type: 'text' as const, text: branch }] };
        await storeEvent(ctx, { author: 'stranger', branch, content });
      }
      ctx.ack();
    },
  });

async function threadsOf(agent: Agent) {
  const events = await say(await fromAgent(agent).open({}, { app: 'shop' }), 'go');
  const call = ofType(events, 'tool_request')[0]?.requestId;
  return ofType(events, 'message')
    .filter(({ agentId }) => agentId === 'stranger')
    .map(({ threadId }) => threadId?.replace(String(call), 'call'));
}

test('S3 §10 branches of a foreign tree are threads of the place that it has in ours', async () => {
  expect(await threadsOf(foreign('byo'))).toEqual(['team.a', 'team.b']);
  const right = bot(['right'], { name: 'right' });
  const pair = new ParallelAgent({ name: 'pair', subAgents: [foreign('left'), right] });
  expect(await threadsOf(pair)).toEqual(['pair.left.team.a', 'pair.left.team.b']);
  const model = new ScriptedModel([{ calls: [['byo', { request: 'q' }]] }, 'done']);
  expect(await threadsOf(bot(model, { tools: [agentTool(foreign('byo'))] }))).toEqual(['/call.team.a', '/call.team.b']);
});
