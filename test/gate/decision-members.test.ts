import { describe, expect, test } from 'vitest';
import type { PolicyDecision, PolicyEvaluator, PolicyRequest } from '../../src/contracts/index.ts';
import {
  checkConfirmation,
  denyOverrides,
  evaluatePolicy,
  excludedBy,
  MAX_EXPIRES_IN,
  mergeDecisions,
  shadow,
  withRedact,
} from '../../src/gate/index.ts';

const request = { action: 'write', args: {} } as PolicyRequest;
const said = (decision: object) => evaluatePolicy({ evaluate: () => decision as PolicyDecision }, request);
const ask = (approvers: unknown) => said({ outcome: 'ask', approvers });

describe('members of a decision', () => {
  test.each<[string, object]>([
    ['nothing', {}],
    ['roles', { roles: ['a', 'b'] }],
    ['whether the requester may', { notRequester: false }],
    ['others beside', { also: [['a'], ['b', 'c']] }],
    ['no others', { also: [] }],
    ['how many', { quorum: 1 }],
  ])('approvers by %s are taken as they are', (_, approvers) => {
    expect(ask(approvers)).toEqual({ outcome: 'ask', approvers });
  });

  test.each<[string, (rule: object) => object]>([
    ['a proxy gives', (rule) => new Proxy({}, { get: (_, name) => Reflect.get(rule, name) })],
    [
      'are not listed',
      (rule) =>
        Object.defineProperties({}, Object.fromEntries(Object.entries(rule).map(([name, value]) => [name, { value }]))),
    ],
  ])('ATK2-10 approvers whose members %s oblige like any other', (_, hide) => {
    const rule = { roles: ['boss'], notRequester: true, quorum: 2, also: [['b']] };
    expect(ask(hide(rule))).toEqual({ outcome: 'ask', approvers: rule });
    expect(ask(hide({ roles: 'boss' }))).toMatchObject({ outcome: 'deny' });
  });

  test.each<[string, unknown, string]>([
    ['a list', ['a'], 'approvers'],
    ['null', null, 'approvers'],
    ['no roles', { roles: [] }, 'approvers.roles'],
    ['roles that are no names', { roles: ['a', 5] }, 'approvers.roles'],
    ['a word for a flag', { notRequester: 'yes' }, 'approvers.notRequester'],
    ['others that are no list', { also: 'a' }, 'approvers.also'],
    ['others that are no lists', { also: ['a'] }, 'approvers.also'],
    ['others that name nobody', { also: [['a'], []] }, 'approvers.also'],
    ['a part of a person', { quorum: 1.5 }, 'approvers.quorum'],
    ['nobody', { quorum: 0 }, 'approvers.quorum'],
    ['a misspelt member', { role: ['a'] }, 'approvers.role (there is no such member)'],
  ])('approvers by %s are refused', (_, approvers, member) => {
    const reason = expect.stringContaining(`malformed member: ${member}.`);
    expect(ask(approvers)).toEqual({ outcome: 'deny', reason, redact: [''] });
  });

  test.each([
    ['allow', 'aprovers', { roles: ['a'] }],
    ['ask', 'expires_in', 60],
    ['deny', 'redcat', ['/card']],
  ])('%s with a member %s that does not exist is a deny that names it', (outcome, name, value) => {
    expect(said({ outcome, reason: 'r', [name]: value })).toEqual({
      outcome: 'deny',
      reason: `The policy gave a decision with a malformed member: ${name} (there is no such member).`,
      redact: [''],
    });
  });

  test('approvers go with a question', () => {
    const approvers = { roles: ['a'] };
    expect(said({ outcome: 'allow', approvers })).toMatchObject({
      outcome: 'deny',
      reason: expect.stringMatching(/they go with ask only/),
    });
    expect(said({ outcome: 'deny', approvers: 'nonsense' })).toEqual({ outcome: 'deny', approvers: 'nonsense' });
  });

  test.each([
    [1, true],
    [0.5, true],
    [MAX_EXPIRES_IN, true],
    [MAX_EXPIRES_IN + 1, false],
    [0, false],
    [Number.NaN, false],
    ['60', false],
  ])('%s seconds to answer: %s', (expiresIn, isTaken) => {
    expect(said({ outcome: 'ask', expiresIn })).toMatchObject({ outcome: isTaken ? 'ask' : 'deny' });
    const check = () => checkConfirmation({ expiresIn: expiresIn as number });
    if (isTaken) expect(check).not.toThrow();
    else expect(check).toThrow('give seconds, above 0');
  });

  test('ATK-L1 a misspelt time of a confirmation is refused: without it the question would wait for ever', () => {
    expect(() => checkConfirmation({ expires_in: 60 } as never)).toThrow('expires_in is not known; write expiresIn');
  });

  test('no time to answer at all is none that ends', () => {
    expect(() => checkConfirmation({})).not.toThrow();
  });

  test.each<[unknown, boolean]>([
    [['/a', '/b/0'], true],
    [[''], true],
    [[], true],
    [['/a', 'b'], false],
    [['/a', 5], false],
    ['/a', false],
  ])('what is hidden by %j: taken %s', (redact, isTaken) => {
    expect(said({ outcome: 'allow', redact })).toMatchObject({ outcome: isTaken ? 'allow' : 'deny' });
  });

  test.each(['reason', 'hint', 'ruleId'])('%s is text, or is left out', (word) => {
    expect(said({ outcome: 'allow', [word]: 'x' })).toEqual({ outcome: 'allow', [word]: 'x' });
    const rest = said({ outcome: 'allow', [word]: 5 });
    expect(rest).toStrictEqual({ outcome: 'allow' });
    expect(said({ outcome: 'ask', [word]: 'x' })).toEqual({ outcome: 'ask', [word]: 'x' });
  });

  test('what a policy says at length is cut, and not in the middle of a character', () => {
    const of = (length: number) => said({ outcome: 'x'.repeat(length) });
    const failing = (message: string) =>
      evaluatePolicy(
        {
          evaluate() {
            throw new Error(message);
          },
        },
        request,
      );
    expect(failing('x'.repeat(300))).toMatchObject({ reason: `The policy failed: ${'x'.repeat(300)}` });
    expect(failing('x'.repeat(301))).toMatchObject({ reason: `The policy failed: ${'x'.repeat(300)}…` });
    expect(failing(`${'x'.repeat(299)}\u{1f600}`)).toMatchObject({
      reason: expect.stringMatching(/^[^\ud800-\udfff]*$/),
    });
    expect(JSON.stringify(of(1000)).length).toBeLessThan(500);
  });

  test('what more is hidden is added once', () => {
    const decision = { outcome: 'allow' as const, redact: ['/a'] };
    expect(withRedact(decision, undefined)).toBe(decision);
    expect(withRedact(decision, [])).toBe(decision);
    expect(withRedact(decision, ['/a'])).toBe(decision);
    expect(withRedact(decision, ['/b', '/a'])).toEqual({ outcome: 'allow', redact: ['/a', '/b'] });
    expect(withRedact({ outcome: 'allow' }, ['/b'])).toEqual({ outcome: 'allow', redact: ['/b'] });
  });
});

