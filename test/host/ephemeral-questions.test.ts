import { describe, expect, test, vi } from 'vitest';
import { cacheToolResults } from '../../src/adapters/auto-tools/index.ts';
import type { OpenApproval } from '../../src/index.ts';
import { client, serving } from '../websocket/kit.ts';
import { all, bot, brief, endOf, hostOf, notingTool, only, policyOf, readOnly, results, say } from './kit.ts';

const anna = { id: 'anna' };
const boss = { id: 'bert', roles: ['boss'] };
const asksBoss = { outcome: 'ask' as const, approvers: { roles: ['boss'] } };

const paying = { calls: [['pay', { eur: 5 }] as const] };

function shop(next: typeof paying | 'done' = 'done') {
  const pay = notingTool('pay');
  const bench = hostOf(bot([paying, next, 'done']), { tools: [pay.tool], policy: policyOf({ pay: asksBoss }) });
  return { ...bench, runs: pay.runs };
}

describe('ATK2-33 a question of a session that is kept nowhere', () => {
  test('is shown to whoever watches and may answer it, found by nobody, and answered where the session is held, by its approvers', async () => {
    const { host, store, runs } = shop();
    const seen: OpenApproval[] = [];
    const watching = host.approvals.watch({ approver: boss });
    const first = watching.next();
    const session = await host.open('bot', { userId: 'anna', sessionId: 's', ephemeral: true, create: true });
    expect(endOf(await say(session, 'go', { principal: anna })).reason).toBe('input_required');
    seen.push((await first).value as OpenApproval);
    const { requestId } = await only(session);
    expect(seen).toMatchObject([{ userId: 'anna', request: { requestId, args: { eur: 5 } } }]);
    expect([await host.approvals.list(), await host.approvals.list({ approver: boss })]).toEqual([[], []]);
    const unknown = { code: 'E_UNKNOWN_REQUEST' };
    await expect(host.approvals.decide(requestId, { kind: 'approve' }, { by: boss })).rejects.toMatchObject(unknown);
    const others = await host.open('bot', { userId: 'bert', sessionId: 's', create: true });
    await expect(others.respond(requestId, { kind: 'approve', by: boss })).rejects.toMatchObject(unknown);
    for (const by of [anna, { id: 'carl', roles: ['clerk'] }]) {
      await expect(session.respond(requestId, { kind: 'approve', by })).rejects.toMatchObject({
        code: 'E_NOT_APPROVER',
      });
    }
    expect(runs).toEqual([]);
    await session.respond(requestId, { kind: 'approve', by: boss });
    expect(endOf(await say(session, { kind: 'continue' })).reason).toBe('completed');
    expect(runs).toEqual([{ eur: 5 }]);
    expect(await store.list({ app: 'shop', userId: 'anna' })).toEqual([]);
    await watching.return?.();
    await host.close();
  });

  test.each([false, true])(
    'goes with it (its answer had come: %s): it is open nowhere, and its answer counts nowhere',
    async (isAnswered) => {
      const { host, store, runs } = shop(paying);
      const watching = host.approvals.watch({ approver: boss });
      const first = watching.next();
      const at = { userId: 'anna', sessionId: 's', ephemeral: true as const };
      const session = await host.open('bot', { ...at, create: true });
      await say(session, 'go', { principal: anna });
      const { value } = await first;
      const { requestId } = (value as OpenApproval).request;
      if (isAnswered) await session.respond(requestId, { kind: 'approve', by: boss });
      await session[Symbol.asyncDispose]();
      const unknown = { code: 'E_UNKNOWN_REQUEST' };
      await expect(host.approvals.decide(requestId, { kind: 'approve' }, { by: boss })).rejects.toMatchObject(unknown);
      expect(await host.approvals.list({ approver: boss })).toEqual([]);
      // Whoever was shown it is told nothing of what it was about.
      const came = await host.approvals.outcome(requestId, { by: boss, agent: 'bot', userId: 'anna', sessionId: 's' });
      expect(JSON.stringify(came ?? {})).not.toContain('eur');
      expect(await store.openCalls({ app: 'shop' })).toEqual([]);
      const again = await host.open('bot', { ...at, create: true });
      expect(await again.pending()).toEqual([]);
      await expect(again.respond(requestId, { kind: 'approve', by: boss })).rejects.toMatchObject(unknown);
      expect(runs).toEqual([]);
      expect(endOf(await say(again, 'go', { principal: anna })).reason).toBe('input_required');
      expect((await only(again)).requestId).not.toBe(requestId);
      await watching.return?.();
      await host.close();
    },
  );

  test('over a connection it is its client’s to see and, as policy says, to answer; nobody else finds or opens it', async () => {
    const { host, runs } = shop();
    const server = await serving(host);
    const annas = await client(server, 'anna');
    const berts = await client(server, 'bert:boss');
    const session = await annas.open('bot', { sessionId: 's', ephemeral: true, create: true });
    await all(session.stream('go'));
    const [open] = await session.pending();
    const requestId = open?.requestId ?? '';
    expect(open).toMatchObject({ name: 'pay', args: { eur: 5 } });
    expect([await annas.approvals.list({ own: true }), await berts.approvals.list()]).toEqual([[], []]);
    for (const { approvals } of [annas, berts]) {
      await expect(approvals.decide(requestId, { kind: 'approve' })).rejects.toMatchObject({
        code: 'E_UNKNOWN_REQUEST',
      });
    }
    await expect(berts.open('bot', { sessionId: 's' })).rejects.toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
    await expect(session.respond(requestId, { kind: 'approve' })).rejects.toMatchObject({ code: 'E_NOT_APPROVER' });
    expect(runs).toEqual([]);
  });
});

describe('ATK2-11 what a person has said to one call is no answer to the next one, however soon it comes', () => {
  test.each(['approve', 'deny', 'nothing in time'] as const)(
    'with results kept (answered with: %s)',
    async (answer) => {
      const start = Date.now();
      let passed = 0;
      const clock = vi.spyOn(Date, 'now').mockImplementation(() => start + passed);
      try {
        const look = notingTool('look', readOnly);
        const { host } = hostOf(
          bot(Array.from({ length: 2 }, () => [{ calls: [['look', { q: 1 }] as const] }, 'done']).flat()),
          {
            tools: [look.tool],
            policy: policyOf({ look: { outcome: 'ask', expiresIn: 60 } }),
            hooks: cacheToolResults({ ttlMs: 3_600_000 }),
          },
        );
        const session = await host.open('bot');
        const questions: string[] = [];
        for (let turn = 0; turn < 2; turn++) {
          expect(brief(await say(session, 'go')).at(-1)).toBe('end input_required');
          const { requestId } = await only(session);
          questions.push(requestId);
          if (answer === 'nothing in time') passed += 61_000;
          else await session.respond(requestId, { kind: answer });
          const said = results(await say(session, { kind: 'continue' })).look;
          expect(said).toMatch({ approve: /^look done/, deny: /denied|no/i, 'nothing in time': /./ }[answer]);
        }
        expect(new Set(questions).size).toBe(2);
        expect(look.runs).toHaveLength(answer === 'approve' ? 2 : 0);
        await host.close();
      } finally {
        clock.mockRestore();
      }
    },
  );
});
