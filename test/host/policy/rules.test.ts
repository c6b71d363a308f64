import { describe, expect, test } from 'vitest';
import type { PolicyRequest } from '../../../src/contracts/index.ts';
import type { PolicyRule } from '../../../src/host/policy/index.ts';
import { presetPolicy, rulePolicy } from '../../../src/host/policy/index.ts';

type Resource = NonNullable<NonNullable<PolicyRequest['context']>['resource']>;

function call(action: string, args: Record<string, unknown> = {}, more: Partial<PolicyRequest> = {}): PolicyRequest {
  return { action, args, ...more };
}
function of(resource: Partial<Resource>, action = 'tool'): PolicyRequest {
  return call(action, {}, { context: { resource: { type: 'tool', id: action, ...resource } } });
}
const outcome = (rules: PolicyRule[], request: PolicyRequest, options = {}) =>
  (rulePolicy(rules, options).evaluate(request) as { outcome: string }).outcome;
const deny = 'deny' as const;
const allow = 'allow' as const;

describe('which rule speaks', () => {
  const rules: PolicyRule[] = [
    { id: 'read', tool: 'read_file', outcome: allow },
    {
      id: 'fs',
      tool: ['*_file', 'mkdir'],
      outcome: 'ask',
      reason: 'files',
      approvers: { roles: ['ops'] },
      expiresIn: 60,
    },
    { id: 'one', tool: 'a?', outcome: deny },
    { id: 'urgent', tool: 'read_file', mode: 'plan', outcome: deny, priority: 10 },
  ];
  const policy = rulePolicy(rules);

  test.each([
    ['read_file', { outcome: 'allow', ruleId: 'read' }],
    ['write_file', { outcome: 'ask', ruleId: 'fs', reason: 'files', approvers: { roles: ['ops'] }, expiresIn: 60 }],
    ['mkdir', { outcome: 'ask', ruleId: 'fs', reason: 'files', approvers: { roles: ['ops'] }, expiresIn: 60 }],
    ['ab', { outcome: 'deny', ruleId: 'one' }],
    ['a', { outcome: 'ask', reason: 'No rule matches this call.' }],
    ['abc', { outcome: 'ask', reason: 'No rule matches this call.' }],
  ])('%s', (action, decision) => {
    expect(policy.evaluate(call(action))).toEqual(decision);
  });

  test('the higher priority goes first', () => {
    expect(policy.evaluate(call('read_file', {}, { context: { permissionMode: 'plan' } }))).toMatchObject({
      ruleId: 'urgent',
    });
  });

  test('what no rule speaks about', () => {
    expect(outcome([], call('x'))).toBe('ask');
    expect(outcome([], call('x'), { defaultOutcome: 'deny' })).toBe('deny');
    expect(outcome([], of({ annotations: { readOnly: true } }), { fallback: presetPolicy('default') })).toBe('allow');
  });

  test('a rule without an id is named by its place', () => {
    expect(rulePolicy({ user: [{ tool: '*', outcome: allow }] }).evaluate(call('x'))).toMatchObject({
      ruleId: 'user[0]',
    });
  });

  test('a glob that a backtracking matcher would never be done with is decided', () => {
    expect(outcome([{ tool: `${'*a'.repeat(30)}*b`, outcome: allow }], call('a'.repeat(5000)))).toBe('ask');
  });
});