describe('two questions become one', () => {
  type Asked = Omit<PolicyDecision, 'outcome'>;
  const merge = (a: Asked, b: Asked) => {
    const { outcome, ...rest } = mergeDecisions({ ...a, outcome: 'ask' }, { ...b, outcome: 'ask' });
    return outcome === 'ask' ? rest : outcome;
  };
  test.each<[string, Asked, Asked, unknown]>([
    ['nothing on either side', {}, {}, {}],
    ['who may answer for one of them', {}, { approvers: { roles: ['a'] } }, { approvers: { roles: ['a'] } }],
    ['who may answer for the other', { approvers: { roles: ['a'] } }, {}, { approvers: { roles: ['a'] } }],
    ['nobody in common', { approvers: { roles: ['a'] } }, { approvers: { roles: ['b'] } }, 'deny'],
    [
      'one of two in common',
      { approvers: { roles: ['a', 'b'] } },
      { approvers: { roles: ['b'] } },
      { approvers: { roles: ['b'] } },
    ],
    [
      'the requester may not',
      { approvers: { notRequester: false } },
      { approvers: { notRequester: true } },
      { approvers: { notRequester: true } },
    ],
    [
      'the requester may',
      { approvers: { notRequester: false } },
      { approvers: {} },
      { approvers: { notRequester: false } },
    ],
    ['two of them', { approvers: { quorum: 1 } }, { approvers: { quorum: 2 } }, { approvers: { quorum: 2 } }],
    ['three of them', { approvers: { quorum: 3 } }, { approvers: { quorum: 2 } }, { approvers: { quorum: 3 } }],
    [
      'others beside',
      { approvers: { also: [['a']] } },
      { approvers: { also: [['b']] } },
      { approvers: { also: [['a'], ['b']] } },
    ],
    ['others beside for one', {}, { approvers: { also: [['b']] } }, { approvers: { also: [['b']] } }],
    ['the shorter time', { expiresIn: 9 }, { expiresIn: 5 }, { expiresIn: 5 }],
    ['the only time', {}, { expiresIn: 5 }, { expiresIn: 5 }],
    ['both reasons', { reason: 'a' }, { reason: 'b' }, { reason: 'a; b' }],
    ['one reason twice', { reason: 'a' }, { reason: 'a' }, { reason: 'a' }],
    ['the only reason', {}, { reason: 'b' }, { reason: 'b' }],
    ['both hints', { hint: 'a' }, { hint: 'b' }, { hint: 'a; b' }],
    ['the only hint', { hint: 'a' }, {}, { hint: 'a' }],
    ['the first rule', { ruleId: 'a' }, { ruleId: 'b' }, { ruleId: 'a' }],
    ['the only rule', {}, { ruleId: 'b' }, { ruleId: 'b' }],
    ['all that is hidden', { redact: ['/a'] }, { redact: ['/b'] }, { redact: ['/a', '/b'] }],
  ])('%s', (_, a, b, merged) => {
    expect(merge(a, b)).toStrictEqual(merged);
  });
});

