import { expect, test } from 'vitest';
import type { AgentEvent, AgentSession, ExecutionOptions, SessionInput } from '../../../src/contracts/index.ts';
import type { Agent } from '../../../src/index.ts';
import { fromAgent, InMemorySessionService } from '../../../src/index.ts';
import { all, bot, endOf, ownTool, say, tool } from '../../host/kit.ts';
import { elsewhere } from '../../runtime/elsewhere.ts';

const context = { app: 'shop', userId: 'ann' };
const pay = { name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, annotations: {} };
const stop = ownTool('stop', (_, asked) => {
  asked.escalate();
  return 'enough';
});
const ship = tool('ship', () => ({ ticket: 7 }), { annotations: { longRunning: true } });
const price = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };

type Turn = readonly [input: string | SessionInput, options?: ExecutionOptions];

const cases: [name: string, agent: Agent, turns: readonly Turn[], shows: object][] = [
  [
    'usage and steps',
    bot([{ text: 'hi', usage: { inputTokens: 7, outputTokens: 2 } }, 'again']),
    [['one'], ['two']],
    {
      usage: { inputTokens: 7, outputTokens: 2 },
      steps: 1,
    },
  ],
  [
    'why it failed',
    bot([{ error: new Error('the model is down') }, 'better']),
    [['one'], ['two']],
    { reason: expect.any(String) },
  ],
  [
    'an escalation',
    bot([{ calls: [['stop']] }, 'more'], { tools: [stop] }),
    [['one'], ['two']],
    {
      escalateReason: 'escalate',
    },
  ],
  [
    'a tool that runs on',
    bot([{ calls: [['ship']] }, 'sent', 'and?'], { tools: [ship] }),
    [['one'], ['two']],
    {
      pendingToolIds: [expect.any(String)],
    },
  ],
  [
    'an output',
    bot(['{"price":3}', '{"price":4}'], { outputSchema: price }),
    [['one'], ['two']],
    {
      output: { price: 3 },
    },
  ],
];

test.each(cases)('an end that is read back after a restart says what it said: %s', async (_, agent, turns, shows) => {
  const sessions = new InMemorySessionService();
  const session = await fromAgent(agent, { store: sessions }).open({}, context);
  const ends: AgentEvent[] = [];
  for (const [input, options] of turns) ends.push(endOf(await say(session, input, options)) as AgentEvent);
  expect(ends[0]).toMatchObject({ data: shows });
  await expectStored(session, sessions, agent, ends);
});

test('an end tells what was open then, also when it has been answered since', async () => {
  const sessions = new InMemorySessionService();
  const agent = bot([{ calls: [['pay', { to: 'bob' }]] }, 'meanwhile', 'paid']);
  const session = await fromAgent(agent, { store: sessions }).open({}, context);
  const options = { tools: [pay], hostToolExecution: true };
  await say(session, 'pay bob', options);
  const end = endOf(await say(session, 'something else', { ...options, whilePending: 'proceed' }));
  const [open] = end.data?.pending ?? [];
  expect(open).toMatchObject({ name: 'pay', args: { to: 'bob' }, detached: true });
  const result = { content: [{ type: 'text' as const, text: 'done' }] };
  const decision = { outcome: 'approved' as const, by: 'user:ann' };
  await session.respond(open?.requestId ?? '', { kind: 'result', result, decision });
  await expectStored(session, sessions, agent, [end as AgentEvent]);
});

test('MUT-R17 an end tells the question that was open then in its own words, also when it has been answered since', async () => {
  const sessions = new InMemorySessionService();
  const send = ownTool('send', (_, asked) => {
    if (!asked.confirmation) asked.requestConfirmation({ hint: 'To everybody?' });
    return 'sent';
  });
  const agent = bot([{ calls: [['send']] }, 'meanwhile', 'sent'], { tools: [send] });
  const session = await fromAgent(agent, { store: sessions }).open({}, context);
  await say(session, 'send it');
  const end = endOf(await say(session, 'something else', { whilePending: 'proceed' }));
  const [open] = end.data?.pending ?? [];
  expect(open).toMatchObject({ kind: 'elicitation', message: 'To everybody?', detached: true });
  await session.respond(open?.requestId ?? '', { kind: 'elicitation', action: 'accept' });
  await expectStored(session, sessions, agent, [end as AgentEvent]);
});

async function expectStored(
  session: AgentSession,
  sessions: InMemorySessionService,
  agent: Agent,
  ends: readonly AgentEvent[],
): Promise<void> {
  const restarted = fromAgent(agent, { store: elsewhere(sessions) });
  const again = await restarted.open({ sessionId: session.id }, context);
  for (const handle of [session, again]) {
    const stored = (await all(handle.events())).filter(({ type }) => type === 'stream_end');
    expect(stored).toEqual(ends);
  }
}
