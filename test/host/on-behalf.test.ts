import { describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { ApproverRule, Principal } from '../../src/contracts/index.ts';
import { createHttp } from '../../src/host/http/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import type { SessionService } from '../../src/runtime/index.ts';
import { bot, endOf, hostOf, notingTool, only, policyOf, refusal, say } from './kit.ts';

const boss = ['boss'];
const anna: Principal = { id: 'anna', roles: boss };
const bert: Principal = { id: 'bert', roles: boss };
const forAnna: Principal = { id: 'svc', roles: boss, onBehalfOf: 'anna' };
const forBert: Principal = { id: 'svc', roles: boss, onBehalfOf: 'bert' };

async function asked(approvers: ApproverRule, asks: Principal, store: SessionService = new InMemorySessionService()) {
  const pay = notingTool('pay');
  const policy = policyOf({ pay: { outcome: 'ask', approvers } });
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'done']), { tools: [pay.tool], policy, store });
  const session = await host.open('bot', { principal: asks });
  await say(session, 'go');
  const { requestId } = await only(session);
  const vote = (by: Principal) => session.respond(requestId, { kind: 'approve', by });
  return { host, session, vote, pay };
}

const nobody: [unknown][] = [[null], [7], [''], [{ a: 1 }], [['anna']]];

describe('ATK2-06 a principal who acts for what is nobody', () => {
  test.each(nobody)('%j is not let in, and nothing of theirs is stored', async (onBehalfOf) => {
    const store = openSqlite(':memory:');
    const { host } = hostOf(bot(['hi']), { store });
    const warnings: string[] = [];
    const http = createHttp(host, {
      authenticate: () => ({ id: 'anna', onBehalfOf }) as unknown as Principal,
      warn: (text) => warnings.push(text),
    });
    const came = await http(
      new Request('https://x.example/v1/agents/bot/sessions', {
        method: 'POST',
        headers: { authorization: 'Bearer a', 'content-type': 'application/json' },
        body: JSON.stringify({ sessionId: 's', create: true }),
      }),
    );
    expect(came.status).toBe(503);
    expect(warnings).toEqual([expect.stringContaining('gave a principal whose onBehalfOf is no text')]);
    expect(await store.list({ app: 'shop', userId: 'anna' })).toEqual([]);
    await http.close();
    await host.close();
    await store.close();
  });

  test.each(nobody)(
    '%j is no one of several who must approve, asks for nothing and is shown nothing',
    async (onBehalfOf) => {
      const { host, session, vote } = await asked({ quorum: 2, roles: boss }, { id: 'asks' });
      const by = { id: 'k', roles: boss, onBehalfOf } as unknown as Principal;
      const { requestId } = await only(session);
      for (const call of [
        () => vote(by),
        () => host.approvals.decide(requestId, { kind: 'approve' }, { by }),
        () => host.approvals.list({ approver: by }),
        () => host.open('bot', { principal: by }),
        () => say(session, 'go', { principal: by }),
        () => say(session, { kind: 'tool_approval', requestId, approved: true, by } as never),
      ]) {
        expect(await refusal((async () => call())())).toMatchObject({
          code: 'E_BAD_INPUT',
          message: expect.stringContaining('onBehalfOf is not the id of somebody'),
        });
      }
      expect((await vote(anna)).status).toBe('waiting_quorum');
      await host.close();
    },
  );
});

describe('ATK-30 whoever acts for a person', () => {
  test.each([
    ['a service asked for them', forAnna, anna],
    ['a service approves for whoever asked', anna, forAnna],
    ['two services act for them', forAnna, { ...forAnna, id: 'other' }],
    ['the service itself approves what it asked for somebody', forAnna, { id: 'svc', roles: boss }],
    ['a service approves for another, what it has asked for', forAnna, forBert],
  ])('does not approve their request: %s', async (_, asks, by) => {
    const { host, vote, pay } = await asked({ notRequester: true, roles: boss }, asks);
    expect((await refusal(vote(by))).code).toBe('E_NOT_APPROVER');
    expect((await vote({ id: 'cy', roles: boss })).status).toBe('settled');
    expect(pay.runs).toEqual([]);
    await host.close();
  });

  test.each([
    ['in memory', () => new InMemorySessionService()],
    ['in SQLite', () => openSqlite(':memory:')],
  ])('gives that person’s vote: it is no second one, and for two people there are two, %s', async (_, store) => {
    const { host, session, vote, pay } = await asked({ roles: boss, quorum: 3 }, { id: 'clerk' }, store());
    const votes = [];
    for (const by of [anna, forAnna, forAnna, forBert, bert]) votes.push((await vote(by)).status);
    expect(votes).not.toContain('settled');
    expect(endOf(await say(session, { kind: 'continue' })).reason).toBe('input_required');
    expect(pay.runs).toEqual([]);
    expect((await vote({ id: 'cy', roles: boss })).status).toBe('settled');
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([{}]);
    await host.close();
  });
});