describe('conditions', () => {
  test('principal and role', () => {
    const rules: PolicyRule[] = [
      { tool: 'pay', role: ['finance', 'ceo'], outcome: allow },
      { tool: 'pay', principal: 'guest-*', outcome: deny },
    ];
    expect(outcome(rules, call('pay', {}, { principal: { id: 'ann', roles: ['finance'] } }))).toBe('allow');
    expect(outcome(rules, call('pay', {}, { principal: { id: 'guest-1', roles: ['sales'] } }))).toBe('deny');
    expect(outcome(rules, call('pay'))).toBe('ask');
  });

  test('kind and mode', () => {
    const rules: PolicyRule[] = [{ tool: '*', kind: ['read', 'search'], mode: 'plan', outcome: allow }];
    const context = { permissionMode: 'plan', resource: { type: 'tool', id: 't', kind: 'search' } };
    expect(outcome(rules, call('t', {}, { context }))).toBe('allow');
    expect(outcome(rules, call('t', {}, { context: { ...context, permissionMode: 'default' } }))).toBe('ask');
    expect(outcome(rules, of({ kind: 'search' }))).toBe('ask');
  });

  test('agent, by path or own name', () => {
    const by = (agent: string, agentPath: string[]) =>
      outcome([{ tool: '*', agent, outcome: allow }], call('t', {}, { context: { agentPath } }));
    expect(by('root/*', ['root', 'child'])).toBe('allow');
    expect(by('child', ['root', 'child'])).toBe('allow');
    expect(by('root', ['root', 'child'])).toBe('ask');
    expect(by('*', [])).toBe('ask');
  });

  test('annotations: what is not said is enough to restrict, not to allow', () => {
    const when = (annotations: Record<string, boolean>, what: PolicyRule['outcome'], resource: Partial<Resource>) =>
      outcome([{ tool: '*', annotations, outcome: what }], of(resource));
    expect(when({ readOnly: true }, 'allow', { annotations: { readOnly: true } })).toBe('allow');
    expect(when({ readOnly: true }, 'allow', {})).toBe('ask');
    expect(when({ destructive: false }, 'allow', {})).toBe('ask');
    expect(when({ readOnly: false }, 'deny', {})).toBe('deny');
    expect(when({ destructive: true }, 'deny', {})).toBe('ask');
  });

  test('annotations of foreign tools are claims', () => {
    const foreign: Partial<Resource> = { source: 'mcp:files', annotations: { readOnly: true, destructive: false } };
    const readers: PolicyRule[] = [{ tool: '*', annotations: { readOnly: true }, outcome: allow }];
    const breakers: PolicyRule[] = [{ tool: '*', annotations: { destructive: true }, outcome: deny }];
    expect(outcome(readers, of(foreign))).toBe('ask');
    expect(outcome(readers, of(foreign), { trustAnnotations: true })).toBe('allow');
    expect(outcome(breakers, of(foreign))).toBe('deny');
    expect(outcome(breakers, of(foreign), { trustAnnotations: true })).toBe('ask');
  });

  describe('arguments', () => {
    const when = (args: Record<string, unknown>, what: PolicyRule['outcome'], actual: Record<string, unknown>) =>
      outcome([{ tool: '*', args, outcome: what }], call('t', actual));

    test.each<[string, Record<string, unknown>, Record<string, unknown>, boolean]>([
      ['a pattern', { '/path': '^/tmp/' }, { path: '/tmp/a' }, true],
      ['a pattern that does not fit', { '/path': '^/tmp/' }, { path: '/etc' }, false],
      ['a number by its text', { '/n': '^4' }, { n: 42 }, true],
      ['a pointer to nothing', { '/path': '.*' }, {}, false],
      ['an inherited member', { '/constructor': '.*' }, {}, false],
      ['a nested member', { '/to/0/name': 'bob' }, { to: [{ name: 'bob' }] }, true],
      ['an escaped pointer', { '/a~1b': 'x' }, { 'a/b': 'x' }, true],
      ['a schema at a pointer', { '/amount': { type: 'number', maximum: 100 } }, { amount: 100 }, true],
      ['all of them', { '/a': 'x', '/b': 'x' }, { a: 'x', b: 'y' }, false],
      ['a schema', { required: ['a'], properties: { a: { const: 1 } } }, { a: 1 }, true],
      ['a schema that does not fit', { required: ['a'] }, {}, false],
    ])('%s', (_, condition, actual, holds) => {
      expect(when(condition, 'allow', actual)).toBe(holds ? 'allow' : 'ask');
      expect(when(condition, 'deny', actual)).toBe(holds ? 'deny' : 'ask');
    });

    test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
      ['too long a string', { '/path': '^/tmp' }, { path: `/tmp/${'x'.repeat(10_000)}` }],
      ['too long a string for a schema', { '/path': { pattern: '^/tmp' } }, { path: `/tmp/${'x'.repeat(10_000)}` }],
      ['a list where text was expected', { '/path': '^/tmp' }, { path: ['/tmp'] }],
    ])('%s: no leave, but every restriction', (_, condition, actual) => {
      expect(when(condition, 'allow', actual)).toBe('ask');
      expect(when(condition, 'deny', actual)).toBe('deny');
      expect(
        outcome([{ tool: '*', args: condition, outcome: 'ask' }], call('t', actual), { defaultOutcome: 'allow' }),
      ).toBe('ask');
    });

    test('testing changes nothing', () => {
      const args = Object.freeze({ a: 1 });
      expect(when({ properties: { b: { default: 1 } } }, 'allow', args)).toBe('allow');
      expect(args).toEqual({ a: 1 });
    });
  });
});

