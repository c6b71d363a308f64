import { describe, expect, test } from 'vitest';
import { defineTool, rulePolicy } from '../../src/index.ts';
import { bot, hostOf } from '../host/kit.ts';
import { all, client, serving } from './kit.ts';

/** A shop that asks two people about more than 1,000, one of them about more than 50, and hides the card. */
function shop() {
  const runs: object[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: {
      type: 'object',
      properties: { eur: { type: 'number', minimum: 1 }, card: { type: 'string' } },
      required: ['eur'],
    },
    execute: (args: object) => {
      runs.push(args);
      return 'paid';
    },
  });
  const boss = { roles: ['boss'], notRequester: true };
  const policy = rulePolicy(
    [
      { id: 'never', tool: 'pay', args: { '/eur': { minimum: 5000 } }, outcome: 'deny', reason: 'nobody pays that' },
      { id: 'much', tool: 'pay', args: { '/eur': { minimum: 1000 } }, outcome: 'ask', approvers: { roles: ['owner'] } },
      {
        id: 'some',
        tool: 'pay',
        args: { '/eur': { minimum: 50 } },
        outcome: 'ask',
        approvers: boss,
        redact: ['/card'],
      },
      { id: 'little', tool: 'pay', outcome: 'allow' },
    ],
    { placeOf: (_, index) => `shop.yaml:${10 + index}` },
  );
  const { host } = hostOf(bot([{ calls: [['pay', { eur: 80, card: '4242-4242' }]] }, 'paid']), {
    tools: [pay],
    policy,
  });
  return { host, runs };
}

async function asked() {
  const { host, runs } = shop();
  const server = await serving(host);
  const [anna, bert, eve] = [
    await client(server, 'anna'),
    await client(server, 'bert:boss'),
    await client(server, 'eve:clerk'),
  ];
  const session = await anna.open('bot', { sessionId: 's', create: true });
  await all(session.stream('pay'));
  const [open] = await bert.approvals.list();
  const place = { agent: 'bot', userId: 'anna', sessionId: 's' };
  return { host, runs, anna, bert, eve, place, requestId: open?.request.requestId ?? '', open };
}

describe('why policy says what it says', () => {
  test('WS-73 who may answer sees which rules were tried, with their places, and why the others do not apply', async () => {
    const { bert, anna, eve, place, requestId } = await asked();
    expect(await bert.approvals.explain(requestId, place)).toEqual({
      decision: {
        outcome: 'ask',
        ruleId: 'some',
        approvers: { roles: ['boss'], notRequester: true },
        redact: ['/card'],
      },
      rules: [
        {
          tier: 'org',
          rule: expect.stringContaining('shop.yaml:10'),
          id: 'never',
          outcome: 'deny',
          spoke: false,
          because: { field: 'args', why: expect.stringMatching(/\/eur: 80 is below minimum 5000/) },
        },
        expect.objectContaining({ id: 'much', spoke: false }),
        expect.objectContaining({ id: 'some', spoke: true, rule: expect.stringContaining('shop.yaml:12') }),
        expect.objectContaining({ id: 'little', spoke: false, because: { after: expect.stringContaining('some') } }),
      ],
      byDefault: false,
      args: { eur: 80, card: '4242-4242' },
      principal: { id: 'anna' },
      agentPath: ['bot'],
    });
    // Its owner, who may not answer, gets the decision alone, and may try nothing.
    const owners = await anna.approvals.explain(requestId, place);
    expect(owners).toMatchObject({ decision: { outcome: 'ask', ruleId: 'some' } });
    expect(owners).not.toHaveProperty('rules');
    await expect(anna.approvals.explain(requestId, place, { eur: 1 })).rejects.toMatchObject({
      code: 'E_NOT_APPROVER',
    });
    // To others there is no such call, whether they try arguments or not.
    for (const args of [undefined, { eur: 1 }]) {
      await expect(eve.approvals.explain(requestId, place, args)).rejects.toMatchObject({ code: 'E_UNKNOWN_REQUEST' });
    }
  });

  test('WS-73 other arguments are judged before they are sent: allowed, asked, for others, denied, unfit; nothing is stored', async () => {
    const { bert, anna, place, requestId, runs } = await asked();
    const session = await anna.open('bot', { sessionId: 's' });
    const before = await all(session.events());
    const say = (args: Record<string, unknown>) => bert.approvals.explain(requestId, place, args);
    expect(await say({ eur: 20 })).toMatchObject({
      decision: { outcome: 'allow', ruleId: 'little' },
      args: { eur: 20 },
    });
    const asks = await say({ eur: 60 });
    expect(asks).toMatchObject({ decision: { outcome: 'ask', ruleId: 'some' } });
    expect(asks).not.toHaveProperty('isForOthers');
    expect(await say({ eur: 2000 })).toMatchObject({ decision: { ruleId: 'much' }, isForOthers: true });
    expect(await say({ eur: 9000 })).toMatchObject({ decision: { outcome: 'deny', reason: 'nobody pays that' } });
    expect(await say({ eur: 0 })).toMatchObject({ unfit: expect.stringContaining('eur: must be >= 1') });
    expect(await all(session.events())).toEqual(before);
    expect(runs).toEqual([]);
  });

  test('WS-73 a call that is over is explained with what policy was asked then; what an audit hides is hidden here, in reasons too', async () => {
    const { bert, anna, eve, place, requestId, host, runs, open } = await asked();
    const previewDigest = open?.request.approval?.previewDigest ?? '';
    await bert.approvals.decide(
      requestId,
      { kind: 'approve', previewDigest, args: { eur: 70, card: '4242-4242' } },
      place,
    );
    await host.idle();
    expect(runs).toEqual([{ eur: 70, card: '4242-4242' }]);
    const owners = await anna.approvals.explain(requestId, place);
    expect(owners).toMatchObject({
      decision: { ruleId: 'some' },
      args: { eur: 70, card: '[redacted]' },
      principal: { id: 'anna' },
    });
    expect(JSON.stringify(owners)).not.toContain('4242-4242');
    const approvers = await bert.approvals.explain(requestId, place);
    expect(approvers.rules).toHaveLength(4);
    expect(JSON.stringify(approvers)).not.toContain('4242-4242');
    await expect(eve.approvals.explain(requestId, place)).rejects.toMatchObject({ code: 'E_UNKNOWN_REQUEST' });
  });

  test('a program that has the host sees everything of any call, and may try arguments', async () => {
    const { host, place, requestId } = await asked();
    const by = { id: 'program' };
    expect(await host.approvals.explain(requestId, { by, ...place })).toBeUndefined();
    const all = await host.approvals.explain(requestId, { by, ...place, everything: true, args: { eur: 9000 } });
    expect(all).toMatchObject({ decision: { outcome: 'deny' }, rules: [{ id: 'never', spoke: true }, {}, {}, {}] });
  });
});
