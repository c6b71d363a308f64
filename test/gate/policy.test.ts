import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { PolicyDecision, PolicyEvaluator } from '../../src/contracts/index.ts';
import { denyOverrides, evaluatePolicy, excludedBy, mergeDecisions } from '../../src/gate/index.ts';

const request = { action: 'write', args: { path: 'a' } };
const says = (decision: unknown): PolicyEvaluator => ({ evaluate: () => decision as PolicyDecision });
const fails = (error: unknown): PolicyEvaluator => ({
  evaluate() {
    throw error;
  },
});

describe('S3-62 evaluate gives allow, deny or ask', () => {
  test.each(['allow', 'deny', 'ask'])('%s is passed on whole, without waiting', (outcome) => {
    const decision = { outcome, reason: 'because', ruleId: 'r' };
    expect(evaluatePolicy(says(decision), request)).toEqual(decision);
  });

  test('ask in its former word is ask, and keeps what comes with it', () => {
    const approvers = { roles: ['finance'], quorum: 2 };
    expect(evaluatePolicy(says({ outcome: 'ask_user', approvers, expiresIn: 60 }), request)).toEqual({
      outcome: 'ask',
      approvers,
      expiresIn: 60,
    });
  });

  test('a promise is waited for', async () => {
    await expect(evaluatePolicy(says(Promise.resolve({ outcome: 'allow' })), request)).resolves.toEqual({
      outcome: 'allow',
    });
  });

  test('no policy allows', () => {
    expect(evaluatePolicy(undefined, request)).toEqual({ outcome: 'allow' });
  });

  test('a malformed word is left out', () => {
    expect(evaluatePolicy(says({ outcome: 'deny', reason: { a: 1 }, ruleId: 5 }), request)).toEqual({
      outcome: 'deny',
    });
  });
});

describe('F20 anything but a proper answer is a deny', () => {
  test.each<[string, unknown, RegExp]>([
    ['undefined', undefined, /no decision/],
    ['true', true, /no decision/],
    ['a list', [{ outcome: 'allow' }], /no decision/],
    ['no outcome', {}, /unknown outcome/],
    ['an unknown outcome', { outcome: 'ALLOW' }, /unknown outcome: "ALLOW"/],
    ['an outcome that cannot be shown', { outcome: 1n }, /failed/],
    ['malformed approvers', { outcome: 'ask', approvers: { roles: 'admin' } }, /approvers\.roles/],
    ['a quorum of none', { outcome: 'ask', approvers: { quorum: 0 } }, /approvers\.quorum/],
    ['no time to answer', { outcome: 'ask', expiresIn: -1 }, /expiresIn/],
    ['malformed redactions', { outcome: 'allow', redact: '/path' }, /redact/],
    ['a redaction that hides nothing', { outcome: 'allow', redact: ['path'] }, /redact/],
    ['malformed redactions of a deny', { outcome: 'deny', redact: '/path' }, /redact/],
  ])('%s', async (_, decision, reason) => {
    const expected = { outcome: 'deny', reason: expect.stringMatching(reason), redact: [''] };
    expect(evaluatePolicy(says(decision), request)).toEqual(expected);
    expect(await evaluatePolicy(says(Promise.resolve(decision)), request)).toEqual(expected);
  });

  test.each<[string, unknown, string]>([
    ['an error', new Error('no route'), 'The policy failed: no route'],
    ['a string', 'no', 'The policy failed: no'],
    ['a long message', new Error('x'.repeat(1000)), `The policy failed: ${'x'.repeat(300)}…`],
    ['what has no words', Object.create(null), expect.stringMatching(/^The policy failed: /)],
  ])('a throw of %s', async (_, error, reason) => {
    expect(evaluatePolicy(fails(error), request)).toEqual({ outcome: 'deny', reason, redact: [''] });
    expect(await evaluatePolicy(says(Promise.reject(error)), request)).toEqual({
      outcome: 'deny',
      reason,
      redact: [''],
    });
  });

  test('a decision that throws while it is read', async () => {
    const decision = Object.defineProperty({}, 'outcome', {
      get() {
        throw new Error('trap');
      },
    });
    const expected = { outcome: 'deny', reason: 'The policy failed: trap', redact: [''] };
    expect(evaluatePolicy(says(decision), request)).toEqual(expected);
    expect(await evaluatePolicy(says(Promise.resolve(decision)), request)).toEqual(expected);
  });
});