describe('tiers', () => {
  const decide = (org?: PolicyRule, user?: PolicyRule, session?: PolicyRule) =>
    rulePolicy({ org: org && [org], user: user && [user], session: session && [session] }).evaluate(call('t'));
  const rule = (what: PolicyRule['outcome'], more: Partial<PolicyRule> = {}): PolicyRule => ({
    tool: 't',
    outcome: what,
    ...more,
  });
  const loose = { overridable: true };

  test.each<[string, (PolicyRule | undefined)[], string]>([
    ['a lower tier speaks where the higher is silent', [undefined, rule('allow')], 'allow'],
    ['a lower tier tightens', [rule('allow'), rule('ask'), rule('deny')], 'deny'],
    ['a lower tier does not loosen', [rule('deny'), rule('allow')], 'deny'],
    ['nor over two tiers', [rule('ask'), undefined, rule('allow')], 'ask'],
    ['unless the rule is overridable', [rule('ask', loose), undefined, rule('allow')], 'allow'],
    ['an overridable rule stands where nobody speaks', [rule('deny', loose)], 'deny'],
    ['overriding one rule does not override another', [rule('ask'), rule('deny', loose), rule('allow')], 'ask'],
    ['overridable all the way', [rule('deny', loose), rule('ask', loose), rule('allow', loose)], 'allow'],
  ])('%s', (_, rules, expected) => {
    expect(decide(...rules)).toMatchObject({ outcome: expected });
  });

  test('two asks must both be satisfied', () => {
    expect(
      decide(rule('ask', { expiresIn: 60 }), rule('ask', { approvers: { quorum: 2 }, expiresIn: 600 })),
    ).toMatchObject({
      outcome: 'ask',
      ruleId: 'org[0]',
      approvers: { quorum: 2 },
      expiresIn: 60,
    });
  });

  test('a remembered answer is one more rule, before the others of its tier', () => {
    const policy = rulePolicy({ org: [rule('ask', loose)], session: [rule('deny', { id: 'first' })] });
    const once = policy.with(rule('allow', { id: 'remembered' }), 'session');
    expect(policy.evaluate(call('t'))).toMatchObject({ ruleId: 'first' });
    expect(once.evaluate(call('t'))).toMatchObject({ outcome: 'allow', ruleId: 'remembered' });
    const again = once.with(rule('ask', { id: 'remembered' }), 'session');
    expect(again.evaluate(call('t'))).toMatchObject({ outcome: 'ask', ruleId: 'remembered' });
    expect(() => policy.with({ tool: 't' } as PolicyRule, 'session')).toThrow(
      expect.objectContaining({ code: 'E_POLICY_RULE' }),
    );
    expect(() => policy.with(rule('allow'), 'planet' as never)).toThrow(
      expect.objectContaining({ code: 'E_POLICY_RULE' }),
    );
  });

  test('a remembered answer does not loosen a rule that is not overridable', () => {
    const policy = rulePolicy([rule('ask')]).with(rule('allow'), 'session');
    expect(policy.evaluate(call('t'))).toMatchObject({ outcome: 'ask' });
  });
});

