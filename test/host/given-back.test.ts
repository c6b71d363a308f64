import { describe, expect, test } from 'vitest';
import type { AgentSession, AgentSource } from '../../src/contracts/index.ts';
import { createHost, fromAgent, InMemorySessionService } from '../../src/index.ts';
import { bot, notingTool, only, policyOf, refusal, say } from './kit.ts';

/** A source that counts its sessions that are open. */
function counting(source: AgentSource) {
  const open = new Set<AgentSession>();
  const counted: AgentSource = {
    descriptor: source.descriptor,
    ...(source.sessions ? { sessions: source.sessions } : {}),
    async open(...given) {
      const session = await source.open(...given);
      open.add(session);
      const close = session[Symbol.asyncDispose].bind(session);
      session[Symbol.asyncDispose] = async () => {
        open.delete(session);
        await close();
      };
      return session;
    },
  };
  return { source: counted, open };
}

/** A host with a question that waits, and no session open. */
async function asking(approvers: object) {
  const { source, open } = counting(fromAgent(bot([{ calls: [['pay', { eur: 5 }]] }, 'done'])));
  const pay = notingTool('pay');
  const host = createHost({
    app: 'shop',
    agents: [source],
    store: new InMemorySessionService(),
    tools: [pay.tool],
    policy: policyOf({ pay: { outcome: 'ask', approvers } }),
  });
  const session = await host.open('bot');
  await say(session, 'go');
  const { requestId } = await only(session);
  await session[Symbol.asyncDispose]();
  return { host, requestId, open, runs: pay.runs };
}

describe('MUT-H6 a decision gives back the session that it has looked into', () => {
  test('where it was refused', async () => {
    const { host, requestId, open } = await asking({ roles: ['boss'] });
    const refused = refusal(host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'eve' } }));
    expect((await refused).code).toBe('E_NOT_APPROVER');
    expect(open.size).toBe(0);
  });

  test('where it was one vote of several', async () => {
    const { host, requestId, open, runs } = await asking({ roles: ['boss'], quorum: 2 });
    const by = { id: 'eve', roles: ['boss'] };
    const settled = await host.approvals.decide(requestId, { kind: 'approve' }, { by });
    expect([settled.status, open.size, runs]).toEqual(['waiting_quorum', 0, []]);
  });

  test('where there is no such question', async () => {
    const { host, open } = await asking({ roles: ['boss'] });
    const refused = refusal(host.approvals.decide('none', { kind: 'approve' }, { by: { id: 'eve' } }));
    expect((await refused).code).toBe('E_UNKNOWN_REQUEST');
    expect(open.size).toBe(0);
  });
});
