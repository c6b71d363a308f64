import { describe, expect, test } from 'vitest';
import type { PolicyDecision } from '../../src/contracts/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { bot, endOf, hostOf, notingTool, only, policyOf, refusal, say } from './kit.ts';

const pay = (eur = 5) => bot([{ calls: [['pay', { eur }]] }, 'done']);
const boss = { id: 'bo', roles: ['boss'] };
const anna = { id: 'anna' };
const strict: PolicyDecision = { outcome: 'ask_user', approvers: { roles: ['boss'], notRequester: true }, ruleId: 'r' };

describe('what a question was put with', () => {
  test('NEW-P1 holds under a host that was made without that policy', async () => {
    for (const now of ['allow', 'ask_user'] as const) {
      const store = new InMemorySessionService();
      const { tool, runs } = notingTool('pay');
      const first = hostOf(pay(), { store, tools: [tool], policy: policyOf({ pay: strict }) });
      await say(await first.host.open('bot', { sessionId: 's', create: true, principal: anna }), 'go');
      await first.host.close();
      const { host } = hostOf(bot(['done']), { store, tools: [tool], policy: policyOf({ pay: now }) });
      const session = await host.open('bot', { sessionId: 's' });
      expect(endOf(await say(session, { kind: 'continue' })).reason).toBe('input_required');
      const { requestId, approval } = await only(session);
      expect(approval).toMatchObject({ approvers: { roles: ['boss'], notRequester: true }, ruleId: 'r' });
      const given = { kind: 'approve' as const, by: { ...anna, roles: ['boss'] } };
      expect((await refusal(session.respond(requestId, given))).code).toBe('E_NOT_APPROVER');
      await session.respond(requestId, { kind: 'approve', by: boss });
      await say(session, { kind: 'continue' });
      expect(runs).toEqual([{ eur: 5 }]);
      await host.close();
    }
  });

  test('ATT-B11 a policy that is tightened after the yes is obeyed at once', async () => {
    let word: PolicyDecision = { outcome: 'ask_user' };
    const { tool, runs } = notingTool('pay');
    const { host } = hostOf(pay(), { tools: [tool], policy: policyOf({ pay: () => word }) });
    const session = await host.open('bot', { principal: anna });
    await say(session, 'go');
    await session.respond((await only(session)).requestId, { kind: 'approve', by: { id: 'eve' } });
    word = { outcome: 'ask_user', approvers: { roles: ['boss'] } };
    expect(endOf(await say(session, { kind: 'continue' })).reason).toBe('input_required');
    expect(runs).toEqual([]);
    await host.close();
  });

  test('ATT-B5 two people who complete a quorum at once settle it once', async () => {
    const store = new InMemorySessionService();
    const { tool, runs } = notingTool('pay');
    const options = {
      store,
      tools: [tool],
      policy: policyOf({ pay: { outcome: 'ask_user', approvers: { quorum: 2 } } }),
    };
    const one = hostOf(pay(), options).host;
    const two = hostOf(pay(), options).host;
    const session = await one.open('bot', { sessionId: 's', create: true, principal: anna });
    await say(session, 'go');
    const other = await two.open('bot', { sessionId: 's' });
    const { requestId } = await only(session);
    const came = await Promise.all([
      session.respond(requestId, { kind: 'approve', by: { id: 'kim' } }),
      other.respond(requestId, { kind: 'approve', by: { id: 'lee' } }),
    ]);
    expect(came.map(({ status }) => status).sort()).toEqual(['settled', 'waiting_quorum']);
    await say(session, { kind: 'continue' });
    expect(runs).toEqual([{ eur: 5 }]);
    await Promise.all([one.close(), two.close()]);
  });

  test('MUT-H1 a vote counts for what was shown', async () => {
    let text = '5 EUR';
    const { tool, runs } = notingTool('pay', { preview: () => [{ type: 'text', text }] });
    const policy = policyOf({ pay: { outcome: 'ask_user', approvers: { quorum: 2 } } });
    const { host } = hostOf(pay(), { tools: [tool], policy });
    const session = await host.open('bot', { principal: anna });
    await say(session, 'go');
    const { requestId } = await only(session);
    const vote = async (id: string) => (await session.respond(requestId, { kind: 'approve', by: { id } })).status;
    expect(await vote('bob')).toBe('waiting_quorum');
    text = '500 EUR';
    expect(await vote('eve')).toBe('waiting_quorum');
    await say(session, { kind: 'continue' });
    expect(runs).toEqual([]);
    expect(await vote('bob')).toBe('settled');
    await say(session, { kind: 'continue' });
    expect(runs).toEqual([{ eur: 5 }]);
    await host.close();
  });
});