describe('excluded tools', () => {
  const policy = rulePolicy({
    org: [
      { tool: 'maybe', args: { '/a': 'x' }, outcome: allow },
      { tool: ['maybe', 'never', 'shell'], outcome: deny },
      { tool: 'twice', args: { '/a': 'x' }, outcome: deny },
      { tool: 'twice', outcome: deny },
      { tool: 'loose', outcome: deny, overridable: true },
      { tool: 'planned', mode: 'plan', outcome: deny },
      { tool: 'helper', agent: 'child', outcome: deny },
      { tool: 'net_*', outcome: deny },
    ],
    user: [{ tool: 'never', outcome: allow }],
  });

  test('are those that no call could pass', () => {
    expect(policy.getExcluded()).toEqual(['never', 'shell', 'twice']);
    expect(policy.getExcluded({ permissionMode: 'plan' })).toContain('planned');
    expect(policy.getExcluded({ permissionMode: 'default' })).not.toContain('planned');
    expect(policy.getExcluded({ agent: 'child' })).toContain('helper');
    expect(policy.getExcluded({ agent: 'root' })).not.toContain('helper');
  });

  test('globs are known when a name is', () => {
    expect(policy.excludes('net_get')).toBe(true);
    expect(policy.excludes('maybe')).toBe(false);
    expect(policy.excludes('other')).toBe(false);
  });
});

describe('bad rules are refused at once', () => {
  test.each<[string, unknown, RegExp]>([
    ['not an object', 'deny', /^rules\[0\]: is not an object/],
    ['no tool', { outcome: 'deny' }, /"tool" is missing/],
    ['an empty list', { tool: [], outcome: 'deny' }, /"tool" must be/],
    ['no outcome', { tool: 'x' }, /"outcome" is missing/],
    ['an unknown outcome', { tool: 'x', outcome: 'permit' }, /"outcome" must be allow, deny or ask/],
    ['an unknown member', { id: 'r', tool: 'x', outcome: 'deny', rol: 'a' }, /^rules\[0\] \("r"\): "rol" is unknown/],
    ['a bad pattern', { tool: 'x', outcome: 'deny', args: { '/a': '(' } }, /"args" "\/a": Invalid regular expression/],
    ['a bad schema', { tool: 'x', outcome: 'deny', args: { type: 'nonsense' } }, /"args" .*schema/],
    ['a misspelt keyword', { tool: 'x', outcome: 'allow', args: { '/a': { patern: 'x' } } }, /unknown keyword/],
    ['a format', { tool: 'x', outcome: 'allow', args: { '/a': { format: 'email' } } }, /"format" is not checked/],
    ['pointers and keywords', { tool: 'x', outcome: 'deny', args: { '/a': 'x', type: 'object' } }, /mixes/],
    ['a number as condition', { tool: 'x', outcome: 'deny', args: { '/a': 5 } }, /must be a regular expression/],
    ['no condition', { tool: 'x', outcome: 'deny', args: {} }, /"args" must be an object, not empty/],
    ['approvers of a deny', { tool: 'x', outcome: 'deny', approvers: {} }, /"approvers" goes with outcome ask only/],
    ['bad approvers', { tool: 'x', outcome: 'ask', approvers: { roles: 'a' } }, /"approvers" needs a list/],
    ['no time', { tool: 'x', outcome: 'ask', expiresIn: 0 }, /"expiresIn" must be seconds/],
    ['the name of a preset', { id: 'preset:default', tool: 'x', outcome: 'ask' }, /"id" must not begin with "preset:"/],
  ])('%s', (_, rule, message) => {
    const refused = expect.objectContaining({ code: 'E_POLICY_RULE', message: expect.stringMatching(message) });
    expect(() => rulePolicy([rule as PolicyRule])).toThrow(refused);
  });

  test('the place is there for programs', () => {
    const rules = { user: [{ tool: 'a', outcome: allow }, { id: 'b', tool: 'a', outcome: 'no' } as never] };
    const fault = '"outcome" must be allow, deny or ask';
    const details = { tier: 'user', index: 1, id: 'b', field: 'outcome', fault };
    expect(() => rulePolicy(rules)).toThrow(expect.objectContaining({ details }));
  });

  test('an id is taken once a tier', () => {
    const rule: PolicyRule = { id: 'a', tool: 'x', outcome: allow };
    expect(() => rulePolicy([rule, rule])).toThrow(/"id" is taken/);
    expect(() => rulePolicy({ org: [rule], user: [rule] })).not.toThrow();
  });
});

