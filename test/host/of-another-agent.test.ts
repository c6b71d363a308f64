import { describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { SessionInput } from '../../src/contracts/index.ts';
import { createHost, InMemorySessionService, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { endOf, only, ownTool, policyOf, refusal, say } from './kit.ts';

/** Two agents over one store, each with a tool of its own of one name; only that of B is denied. */
function pair(outcome: 'ask' | 'allow' = 'ask', kind = 'memory', specialist = false) {
  const ran: string[] = [];
  const pay = (who: string) =>
    ownTool('pay', () => {
      ran.push(who);
      return 'paid';
    });
  const agent = (name: string, script: ConstructorParameters<typeof ScriptedModel>[0]) => {
    const options = { model: new ScriptedModel(script), tools: [pay(name)] };
    if (!specialist) return new LlmAgent({ name, ...options });
    const clerk = new LlmAgent({ name: 'clerk', description: 'pays', ...options });
    const model = new ScriptedModel([{ calls: [['transfer_to_agent', { agent_name: 'clerk' }]] }]);
    return new LlmAgent({ name, model, subAgents: [clerk] });
  };
  const store = kind === 'SQLite' ? openSqlite(':memory:') : new InMemorySessionService();
  const host = createHost({
    app: 'shop',
    agents: [agent('A', [{ calls: [['pay', {}]] }, 'done A', 'more of A']), agent('B', ['done B', 'more of B'])],
    store,
    policy: policyOf({
      pay: ({ context }) => ({ outcome: context?.agentPath?.includes('B') ? 'deny' : outcome }),
    }),
  });
  const close = async () => {
    await host.close();
    await store.close();
  };
  return { host, ran, close };
}

describe.each([
  ['memory', false],
  ['SQLite', false],
  ['memory', true],
])('ATK3-06 a turn of another agent of the host (%s, with an agent of one name below: %s)', (kind, specialist) => {
  const going: [string, (requestId: string) => SessionInput][] = [
    ['continue', () => ({ kind: 'continue' })],
    ['an approval', (requestId) => ({ kind: 'tool_approval', requestId })],
    ['an answer', (requestId) => ({ kind: 'elicitation_response', requestId, response: { action: 'accept' } })],
    ['a result', (requestId) => ({ kind: 'tool_result', requestId, result: { content: [] } })],
  ];
  test.each(going)('is not gone on with by %s', async (_, input) => {
    const { host, ran, close } = pair('ask', kind, specialist);
    const own = await host.open('A', { sessionId: 's', create: true });
    await say(own, 'go');
    const asked = await only(own);
    const other = await host.open('B', { sessionId: 's' });
    const [shown] = await other.pending();
    expect([shown?.kind, shown?.agentPath[0]]).toEqual(['tool', 'A']);
    const refusals = ['E_REPLAY_DIVERGED', 'E_UNKNOWN_REQUEST', 'E_WRONG_ANSWER'];
    for (const requestId of [asked.requestId, shown?.requestId ?? '']) {
      expect(refusals).toContain((await refusal(other.respond(requestId, { kind: 'approve' }))).code);
      expect(refusals).toContain((await refusal(say(other, input(requestId)))).code);
    }
    expect([ran, (await only(own)).requestId]).toEqual([[], asked.requestId]);
    await own.respond(asked.requestId, { kind: 'approve' });
    // Once it is answered, too.
    expect((await refusal(say(other, { kind: 'continue' }))).code).toBe('E_REPLAY_DIVERGED');
    expect(endOf(await say(own, { kind: 'continue' })).reason).toBe('completed');
    expect(ran).toEqual(['A']);
    await close();
  });

  test.each(['cancel', 'proceed'] as const)('is left alone by words to the other agent (%s)', async (whilePending) => {
    const { host, ran, close } = pair('ask', kind, specialist);
    const own = await host.open('A', { sessionId: 's', create: true });
    await say(own, 'go');
    const { requestId } = await only(own);
    await own.respond(requestId, { kind: 'approve' });
    const other = await host.open('B', { sessionId: 's' });
    await say(other, 'hello', { whilePending });
    expect(ran).toEqual([]);
    await close();
  });
});
