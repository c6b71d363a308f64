import { describe, expect, test } from 'vitest';
import type { AgentSource } from '../../src/contracts/index.ts';
import type { SessionService } from '../../src/index.ts';
import { createHost, fromAgent, InMemorySessionService, LlmAgent, rulePolicy, subagentTool } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { notingTool, refusal, say } from '../host/kit.ts';
import { shared } from './databases.ts';

const by = { id: 'local' };
const memory = {
  name: 'memory',
  make: async () => {
    const service = new InMemorySessionService();
    return { open: async (): Promise<SessionService> => service, drop: async () => {} };
  },
};

/** Which sessions are opened. */
function counted(source: AgentSource): { source: AgentSource; opened: Set<string> } {
  const opened = new Set<string>();
  const open: AgentSource['open'] = (ref, context) => {
    opened.add(ref.sessionId ?? '');
    return source.open(ref, context);
  };
  return { source: { ...source, open }, opened };
}

/** Sessions that wait for an answer about `pay`, asked by a host that was closed since; some of them within a sub-agent. */
async function waiting(sessions: SessionService, plain: number, within: number) {
  const pay = notingTool('pay').tool;
  const expert = () =>
    new LlmAgent({ name: 'expert', model: new ScriptedModel([{ calls: [['pay', { n: 1 }]] }, 'paid']) });
  const boss = (tool: 'pay' | 'expert', name: string) =>
    fromAgent(
      new LlmAgent({
        name,
        model: new ScriptedModel([{ calls: [[tool, tool === 'pay' ? {} : { request: 'pay' }]] }, 'done']),
      }),
    );
  const hostOf = (agents: AgentSource[]) =>
    createHost({
      app: 'shop',
      agents,
      tools: [pay, subagentTool(fromAgent(expert()))],
      policy: rulePolicy([{ tool: 'expert', outcome: 'allow' }]),
      sessions,
    });
  for (const [tool, count] of [
    ['pay', plain],
    ['expert', within],
  ] as const) {
    for (let n = 0; n < count; n++) {
      const first = hostOf([boss(tool, 'boss')]);
      await say(await first.open('boss', { sessionId: `${tool}${n}`, create: true }), 'go');
      await first.close();
    }
  }
  const { source, opened } = counted(boss('pay', 'boss'));
  return { host: hostOf([source]), opened };
}

describe.each([memory, ...shared])('ATK-L6 an id of which the index of $name does not tell', (server) => {
  test.skipIf('skip' in server && server.skip !== undefined)(
    'opens those sessions that wait for a sub-agent, and no others',
    { timeout: 60_000 },
    async () => {
      const database = await server.make();
      const service = await database.open();
      const { host, opened } = await waiting(service, 5, 2);
      expect(await refusal(host.approvals.decide('nobody#policy', { kind: 'approve' }, { by }))).toMatchObject({
        code: 'E_UNKNOWN_REQUEST',
        message: expect.stringContaining('coxswain sessions rebuild'),
      });
      expect([...opened].sort()).toEqual(['expert0', 'expert1']);
      opened.clear();
      expect(await host.approvals.get('nobody#policy')).toBeUndefined();
      expect([...opened].sort()).toEqual(['expert0', 'expert1']);
      const own = (await host.approvals.list({ sessionId: 'pay3' }))[0]?.request.requestId ?? '';
      opened.clear();
      expect(await host.approvals.decide(own, { kind: 'approve' }, { by })).toMatchObject({ status: 'settled' });
      await host.idle();
      expect([...opened]).toEqual(['pay3']);
      await host.close();
      await service.close?.();
      await database.drop();
    },
  );
});

test('ATK-L6 many that wait for a sub-agent are not looked into: the error says what to name', async () => {
  const service = new InMemorySessionService();
  const { host, opened } = await waiting(service, 0, 1);
  const open = await service.openCalls({ app: 'shop' });
  // As an index with a call of the sub-agent in each of many sessions has it.
  const [call] = open.filter(({ name }) => name === 'expert');
  service.openCalls = async () =>
    Array.from({ length: 65 }, (_, n) => ({
      ...call,
      key: { app: 'shop', userId: 'local', id: `s${n}` },
    })) as typeof open;
  expect(await refusal(host.approvals.decide('nobody#policy', { kind: 'approve' }, { by }))).toMatchObject({
    code: 'E_UNKNOWN_REQUEST',
    message: expect.stringMatching(/65 sessions wait for a sub-agent.*name sessionId and userId.*sessions rebuild/),
  });
  expect([...opened]).toEqual([]);
  await host.close();
});
