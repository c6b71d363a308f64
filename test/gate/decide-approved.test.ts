import { describe, expect, test } from 'vitest';
import type { Approval, GateRules } from '../../src/gate/index.ts';
import { decide, decideApproved, validateArgs } from '../../src/gate/index.ts';
import { askedOf, noting, pay, recordOf, refusal, rules } from './kit.ts';

describe("the author's floor", () => {
  type Floor = GateRules['needsApproval'];
  const fails: Floor = () => {
    throw new Error('no idea');
  };
  test.each<[string, Floor, string | undefined]>([
    ['true', true, 'the tool asks for approval'],
    ['false', false, undefined],
    ['a yes to these arguments', ({ eur }: { eur?: number }) => eur === 5, 'the tool asks for approval'],
    ['a no to these arguments', ({ eur }: { eur?: number }) => eur !== 5, undefined],
    ['a yes that takes its time', async () => true, 'the tool asks for approval'],
    ['a failure', fails, 'the tool could not say whether it needs approval: no idea'],
  ])('%s', async (_, needsApproval, reason) => {
    const verdict = await decide(pay(), rules({ ...noting({}), needsApproval }));
    expect(verdict).toMatchObject(reason === undefined ? { kind: 'run' } : { kind: 'ask', question: { reason } });
  });

  test('is not asked where there is a question already', async () => {
    let calls = 0;
    const needsApproval = () => ++calls > 0;
    const verdict = await decide(pay(), rules({ ...noting({ outcome: 'ask', reason: 'rule' }), needsApproval }));
    expect([verdict, calls]).toEqual([{ kind: 'ask', question: { args: { eur: 5 }, reason: 'rule' } }, 0]);
    await decide(pay(), rules({ needsApproval, hookAsked: () => ({}) }));
    expect(calls).toBe(0);
  });

  test('is waited for no longer than the call lasts', async () => {
    const controller = new AbortController();
    const deciding = decide(
      pay(),
      rules({
        signal: controller.signal,
        needsApproval: () => new Promise<boolean>(() => controller.abort(new Error('stopped'))),
      }),
    );
    expect(await deciding).toMatchObject({ kind: 'ask', question: { reason: expect.stringContaining('stopped') } });
  });
});

describe('a call that somebody approved', () => {
  const inputSchema = { type: 'object', properties: { eur: { type: 'number' } } };
  const approve = (approval: Partial<Approval> = {}, extra: Partial<GateRules> = {}) =>
    decideApproved(pay(), rules({ validate: (args) => validateArgs({ inputSchema }, args), ...extra }), {
      by: 'ann',
      ...approval,
    });

  test('runs, and the log says who said yes to what', async () => {
    const approval = { reason: 'ok', ruleId: 'r', requestedBy: 'bob', redact: ['/x'] };
    const verdict = await approve(approval, { ...noting({ redact: ['/y'] }), principal: { id: 'eve' } });
    const { redact, ...record } = recordOf(verdict) ?? { outcome: 'denied', by: '' };
    expect(record).toEqual({
      outcome: 'approved',
      by: 'ann',
      reason: 'ok',
      ruleId: 'r',
      requestedBy: 'bob',
      asked: askedOf({ principal: { id: 'eve' } }),
    });
    expect(redact?.toSorted()).toEqual(['/x', '/y']);
  });

  test('runs with what was edited, which the record has', async () => {
    const { policy, asked } = noting({});
    const verdict = await approve({ args: { eur: 1 } }, { policy });
    expect(verdict).toMatchObject({
      kind: 'run',
      decision: { args: { eur: 1 }, record: { by: 'ann', args: { eur: 1 } } },
    });
    expect(asked.map(({ args }) => args)).toEqual([{ eur: 1 }]);
  });

  test('does not run against policy, whoever approved it', async () => {
    const verdict = await approve({}, noting({ outcome: 'deny', reason: 'too late' }));
    expect(verdict).toMatchObject(refusal('denied by policy: too late'));
    expect(recordOf(verdict)).toMatchObject({ outcome: 'denied', by: 'policy' });
  });

  test('is not asked about again', async () => {
    expect(await approve({}, noting({ outcome: 'ask' }))).toMatchObject({ kind: 'run' });
  });

  test.each<[string, Partial<Approval>, string]>([
    ['what was edited', { args: { eur: 'all' } }, 'the edited arguments do not fit: eur'],
    ['what was approved as it is', { args: { eur: 5 } }, 'the arguments do not fit: usd'],
    ['what the model gave', {}, 'the arguments do not fit: usd'],
  ])('does not run where the tool does not take %s', async (_, approval, message) => {
    const strict = { ...inputSchema, required: message.includes('usd') ? ['usd'] : [] };
    const verdict = await approve(approval, { validate: (args) => validateArgs({ inputSchema: strict }, args) });
    expect(verdict).toMatchObject(refusal(expect.stringContaining(message) as never, 'invalid_args'));
    expect(recordOf(verdict)).toMatchObject({ outcome: 'denied', by: 'ann' });
  });

  test('does not run with other arguments than its host has judged', async () => {
    const verdict = await approve({ args: { eur: '7' } }, { isJudged: true });
    expect(verdict).toMatchObject(
      refusal(expect.stringContaining('as the tool takes them ({"eur":7})') as never, 'invalid_args'),
    );
    expect(await approve({ args: { eur: '7' } })).toMatchObject({ kind: 'run', decision: { args: { eur: 7 } } });
    expect(await approve({ args: { eur: 7 } }, { isJudged: true })).toMatchObject({ kind: 'run' });
    expect(await approve({}, { isJudged: true })).toMatchObject({ kind: 'run' });
  });

  test('was announced with other arguments: those that run are in the record', async () => {
    const call = pay({ announced: { eur: '5' } });
    const verdict = await decideApproved(call, rules(), { by: 'ann' });
    expect(recordOf(verdict)).toMatchObject({ args: { eur: 5 } });
    expect(recordOf(await decideApproved(pay({ announced: { eur: 5 } }), rules(), { by: 'ann' }))).not.toHaveProperty(
      'args',
    );
  });
});
