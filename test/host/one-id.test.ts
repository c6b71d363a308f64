import { expect, test } from 'vitest';
import type { AgentSession } from '../../src/index.ts';
import { allowAll, createHost, fromAgent, InMemorySessionService } from '../../src/index.ts';
import { lyingExecutor } from '../../src/testing/index.ts';
import { bot, endOf, follow, notingTool, only, policyOf, results, say, slowTool } from './kit.ts';

const at = { sessionId: 's1', create: true };

/** While a tool of one runs, the other is aborted: the first knows nothing of it. */
async function areTwo(one: AgentSession, other: AgentSession, slow: ReturnType<typeof slowTool>) {
  const going = follow(one, 'go');
  const context = await slow.started;
  expect(await other.pending()).toEqual([]);
  expect(endOf(await say(other, 'go')).reason).toBe('completed');
  await other.abort();
  expect(context.signal.aborted).toBe(false);
  slow.finish('ok');
  const events = await going.ended;
  expect([endOf(events).reason, results(events).slow]).toEqual(['completed', 'ok']);
}

const twoBots = () => ({
  clerk: fromAgent(bot([{ calls: [['slow']] }, 'end'], { name: 'clerk' })),
  helper: fromAgent(bot(['hello'], { name: 'helper' })),
});

test('ATK-19 a session of an executor of its own, and one of the host’s store with its id, are two', async () => {
  const slow = slowTool('slow');
  const pay = notingTool('pay');
  const liar = lyingExecutor({ name: 'other', calls: [{ id: 'c1', name: 'pay', args: { eur: 10 } }] });
  const policy = policyOf({ pay: 'ask' });
  const { clerk } = twoBots();
  const store = new InMemorySessionService();
  const host = createHost({ app: 'shop', agents: [clerk, liar], store, tools: [slow.tool, pay.tool], policy });
  const other = await host.open('other', at);
  await say(other, 'go');
  const question = await only(other);
  const own = await host.open('clerk', at);
  const going = follow(own, 'go');
  const context = await slow.started;
  expect((await own.pending()).map(({ name }) => name)).not.toContain('pay');
  await other.respond(question.requestId, { kind: 'approve' });
  await say(other, { kind: 'continue' });
  expect(pay.runs).toEqual([{ eur: 10 }]);
  await other.abort();
  expect(context.signal.aborted).toBe(false);
  slow.finish('ok');
  expect(results(await going.ended).slow).toBe('ok');
  await host.close();
});

test('ATK-19 sessions of two agents that keep their own, and have one id, are two', async () => {
  const slow = slowTool('slow');
  const { clerk, helper } = twoBots();
  const host = createHost({ app: 'shop', agents: [clerk, helper], tools: [slow.tool], policy: allowAll() });
  await areTwo(await host.open('clerk', at), await host.open('helper', at), slow);
  await host.close();
});

test('ATK-19 a session that ends with its handle, and one that is kept under its id, are two', async () => {
  const slow = slowTool('slow');
  const agents = [fromAgent(bot([{ calls: [['slow']] }, 'end', 'hello'], { name: 'clerk' }))];
  const store = new InMemorySessionService();
  const host = createHost({ app: 'shop', agents, store, tools: [slow.tool], policy: allowAll() });
  const kept = await host.open('clerk', at);
  const going = follow(kept, 'go');
  const context = await slow.started;
  const passing = await host.open('clerk', { ...at, ephemeral: true });
  expect(await passing.pending()).toEqual([]);
  await passing.abort();
  expect(context.signal.aborted).toBe(false);
  slow.finish('ok');
  expect(results(await going.ended).slow).toBe('ok');
  await host.close();
});

test('ATK-19 a session of the host’s store is one, by whichever agent of the host it is opened', async () => {
  const slow = slowTool('slow');
  const { clerk, helper } = twoBots();
  const store = new InMemorySessionService();
  const host = createHost({ app: 'shop', agents: [clerk, helper], store, tools: [slow.tool], policy: allowAll() });
  const one = await host.open('clerk', at);
  const going = follow(one, 'go');
  await slow.started;
  const same = await host.open('helper', { sessionId: 's1' });
  expect((await same.pending()).map(({ name }) => name)).toEqual(['slow']);
  await same.abort();
  expect(endOf(await going.ended).reason).toBe('aborted');
  await host.close();
});
