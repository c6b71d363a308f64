import { describe, expect, test } from 'vitest';
import { KnownAnswers } from '../../src/host/approvals/known-answers.ts';
import type { ApprovalHost } from '../../src/host/approvals/open-sessions.ts';
import type { PolicyDecision, Principal } from '../../src/index.ts';
import { createHost, fromAgent, InMemorySessionService } from '../../src/index.ts';
import { lyingExecutor } from '../../src/testing/index.ts';
import { all, bot, hostOf, notingTool, only, policyOf } from './kit.ts';

const anna: Principal = { id: 'anna' };
const fred: Principal = { id: 'fred', roles: ['finance'] };

/** An executor that numbers its calls anew in each session. Policy names other approvers in the second session. */
async function asking(pollMs = 10) {
  let role = 'finance';
  const pay = (): PolicyDecision => ({ outcome: 'ask', approvers: { roles: [role] } });
  const host = createHost({
    app: 'shop',
    agents: [
      fromAgent(bot(['done'])),
      lyingExecutor({ name: 'bills', calls: [{ id: 'c1', name: 'pay', args: { eur: 5 } }] }),
    ],
    store: new InMemorySessionService(),
    tools: [notingTool('pay').tool],
    policy: policyOf({ pay }),
    approvalPollMs: pollMs,
  });
  const ask = async (asked: string, sessionId = 'main') => {
    role = asked;
    const session = await host.open('bills', { sessionId, userId: 'anna', create: true });
    await all(session.stream('pay', { principal: anna }));
    return session;
  };
  const outcome = (by: Principal) =>
    host.approvals.outcome('c1#policy', { by, agent: 'bills', userId: 'anna', sessionId: 'main' });
  /** What an app does with an agent that keeps its own sessions: it ends the session there, and has the host forget it. */
  const end = async (session: AsyncDisposable) => {
    await session[Symbol.asyncDispose]();
    await host.sessions('anna').delete('main');
  };
  return { host, ask, outcome, end };
}

describe('SOAK-13 what is known of the questions of a session ends with the session', () => {
  test('who might know of one knows nothing of a question of the same id in the next session of that id', async () => {
    const { host, ask, outcome, end } = await asking();
    const session = await ask('finance');
    expect(await outcome(fred)).toBeDefined();
    await end(session);
    // Asked by another process, so that this one has not seen for whom.
    expect(await outcome(fred)).toBeUndefined();
    await ask('hr');
    expect(await outcome(fred)).toBeUndefined();
    expect(await outcome({ id: 'hanna', roles: ['hr'] })).toBeDefined();
    await host.close();
  });

  test.each(['before', 'while'] as const)(
    'who has answered one in it has answered none in the next session of that id, read %s it was deleted',
    async (when) => {
      const logs = [['c1#policy'], []];
      const read = Promise.withResolvers<void>();
      const borrow = async () => {
        const log = logs.shift() ?? [];
        if (when === 'while' && log.length > 0) await read.promise;
        async function* history() {
          for (const requestId of log) yield { type: 'elicitation_response', id: requestId, requestId, byName: 'fred' };
        }
        return { session: { history, subagents: {} }, [Symbol.asyncDispose]: () => Promise.resolve() };
      };
      const known = new KnownAnswers({ borrow } as unknown as ApprovalHost, 600_000);
      const place = { agent: 'bills', userId: 'anna', sessionId: 'main' };
      const first = known.has(place, 'c1#policy', 'fred');
      if (when === 'before') expect(await first).toBe(true);
      const forgotten = known.forgetSession(place);
      read.resolve();
      await Promise.all([first, forgotten]);
      expect(await known.has(place, 'c1#policy', 'fred')).toBe(false);
      expect(logs).toEqual([]);
    },
  );

  test('those who watch hear at once that its questions have changed, and nothing of those of other sessions', async () => {
    const { host, ask, end } = await asking(600_000);
    const session = await ask('finance');
    const other = await ask('finance', 'other');
    const changes = host.approvals.changes({ approver: fred });
    const next = changes.next();
    // Whoever looks at the list after that watches.
    await host.approvals.list({ approver: fred });
    await end(session);
    expect((await next).value).toMatchObject({ userId: 'anna', sessionId: 'main' });
    await other.respond((await only(other)).requestId, { kind: 'deny', by: fred });
    expect((await changes.next()).value).toMatchObject({ sessionId: 'other' });
    await changes.return?.();
    await host.close();
  });

  test('a session that is kept nowhere takes its questions with it: those who watch hear that', async () => {
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }]), {
      tools: [notingTool('pay').tool],
      policy: policyOf({ pay: { outcome: 'ask', approvers: { roles: ['finance'] } } }),
    });
    const session = await host.open('bot', { userId: 'anna', sessionId: 'main', ephemeral: true, create: true });
    await all(session.stream('pay', { principal: anna }));
    const changes = host.approvals.changes({ approver: fred });
    const next = changes.next();
    await host.approvals.list({ approver: fred });
    await session[Symbol.asyncDispose]();
    expect((await next).value).toMatchObject({ userId: 'anna', sessionId: 'main' });
    await changes.return?.();
    await host.close();
  });
});
