import { expect, test } from 'vitest';
import type { AgentSession, SessionInput } from '../../../src/contracts/index.ts';
import type { Agent, SessionService } from '../../../src/index.ts';
import { agentTool, fromAgent, InMemorySessionService, ParallelAgent, SequentialAgent } from '../../../src/index.ts';
import type { Script } from '../../../src/testing/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { all, bot, hostOf, notingTool, ownTool, policyOf, results } from '../../host/kit.ts';
import { elsewhere } from '../../runtime/elsewhere.ts';

const key = { app: 'shop', userId: 'ann', id: 's' };
const gated = { needsApproval: true } as const;

async function opened(agent: Agent, sessions: SessionService, create = true): Promise<AgentSession> {
  const source = fromAgent(agent, { store: create ? sessions : elsewhere(sessions) });
  return source.open({ sessionId: 's', create }, { app: key.app, userId: key.userId });
}

const run = (session: AgentSession, input: string | SessionInput, whilePending: 'proceed' | 'cancel' = 'proceed') =>
  all(session.stream(input, { streaming: false, whilePending }));
const names = async (session: AgentSession) => (await session.pending()).map(({ name }) => name);
const approvalOf = async (session: AgentSession, name: string): Promise<SessionInput> => {
  const open = (await session.pending()).find((request) => request.name === name);
  return { kind: 'tool_approval', requestId: open?.requestId ?? '' };
};

/** boss asks outer, which asks deep, whose branches do something and wait for a yes. A process has its own script. */
function world(script: Record<string, readonly Script[]>) {
  const charge = notingTool('charge');
  const pay = ownTool(
    'pay',
    (_, { state }) => {
      state.set('paid', true);
      return 'paid';
    },
    gated,
  );
  const ship = notingTool('ship', gated);
  const model = new ScriptedModel({ byAgent: script, strict: true });
  const deep = new ParallelAgent({
    name: 'deep',
    subAgents: [
      bot(model, { name: 'x', tools: [charge.tool, pay], includeContents: 'none', outputKey: 'x' }),
      bot(model, { name: 'y', tools: [ship.tool] }),
    ],
  });
  const outer = bot(model, { name: 'outer', tools: [agentTool(deep)] });
  const boss = bot(model, { name: 'boss', tools: [agentTool(outer)] });
  const agent = new SequentialAgent({ name: 'root', subAgents: [bot(model, { name: 'first' }), boss] });
  return { agent, model, charge, ship };
}

test('F22 S3-54 an agent run as a tool outlives its turn: it goes on where it stands, in another process too', async () => {
  const sessions = new InMemorySessionService();
  const before = world({
    first: ['one', 'two'],
    boss: [{ calls: [['outer', { request: 'go' }]] }, 'boss goes on'],
    outer: [{ calls: [['deep', { request: 'deeper' }]] }],
    x: [{ calls: [['charge']] }, { calls: [['pay']] }],
    y: [{ calls: [['ship']] }],
  });
  const session = await opened(before.agent, sessions);
  await run(session, 'start');
  const second = await run(session, 'meanwhile');
  expect(second.at(-1)).toMatchObject({ reason: 'completed' });
  expect([before.charge.runs.length, await names(session)]).toEqual([1, ['ship', 'pay']]);

  const after = world({
    first: ['three', 'four'],
    boss: ['boss again', 'boss hears of it'],
    outer: ['outer done'],
    x: ['x done'],
    y: ['y done'],
  });
  const other = await opened(after.agent, sessions, false);
  await run(other, await approvalOf(other, 'pay'));
  expect(await names(other)).toEqual(['ship']);
  const last = await run(other, await approvalOf(other, 'ship'));
  expect(results(last)).toMatchObject({
    ship: 'ship done',
    deep: expect.any(String),
    outer: '{"result":"outer done"}',
  });
  expect([after.charge.runs.length, after.ship.runs.length, await names(other)]).toEqual([0, 1, []]);
  // Its state is merged, and the model that called it hears of its result.
  expect((await sessions.get(key))?.state).toEqual({ paid: true, x: 'x done' });
  expect(JSON.stringify(after.model.requests.at(-1)?.contents)).toContain('outer done');
  after.model.assertUsedUp();
});

test('F22 what it waits for is closed with it, by an abort of its call or a message that does not let it go on', async () => {
  const script = () => ({
    first: ['one', 'two', 'three'],
    boss: [{ calls: [['outer', { request: 'go' }] as const] }, 'boss goes on', 'boss ends'],
    outer: [{ calls: [['deep', { request: 'deeper' }] as const] }],
    x: [{ calls: [['charge'] as const] }, { calls: [['pay'] as const] }],
    y: [{ calls: [['ship'] as const] }],
  });
  const one = await opened(world(script()).agent, new InMemorySessionService());
  const [call] = (await run(one, 'start')).filter((event) => event.type === 'tool_request' && event.name === 'outer');
  await run(one, 'meanwhile');
  expect(await names(one)).toHaveLength(2);
  await one.abort({ requestId: (call as { requestId: string }).requestId });
  expect(await names(one)).toEqual([]);

  const two = await opened(world(script()).agent, new InMemorySessionService());
  await run(two, 'start');
  await run(two, 'meanwhile');
  expect((await run(two, 'enough', 'cancel')).at(-1)).toMatchObject({ reason: 'completed' });
  expect(await names(two)).toEqual([]);
});

test('F22 under a host it goes on when its question is answered', async () => {
  const { agent, charge } = world({
    first: ['one', 'two', 'three'],
    boss: [{ calls: [['outer', { request: 'go' }]] }, 'boss goes on', 'boss hears of it'],
    outer: [{ calls: [['deep', { request: 'deeper' }]] }, 'outer done'],
    x: [{ calls: [['charge']] }, { calls: [['note']] }, 'x done'],
    y: ['y done'],
  });
  const note = notingTool('note');
  const { host } = hostOf(agent, { tools: [note.tool], policy: policyOf({ note: 'ask' }) });
  const session = await host.open('root');
  await run(session, 'start');
  const second = await run(session, 'meanwhile');
  expect(second.at(-1)).toMatchObject({ reason: 'completed' });
  expect(JSON.stringify(second)).not.toContain('x done');
  expect(await names(session)).toEqual(['note']);
  await run(session, await approvalOf(session, 'note'));
  expect([charge.runs.length, note.runs.length, await names(session)]).toEqual([1, 1, []]);
});