describe('time and abort', () => {
  const unhandled = vi.fn();
  beforeEach(() => {
    vi.useFakeTimers();
    process.on('unhandledRejection', unhandled);
  });
  afterEach(() => {
    vi.useRealTimers();
    process.off('unhandledRejection', unhandled);
    unhandled.mockClear();
  });

  test('a policy that never answers is a deny after ten seconds, and its late failure is nobody’s', async () => {
    let reject: (error: Error) => void = () => {};
    let signal: AbortSignal | undefined;
    const policy: PolicyEvaluator = {
      evaluate(_, given) {
        signal = given;
        return new Promise((_resolve, fail) => {
          reject = fail;
        });
      },
    };
    const answer = evaluatePolicy(policy, request);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await answer).toMatchObject({ outcome: 'deny', reason: 'The policy gave no answer within 10000 ms.' });
    expect(signal?.aborted).toBe(true);
    reject(new Error('late'));
    vi.useRealTimers();
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).not.toHaveBeenCalled();
  });

  test.each([0, 2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY])(
    'a limit of %d ms is none that runs out: the policy is waited for',
    async (timeoutMs) => {
      const { promise, resolve } = Promise.withResolvers<PolicyDecision>();
      const answer = evaluatePolicy(says(promise), request, { timeoutMs });
      await vi.advanceTimersByTimeAsync(24 * 60 * 60_000);
      resolve({ outcome: 'allow' });
      expect(await answer).toEqual({ outcome: 'allow' });
      const policy: PolicyEvaluator = { ...says(promise), getExcluded: async () => ['write'] };
      expect(await excludedBy(policy, { agent: 'a' }, timeoutMs)).toEqual(['write']);
    },
  );

  test('an abort is a deny at once, and is passed on', async () => {
    const controller = new AbortController();
    let seen: unknown;
    const policy: PolicyEvaluator = {
      evaluate: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => {
            seen = signal.reason;
            reject(signal.reason);
          });
        }),
    };
    const answer = evaluatePolicy(policy, request, { signal: controller.signal });
    controller.abort('stop');
    expect(await answer).toMatchObject({ outcome: 'deny', reason: 'The policy gave no answer: the call was aborted.' });
    expect(seen).toBe('stop');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('an aborted call asks nobody', () => {
    const evaluate = vi.fn();
    const answer = evaluatePolicy({ evaluate }, request, { signal: AbortSignal.abort() });
    expect(answer).toMatchObject({ outcome: 'deny' });
    expect(evaluate).not.toHaveBeenCalled();
  });

  test('an answer leaves no timer and no listener behind', async () => {
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, 'addEventListener');
    const remove = vi.spyOn(signal, 'removeEventListener');
    await evaluatePolicy(says(Promise.resolve({ outcome: 'allow' })), request, { signal });
    expect(vi.getTimerCount()).toBe(0);
    expect(remove).toHaveBeenCalledTimes(add.mock.calls.length);
  });
});

describe('denyOverrides', () => {
  const allow = says({ outcome: 'allow', ruleId: 'a' });
  const ask = says({ outcome: 'ask', ruleId: 'q', reason: 'risky' });
  const deny = says({ outcome: 'deny', ruleId: 'd' });
  const later = (policy: PolicyEvaluator): PolicyEvaluator => ({ evaluate: async (asked) => policy.evaluate(asked) });

  test.each<[string, PolicyEvaluator[], object]>([
    ['nothing', [], { outcome: 'deny', reason: 'There is no policy to ask.' }],
    ['allow, allow', [allow, allow], { outcome: 'allow', ruleId: 'a' }],
    ['allow, ask', [allow, ask], { outcome: 'ask', ruleId: 'q', reason: 'risky' }],
    ['ask, deny', [ask, deny], { outcome: 'deny', ruleId: 'd' }],
    [
      'allow, a failure',
      [allow, fails(new Error('down'))],
      { outcome: 'deny', reason: 'The policy failed: down', redact: [''] },
    ],
  ])('%s', async (_, policies, expected) => {
    expect(denyOverrides(...policies).evaluate(request)).toEqual(expected);
    expect(await denyOverrides(...policies.map(later)).evaluate(request)).toEqual(expected);
  });

  test('what any of them hides is hidden, whoever denies and in whatever order', async () => {
    const hides = says({ outcome: 'allow', redact: ['/a'] });
    const deny = says({ outcome: 'deny', ruleId: 'd', redact: ['/b'] });
    for (const policies of [
      [deny, hides],
      [hides, deny],
      [deny, later(hides)],
      [later(hides), later(deny)],
    ]) {
      const decision = await denyOverrides(...policies).evaluate(request);
      expect([decision.outcome, decision.ruleId, decision.redact?.toSorted()]).toEqual(['deny', 'd', ['/a', '/b']]);
    }
  });

  test('two asks become one that satisfies both', () => {
    const merged = mergeDecisions(
      {
        outcome: 'ask',
        reason: 'money',
        approvers: { roles: ['finance', 'ceo'], quorum: 2 },
        expiresIn: 600,
        redact: ['/a'],
      },
      {
        outcome: 'ask',
        reason: 'foreign',
        approvers: { roles: ['ceo', 'legal'], notRequester: true },
        expiresIn: 60,
        redact: ['/b'],
      },
    );
    expect(merged).toEqual({
      outcome: 'ask',
      reason: 'money; foreign',
      approvers: { roles: ['ceo'], quorum: 2, notRequester: true },
      expiresIn: 60,
      redact: ['/a', '/b'],
    });
  });

  test('an ask that nobody could answer for both is a deny', () => {
    const of = (role: string) => says({ outcome: 'ask', approvers: { roles: [role] } });
    expect(denyOverrides(of('a'), of('b')).evaluate(request)).toMatchObject({ outcome: 'deny' });
  });

  test('excluded is what any of them excludes', async () => {
    const excludes = (...names: string[]): PolicyEvaluator => ({
      evaluate: () => ({ outcome: 'allow' }),
      getExcluded: () => names,
    });
    const slow: PolicyEvaluator = { evaluate: () => ({ outcome: 'allow' }), getExcluded: async () => ['c'] };
    expect(denyOverrides(excludes('a', 'b'), allow, excludes('b')).getExcluded?.()).toEqual(['a', 'b']);
    expect(await denyOverrides(excludes('a'), slow).getExcluded?.()).toEqual(['a', 'c']);
  });
});