test('of two that allow, the one that says why is kept', () => {
  const [plain, byRule, withReason] = [
    { outcome: 'allow' as const },
    { outcome: 'allow' as const, ruleId: 'r' },
    { outcome: 'allow' as const, reason: 'safe' },
  ];
  expect([mergeDecisions(plain, byRule), mergeDecisions(byRule, plain)]).toEqual([byRule, byRule]);
  expect([mergeDecisions(withReason, byRule), mergeDecisions(byRule, withReason)]).toEqual([withReason, byRule]);
});

describe('tools that a policy wants nobody to be offered', () => {
  const by = (getExcluded: unknown) =>
    excludedBy({ evaluate: () => ({ outcome: 'allow' }), getExcluded } as PolicyEvaluator, { agent: 'a' });
  test('are those that it names', async () => {
    expect(await excludedBy({ evaluate: () => ({ outcome: 'allow' }) }, { agent: 'a' })).toEqual([]);
    expect(await by(() => undefined)).toEqual([]);
    expect(await by(() => ['rm'])).toEqual(['rm']);
    expect(await by(async () => ['rm'])).toEqual(['rm']);
    expect(await by(async () => undefined)).toEqual([]);
  });

  test.each<[string, () => unknown]>([
    ['names something else', () => ['rm', 5]],
    ['gives no list', async () => 'rm'],
    [
      'fails',
      () => {
        throw new Error('away');
      },
    ],
    ['rejects', () => Promise.reject(new Error('away'))],
  ])('nothing runs where it %s', async (_, getExcluded) => {
    await expect(by(getExcluded)).rejects.toMatchObject({ code: 'E_POLICY', retryable: true });
  });

  test('of several policies are those of any of them, on trial or not', async () => {
    expect(denyOverrides().getExcluded?.({ agent: 'a' })).toEqual([]);
    const seen: unknown[] = [];
    const policy = {
      evaluate: () => ({ outcome: 'allow' as const }),
      getExcluded: (scope: unknown) => void seen.push(scope),
    };
    expect(denyOverrides(policy as unknown as PolicyEvaluator).getExcluded?.({ agent: 'a' })).toEqual([]);
    expect(seen).toEqual([{ agent: 'a' }]);
  });
});

test('beside a policy on trial an abort reaches the one that decides, and whoever asks has the clock', async () => {
  const seen: (AbortSignal | undefined)[] = [];
  const live: PolicyEvaluator = {
    evaluate: (_, signal) => {
      seen.push(signal);
      return new Promise(() => {});
    },
  };
  const candidate: PolicyEvaluator = { evaluate: () => ({ outcome: 'allow' }) };
  const controller = new AbortController();
  const answer = denyOverrides(
    live,
    shadow(candidate, () => {}),
  ).evaluate(request, controller.signal);
  controller.abort(new Error('stopped'));
  expect(await answer).toMatchObject({ outcome: 'deny', reason: expect.stringContaining('was aborted') });
  expect(seen[0]?.aborted).toBe(true);
});

test('what is no policy is refused, by its place', () => {
  const policy = { evaluate: () => ({ outcome: 'allow' as const }) };
  expect(() => denyOverrides(policy, {} as PolicyEvaluator)).toThrow('policy 2');
});
