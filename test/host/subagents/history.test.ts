import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/index.ts';
import { fromAgent, InMemorySessionService, LlmAgent, subagentTool } from '../../../src/index.ts';
import type { Script } from '../../../src/testing/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { hostOf, notingTool, policyOf, say } from '../kit.ts';
import { askExpert, team } from './kit.ts';

test('S3-56 a session’s history is what its streams have shown, its sub-agents included, also under a new host', async () => {
  const store = new InMemorySessionService();
  const pay = notingTool('pay');
  const setting = { tools: [pay.tool], store, host: { policy: policyOf({ pay: 'ask' }) } };
  const { host } = team({
    ...setting,
    boss: [askExpert, 'done'],
    expert: [{ text: 'I shall pay', calls: [['pay', { n: 1 }]] }, 'paid'],
  });
  const session = await host.open('boss', { sessionId: 's', create: true });
  const shown = [...(await say(session, 'pay', { streaming: false }))];
  const whilePaused = await all(session.history());
  expect(below(whilePaused)).toEqual(below(shown));
  const [question] = await session.pending();
  const answer = { kind: 'tool_approval', requestId: String(question?.requestId) } as const;
  shown.push(...(await say(session, answer, { streaming: false })));
  await host.close();

  const later = await team({ ...setting, boss: [], expert: [] }).host.open('boss', { sessionId: 's' });
  const history = await all(later.history());
  expect(below(history)).toEqual(below(shown));
  expect(below(history)).toContain('message paid');
  // Its own part is what can be resumed by cursor.
  const own = await all(later.events());
  expect(history.filter(({ threadId }) => threadId === undefined)).toEqual(own);
  expect(own.every(({ threadId }) => threadId === undefined)).toBe(true);
  const inner = history.filter(({ threadId }) => threadId !== undefined);
  expect(inner.every(({ sessionId, cursor }) => sessionId === 's' && cursor === undefined)).toBe(true);
});

async function all(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const list: AgentEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}

/** What a sub-agent has said and done, without what only a live stream tells. */
function below(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.threadId === undefined) return [];
    if (event.type === 'message') return [`message ${event.content.map((part) => ('text' in part ? part.text : ''))}`];
    if (event.type === 'tool_request' || event.type === 'tool_response') return [`${event.type} ${event.requestId}`];
    return [];
  });
}

test('S3-56 a history goes down to the sub-agents of sub-agents, whose threads and order are those of the streams', async () => {
  const store = new InMemorySessionService();
  const pay = notingTool('pay');
  const hostWith = (bosses: readonly Script[], middles: readonly Script[], leaves: readonly Script[]) => {
    const tools = [
      pay.tool,
      subagentTool(fromAgent(new LlmAgent({ name: 'middle', model: new ScriptedModel(middles) }))),
      subagentTool(fromAgent(new LlmAgent({ name: 'leaf', model: new ScriptedModel(leaves) }))),
    ];
    const boss = new LlmAgent({ name: 'boss', model: new ScriptedModel(bosses) });
    return hostOf(boss, { store, tools, policy: policyOf({ pay: 'ask' }) }).host;
  };
  const host = hostWith(
    [{ calls: [['middle', { request: 'go' }]] }, 'done'],
    [{ text: 'I ask', calls: [['leaf', { request: 'pay' }]] }, 'it says so'],
    [{ text: 'I pay', calls: [['pay']] }, 'paid'],
  );
  const session = await host.open('boss', { sessionId: 's', create: true });
  const shown = await say(session, 'go', { streaming: false });
  const [question] = await session.pending();
  const answer = { kind: 'tool_approval', requestId: String(question?.requestId) } as const;
  shown.push(...(await say(session, answer, { streaming: false })));
  await host.close();

  const later = await hostWith([], [], []).open('boss', { sessionId: 's' });
  const history = await all(later.history());
  const placed = (events: readonly AgentEvent[]) =>
    [...Map.groupBy(events, ({ threadId }) => threadId ?? '')].map(([thread, list]) => [thread, below(list)]);
  expect(Object.fromEntries(placed(history))).toEqual(Object.fromEntries(placed(shown)));
  const leaf = history.find((event) => event.type === 'message' && JSON.stringify(event.content).includes('I pay'));
  expect(leaf?.threadId?.split('/')).toHaveLength(3);
  expect(history.every(({ sessionId }) => sessionId === 's')).toBe(true);
  expect(history.map(({ id }) => id)).toEqual([...new Set(history.map(({ id }) => id))]);
});
