import { describe, expect, test } from 'vitest';
import { rulePolicy } from '../../src/host/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { paidSession, rules, tools } from '../audit/kit.ts';
import { bot, hostOf, notingTool, policyOf, refusal, say } from './kit.ts';

const hostOver = (store: InMemorySessionService) =>
  hostOf(bot([]), { store, tools: tools(), policy: rulePolicy(rules) }).host;

describe('the audit of a session', () => {
  test('who asked, who decided, why, under which rule, with which arguments, what ran and how it ended', async () => {
    const store = new InMemorySessionService({ chained: true });
    const { id } = await paidSession(store);
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
    const entries = await hostOver(store).audit(id);
    const card = { number: 'no. 4711' };
    const callId = expect.any(String);
    const common = { callId, agentId: 'bot', turnId: callId, requestedAt: at, endedAt: at, requestedBy: 'ann' };
    const answer = (action: string, reason: string) => [
      { requestId: expect.stringMatching(/#policy$/), action, by: 'bob', reason, at },
    ];
    expect(entries).toEqual([
      {
        ...common,
        tool: 'pay',
        args: { eur: 5, card },
        argsRun: { eur: 4, card },
        answers: answer('accept', 'Fine.'),
        decisions: [{ outcome: 'approved', by: 'user:bob', ruleId: 'pay', reason: 'Fine.', at }],
        startedAt: [at],
        outcome: 'completed',
        result: [{ type: 'text', text: 'pay done' }],
      },
      {
        ...common,
        tool: 'look',
        args: {},
        answers: [],
        decisions: [{ outcome: 'approved', by: 'policy', ruleId: 'reads', at }],
        startedAt: [],
        outcome: 'completed',
        result: [{ type: 'text', text: 'look done' }],
      },
      {
        ...common,
        tool: 'drop',
        args: { force: true },
        answers: [],
        decisions: [{ outcome: 'denied', by: 'policy', ruleId: 'no-drops', reason: 'Never.', at }],
        startedAt: [],
        outcome: 'denied',
        result: [{ type: 'text', text: 'denied by policy: Never.' }],
      },
      {
        ...common,
        tool: 'pay',
        args: { eur: 9 },
        answers: answer('decline', 'Too much.'),
        decisions: [{ outcome: 'denied', by: 'user:bob', ruleId: 'pay', reason: 'Too much.', at }],
        startedAt: [],
        outcome: 'denied',
        result: [{ type: 'text', text: 'denied: Too much.' }],
      },
    ]);
  });

  test('an open call is there, and says so', async () => {
    const { host } = hostOf(bot([{ calls: [['pay', { eur: 1 }]] }, 'done']), {
      tools: tools(),
      policy: rulePolicy(rules),
    });
    const session = await host.open('bot');
    await say(session, 'go');
    expect(await host.audit(session.id)).toMatchObject([{ tool: 'pay', outcome: 'open', decisions: [], answers: [] }]);
  });

  test('what a policy wants hidden is hidden from everybody but the roles that it is revealed to', async () => {
    const { host } = hostOf(bot([{ calls: [['login', { user: 'ann', password: 'hunter2' }]] }, 'done']), {
      tools: [notingTool('login').tool],
      policy: policyOf({ login: { outcome: 'allow', redact: ['/password'] } }),
    });
    const session = await host.open('bot');
    await say(session, 'go');
    const argsFor = async (roles: string[], options = {}) =>
      (await host.audit(session.id, { viewer: { id: 'v', roles }, ...options }))[0];
    expect(await argsFor([])).toMatchObject({ args: { user: 'ann', password: '[redacted]' }, redacted: ['/password'] });
    expect((await host.audit(session.id))[0]?.args).toEqual({ user: 'ann', password: '[redacted]' });
    expect((await argsFor(['auditor'], { reveal: ['auditor'] }))?.args).toEqual({ user: 'ann', password: 'hunter2' });
    const all = await argsFor(['auditor'], { reveal: ['auditor'], rules: [{ args: [''], result: true }] });
    expect(all).toMatchObject({ args: '[redacted]', redacted: ['', 'result'] });
  });

  test('a rule hides, too, and a no of the host keeps what it wants hidden', async () => {
    const calls = [{ calls: [['login', { password: 'hunter2' }]] as [string, object][] }, 'done'];
    const { host } = hostOf(bot(calls), {
      tools: [notingTool('login').tool],
      policy: rulePolicy([{ id: 'in', tool: 'login', outcome: 'ask', redact: ['/password'] }]),
      interactive: false,
    });
    const session = await host.open('bot');
    await say(session, 'go');
    expect(await host.audit(session.id)).toMatchObject([
      { outcome: 'denied', args: { password: '[redacted]' }, redacted: ['/password'], decisions: [{ ruleId: 'in' }] },
    ]);
  });

  test('of a session that is not there', async () => {
    expect((await refusal(hostOver(new InMemorySessionService()).audit('none'))).code).toBe('E_SESSION_NOT_FOUND');
  });
});