describe('warnings', () => {
  test.each<[string, PolicyRule[], number]>([
    [
      'the same tool twice',
      [
        { tool: 'a', outcome: allow },
        { tool: 'a', outcome: deny },
      ],
      1,
    ],
    [
      'a wider glob first',
      [
        { tool: 'a*', outcome: allow },
        { tool: ['ab', 'ac*', 'a?c*'], outcome: deny },
      ],
      1,
    ],
    [
      'everything first',
      [
        { tool: '*', outcome: allow },
        { tool: 'x', args: { '/a': 'b' }, outcome: deny },
      ],
      1,
    ],
    [
      'a condition first',
      [
        { tool: '*', role: 'x', outcome: allow },
        { tool: 'x', outcome: deny },
      ],
      0,
    ],
    [
      'covered in part',
      [
        { tool: 'a*', outcome: allow },
        { tool: ['ab', 'b'], outcome: deny },
      ],
      0,
    ],
    [
      'one character is no text',
      [
        { tool: 'a?', outcome: allow },
        { tool: 'a*', outcome: deny },
      ],
      0,
    ],
    [
      'priority reverses the order',
      [
        { tool: '*', outcome: allow },
        { tool: 'x', outcome: deny, priority: 1 },
      ],
      0,
    ],
  ])('%s', (_, rules, count) => {
    expect(rulePolicy(rules).warnings).toHaveLength(count);
  });

  test('name both rules', () => {
    const rules: PolicyRule[] = [
      { id: 'wide', tool: '*', outcome: allow },
      { tool: 'x', outcome: deny },
    ];
    expect(rulePolicy(rules).warnings).toEqual([
      'rules[1] can never apply: rules[0] ("wide") comes first and covers it',
    ]);
  });
});

test('among a thousand rules each call finds its own, by name or by pattern', () => {
  const rules: PolicyRule[] = Array.from({ length: 1000 }, (_, n) => ({
    id: `rule ${n}`,
    tool: n % 10 === 0 ? `group${n}_*` : `tool_${n}`,
    args: { '/path': `^/home/${n}/` },
    outcome: allow,
  }));
  const policy = rulePolicy(rules);
  for (let n = 0; n < rules.length; n++) {
    const name = n % 10 === 0 ? `group${n}_x` : `tool_${n}`;
    const decision = policy.evaluate(call(name, { path: `/home/${n}/x` }));
    expect(decision).toMatchObject({ outcome: 'allow', ruleId: `rule ${n}` });
    expect(policy.evaluate(call(name, { path: '/home/x' }))).toMatchObject({ outcome: 'ask' });
  }
});

describe('ATT-B4 conditions on where a tool comes from, and on what it is', () => {
  const rules: PolicyRule[] = [
    { id: 'no', tool: 'send', source: 'mcp:evil', outcome: deny },
    { id: 'mail', tool: 'send', source: ['mcp:mail*', 'host'], outcome: allow },
    { id: 'pinned', tool: 'send', digest: ['d1', 'd2'], outcome: allow },
  ];
  test.each<[Partial<Resource>, string]>([
    [{ source: 'mcp:evil', digest: 'd1' }, 'deny'],
    [{ source: 'mcp:mail-2' }, 'allow'],
    [{ source: 'host' }, 'allow'],
    [{ source: 'agent:host', digest: 'd2' }, 'allow'],
    [{ source: 'agent:host', digest: 'd3' }, 'ask'],
    // What is not known restricts, and allows nothing.
    [{}, 'deny'],
  ])('%j: %s', (resource, expected) => {
    expect(outcome(rules, of(resource, 'send'))).toBe(expected);
    const many = Array.from({ length: 20 }, (_, n) => ({ tool: 'send', principal: `p${n}`, outcome: deny }));
    expect(outcome([...many, ...rules], of(resource, 'send'))).toBe(expected);
  });

  test('a source or digest narrows a rule: explanations name it, and nothing narrower is said to be covered', async () => {
    const policy = rulePolicy(rules);
    const { rules: tried } = await policy.explain(of({ source: 'host', digest: 'd3' }, 'send'));
    expect(tried.map(({ id, because }) => [id, because])).toEqual([
      ['no', { field: 'source', why: `source: "host" is not "mcp:evil"` }],
      ['mail', undefined],
      ['pinned', { after: expect.stringContaining('mail') }],
    ]);
    expect(policy.warnings).toEqual([]);
    expect(rulePolicy([...rules, { id: 'late', tool: 'send', source: 'host', outcome: allow }]).warnings).toEqual([
      expect.stringContaining('"late"'),
    ]);
    expect(policy.getExcluded()).toEqual([]);
  });
});
