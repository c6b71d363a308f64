import { expect, test } from 'vitest';
import type { AgentSource, Session } from '../../src/contracts/index.ts';
import { createHost, fromAgent, InMemorySessionService } from '../../src/index.ts';
import { all, bot, door, hostOf, notingTool, only, policyOf, readOnly, say, slowTool } from './kit.ts';

const reasons = async (session: Session) =>
  (await all(session.events())).flatMap((event) => (event.type === 'stream_end' ? [event.reason] : []));

test('ATK8-07 who has looked into a session ends nothing of a turn that the host has begun since', async () => {
  const slow = slowTool('slow', readOnly);
  const { host } = hostOf(bot(['hello', { calls: [['slow', {}]] }, 'done']), { tools: [slow.tool] });
  const { sessionId } = await host.submit('bot', 'Hello.');
  await host.idle();
  const looking = await host.open('bot', { sessionId });
  await host.submit('bot', 'Go on.', { sessionId });
  await slow.started;
  await looking[Symbol.asyncDispose]();
  slow.finish('done');
  await host.idle();
  await using again = await host.open('bot', { sessionId });
  expect(await reasons(again)).toEqual(['completed', 'completed']);
  expect(slow.runs).toHaveLength(1);
});

test('ATK8-07 a turn that goes on after a decision ends with nobody who had its session open', async () => {
  const slow = slowTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'done']), {
    tools: [slow.tool],
    policy: policyOf({ pay: 'ask' }),
  });
  const session = await host.open('bot', { sessionId: 's', create: true });
  await say(session, 'pay');
  const { requestId } = await only(session);
  await host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'local' } });
  await slow.started;
  await session[Symbol.asyncDispose]();
  slow.finish('paid');
  await host.idle();
  await using again = await host.open('bot', { sessionId: 's' });
  expect(await reasons(again)).toEqual(['completed']);
});

test('ATK8-07 of two that look into a session at once, the first that is done closes nothing of the other', async () => {
  const agent = fromAgent(bot([{ calls: [['pay', {}]] }, 'done']));
  const asked = [door(), door()];
  const gates = [door(), door()];
  let isWatched = false;
  let looks = 0;
  let closed = 0;
  const { sessions } = agent;
  const source: AgentSource = {
    descriptor: agent.descriptor,
    async open(...given) {
      const session = await agent.open(...given);
      if (!isWatched) return session;
      const { pending, [Symbol.asyncDispose]: close } = session;
      return Object.assign(session, {
        async pending() {
          const look = looks++;
          asked[look]?.open();
          await gates[look]?.opened;
          return pending.call(session);
        },
        async [Symbol.asyncDispose]() {
          closed++;
          await close.call(session);
        },
      });
    },
    ...(sessions ? { sessions: (context) => sessions.call(agent, context) } : {}),
  };
  const tools = [notingTool('pay').tool];
  const host = createHost({
    ...{ app: 'shop', agents: [source], tools, policy: policyOf({ pay: 'ask' }) },
    store: new InMemorySessionService(),
  });
  const session = await host.open('bot', { sessionId: 's', create: true });
  await say(session, 'pay');
  const { requestId } = await only(session);
  await session[Symbol.asyncDispose]();
  isWatched = true;
  const listing = host.approvals.list();
  await asked[0]?.opened;
  const getting = host.approvals.get(requestId, { agent: 'bot', userId: 'local', sessionId: 's' });
  await asked[1]?.opened;
  gates[0]?.open();
  expect([(await listing).length, closed]).toEqual([1, 0]);
  gates[1]?.open();
  expect((await getting)?.request.requestId).toBe(requestId);
  expect(closed).toBe(1);
});
