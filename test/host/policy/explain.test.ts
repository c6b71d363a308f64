import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PolicyRequest } from '../../../src/contracts/index.ts';
import type { PolicyRule } from '../../../src/host/index.ts';
import { describeExplanation, loadPolicy, loadPolicyCases, policyCall, rulePolicy } from '../../../src/host/index.ts';

const file = `version: 1
tiers:
  org:
    - { id: wipes, tool: "wipe_*", outcome: deny }
    - id: clerks
      tool: pay
      role: clerk
      outcome: ask
    - { id: small, tool: pay, args: { /eur: { maximum: 10 } }, outcome: allow }
    - { tool: pay, outcome: deny, reason: Too much. }
  user:
    - { id: late, tool: wipe_disk, outcome: allow }
`;

describe('an explanation', () => {
  test('names the rule with its place, and what kept the others from speaking', async () => {
    const policy = await loadPolicy(file, { file: 'team.yaml' });
    const explanation = await policy.explain(policyCall('pay', { eur: 50 }, { as: 'ann', roles: ['boss'] }));
    expect(explanation.decision).toMatchObject({ outcome: 'deny', reason: 'Too much.' });
    expect(describeExplanation(explanation)).toEqual([
      'deny by team.yaml:10: Too much.',
      '  - team.yaml:5 ("clerks") (ask) does not apply: role: ["boss"] is not "clerk"',
      '  - team.yaml:9 ("small") (allow) does not apply: args /eur: 50 is above maximum 10',
      '  + team.yaml:10 (deny) applies',
    ]);
    const asked = await policy.explain(policyCall('pay', { eur: 5 }, { roles: ['clerk'], as: 'bob' }));
    expect(describeExplanation(asked)[2]).toBe(
      '  - team.yaml:9 ("small") (allow) is not reached: team.yaml:5 ("clerks") comes first',
    );
    expect(describeExplanation(await policy.explain(policyCall('look', {})))).toEqual([
      'ask (no rule matches this call)',
    ]);
  });

  test('NEW-P4 each condition that does not hold is named with what was there and what is wanted', async () => {
    const why = async (rule: Omit<PolicyRule, 'tool' | 'outcome'>, args: Record<string, unknown>, facts: Facts = {}) =>
      (
        await rulePolicy([{ tool: 'pay', outcome: 'allow', ...rule }]).explain(policyCall('pay', args, facts))
      ).rules.map(({ because }) => because && 'why' in because && because.why)[0];
    const eur = (schema: unknown) => ({ args: { '/eur': schema } });
    expect(await why(eur({ minimum: 100 }), { eur: 50 })).toBe('args /eur: 50 is below minimum 100');
    expect(await why(eur({ minimum: 100 }), { eur: '150' })).toBe('args /eur: "150" is not of type number');
    expect(await why(eur({ minimum: 100 }), {})).toBe('args /eur: is absent');
    expect(await why(eur({ properties: { by: { enum: ['a', 'b'] } } }), { eur: { by: 'c' } })).toBe(
      'args /eur/by: "c" is not "a" or "b"',
    );
    expect(await why(eur({ anyOf: [{ minimum: 5 }, { const: 1 }] }), { eur: 2 })).toBe(
      'args /eur: 2 fits nothing under "anyOf"',
    );
    expect(await why({ args: { '/to': '@example' } }, { to: 'x@y' })).toBe('args /to: "x@y" does not match @example');
    expect(await why({ args: { '/to': 'x' } }, { to: {} })).toMatch(/^args \/to: cannot be tested/);
    expect(await why({ args: { required: ['to'] } }, {})).toBe('args /to: is absent');
    expect(await why({ annotations: { readOnly: true } }, {})).toBe('annotations readOnly: is absent, must be true');
    expect(await why({ annotations: { readOnly: true } }, {}, { source: 'mcp:a' })).toMatch(/third-party/);
    expect(await why({ mode: ['plan', 'default'] }, {}, { mode: 'yolo' })).toBe(
      'mode: "yolo" is not "plan" or "default"',
    );
    expect(await why({ kind: 'read' }, {})).toBe('kind: is absent, must be "read"');
    expect(await why({ source: 'mcp:*' }, {})).toBe('source: "host" is not "mcp:*"');
    expect(await why({ agent: 'lead/*' }, {}, { agents: ['a', 'b'] })).toBe('agent: "a/b" is not "lead/*"');
    expect(await why({ principal: 'ann' }, {})).toBe('principal: is absent, must be "ann"');
  });

  test.each([
    ['readonly', 'readOnly'],
    ['read_only', 'readOnly'],
    ['readOnlyHint', 'readOnly'],
    ['destructve', 'destructive'],
  ])('NEW-P4 annotations: %s is refused in rules and cases, with the right key', async (wrong, right) => {
    const message = `"annotations" has an unknown key "${wrong}"; did you mean ${right}?`;
    const rules = `version: 1\nrules:\n  - { tool: x, annotations: { ${wrong}: true }, outcome: allow }\n`;
    await expect(loadPolicy(rules, { file: 'team.yaml' })).rejects.toThrow(`team.yaml:3: ${message}`);
    const cases = `version: 1\ncases:\n  - { call: x, annotations: { ${wrong}: true }, expect: allow }\n`;
    await expect(loadPolicyCases(cases, { file: 'team.cases.yaml' })).rejects.toThrow(`team.cases.yaml:3: ${message}`);
    expect(rulePolicy([{ tool: 'x', annotations: { team: 'a' }, outcome: 'allow' }]).warnings).toEqual([]);
  });

  test('warnings name file and line, also of a rule that a higher tier leaves nothing to', async () => {
    expect((await loadPolicy(file, { file: 'team.yaml' })).warnings).toEqual([
      'team.yaml:12 ("late") can never change anything: team.yaml:4 ("wipes") denies it whatever it says',
    ]);
  });

  test('a rule behind one with the same conditions, or fewer of them, can never apply', () => {
    const warned = (...rules: PolicyRule[]) => rulePolicy(rules).warnings.length;
    const clerks = { tool: 'a', role: 'clerk' } as const;
    expect(warned({ ...clerks, outcome: 'deny' }, { ...clerks, mode: 'plan', outcome: 'allow' })).toBe(1);
    expect(warned({ ...clerks, mode: 'plan', outcome: 'deny' }, { ...clerks, outcome: 'allow' })).toBe(0);
    expect(warned({ ...clerks, outcome: 'deny' }, { ...clerks, role: 'boss', outcome: 'allow' })).toBe(0);
    const args = { tool: 'a', args: { '/x': 'y' } } as const;
    // A value that cannot be tested does not fit the first and fits the second.
    expect(warned({ ...args, outcome: 'allow' }, { ...args, outcome: 'deny' })).toBe(0);
    expect(warned({ ...args, outcome: 'deny' }, { ...args, outcome: 'allow' })).toBe(1);
  });
});

// Texts that a key made by joining would mix up.
const word = fc.constantFrom('a', 'b', 'a,b', '["a"]', '"', '', 'null', '-', 'sa', 'true', 'btrue');
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const words = fc.uniqueArray(word, { minLength: 1, maxLength: 3 });
const annotation = fc.oneof(fc.boolean(), word, fc.constantFrom(0, 1));
const annotations = fc.dictionary(fc.constantFrom('readOnly', 'x'), annotation, { minKeys: 1, maxKeys: 2 });
const nonEmpty = word.filter((text) => text !== '');
const rule: fc.Arbitrary<PolicyRule> = fc.record(
  {
    tool: fc.constantFrom('t', '*', 't*'),
    outcome: fc.constantFrom('allow' as const, 'deny' as const, 'ask' as const),
    role: some(nonEmpty),
    principal: some(nonEmpty),
    mode: some(nonEmpty),
    kind: some(nonEmpty),
    agent: some(nonEmpty),
    annotations: some(annotations),
    args: some(fc.constantFrom({ '/n': '^1' }, { '/n': { type: 'integer' } })),
  },
  { requiredKeys: ['tool', 'outcome'] },
);
const request = fc
  .record({
    as: some(word),
    roles: some(words),
    agents: fc.oneof(words, fc.constant([])),
    source: fc.constantFrom('host', 'mcp:a', 'agent:a'),
    kind: some(word),
    mode: some(word),
    annotations: some(fc.dictionary(fc.constantFrom('readOnly', 'x'), fc.oneof(annotation, fc.constantFrom(null, [])))),
    n: fc.constantFrom(1, 2, '1', 'x'),
  })
  .map(({ n, ...facts }) => policyCall('t', { n }, facts as never));

/** The first is new each time; each of the others has found a fact that what is kept of a call left out. */
test.each([undefined, 6, 14])(
  'an index over many rules never skips one: the answer is that of trying each by itself, seed %s',
  (seed) => {
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 20, maxLength: 60 }),
        fc.array(request, { minLength: 1, maxLength: 12 }),
        (rules, requests) => {
          const policy = rulePolicy(rules);
          // One rule by itself is tried without an index.
          const alone = rules.map((one) => rulePolicy([{ ...one, id: 'it' }], { defaultOutcome: 'deny' }));
          const speaker = (asked: PolicyRequest) => {
            const fits = alone.map((one) => (one.evaluate(asked) as { ruleId?: string }).ruleId === 'it');
            const first = fits.indexOf(true);
            // What foreign tools say of themselves is not known: such an ask keeps no deny from speaking.
            const isForeign = asked.context?.resource?.source === 'mcp:a';
            const isInDoubt = (one?: PolicyRule) =>
              isForeign && one?.outcome === 'ask' && one.annotations !== undefined;
            const sure = rules.findIndex((one, place) => fits[place] && !isInDoubt(one));
            return isInDoubt(rules[first]) && rules[sure]?.outcome === 'deny' ? sure : first;
          };
          for (const asked of [...requests, ...requests]) {
            const place = speaker(asked);
            const { ruleId } = policy.evaluate(asked) as { ruleId?: string };
            expect(ruleId).toBe(place < 0 ? undefined : `org[${place}]`);
          }
        },
      ),
      { numRuns: 150, ...(seed === undefined ? {} : { seed }) },
    );
  },
);

type Facts = Parameters<typeof policyCall>[2];

describe('many rules', () => {
  // What is found once is kept for calls that are alike: as many rules as are tried one by one are not enough.
  const others = Array.from({ length: 20 }, (_, n): PolicyRule => ({ tool: 't', principal: `x${n}`, outcome: 'deny' }));

  test.each<[string, Partial<PolicyRule>, Facts, Facts]>([
    ['annotations', { annotations: { readOnly: true } }, { annotations: { readOnly: true } }, { annotations: {} }],
    ['principal', { principal: 'ann' }, { as: 'ann' }, { as: 'bob' }],
    ['roles', { role: 'boss' }, { as: 'ann', roles: ['boss'] }, { as: 'ann', roles: ['clerk'] }],
    ['mode', { mode: 'plan' }, { mode: 'plan' }, { mode: 'default' }],
    ['kind', { kind: 'read' }, { kind: 'read' }, { kind: 'edit' }],
    ['agent', { agent: 'root' }, { agents: ['root'] }, { agents: ['child'] }],
    [
      'source',
      { annotations: { readOnly: true } },
      { annotations: { readOnly: true } },
      { annotations: { readOnly: true }, source: 'mcp:a' },
    ],
  ])(
    'MUT-P5 a rule about %s speaks of no call but its own, whichever is asked about first',
    async (_, rule, its, other) => {
      const calls = [policyCall('t', {}, its), policyCall('t', {}, other)] as const;
      for (const order of [calls, calls.toReversed()]) {
        const policy = rulePolicy([...others, { tool: 't', ...rule, outcome: 'allow' }]);
        for (const call of [...order, ...order]) {
          expect((await policy.evaluate(call)).outcome).toBe(call === calls[0] ? 'allow' : 'ask');
        }
      }
    },
  );
});

describe('warnings', () => {
  const warned = (...rules: PolicyRule[]) => rulePolicy(rules).warnings;
  const first = 'rules[0]';

  test.each<[string, Partial<PolicyRule>, Partial<PolicyRule>]>([
    ['a broader glob', { tool: 'read_*' }, { tool: 'read_file' }],
    ['a glob over a glob', { tool: '*' }, { tool: ['a*b', 'c?'] }],
    ['more kinds', { kind: ['edit', 'move'] }, { kind: 'move' }],
    ['any kind', {}, { kind: 'move' }],
    ['more modes', { mode: ['plan', 'default'] }, { mode: 'plan' }],
    ['more roles', { role: ['a', 'b'] }, { role: 'a' }],
    ['a broader principal', { principal: 'svc-*' }, { principal: ['svc-a', 'svc-b*'] }],
    ['a broader agent', { agent: 'root/*' }, { agent: 'root/child' }],
    [
      'fewer annotations',
      { annotations: { destructive: true } },
      { annotations: { destructive: true, readOnly: false } },
    ],
    ['fewer pointers', { args: { '/a': '^1' } }, { args: { '/b': '2', '/a': '^1' } }],
    ['a higher priority', { priority: 5 }, { priority: 4 }],
  ])('%s, which comes first, leaves nothing', (_, wide, narrow) => {
    const [deny, allow] = [
      { tool: 't', outcome: 'deny' as const, ...wide },
      { tool: 't', outcome: 'allow' as const, ...narrow },
    ];
    expect(warned(deny, allow)).toEqual([`rules[1] can never apply: ${first} comes first and covers it`]);
    if (wide.priority === undefined) expect(warned(allow, deny)).toEqual([]);
  });

  test('several that come first cover it together, and only then', () => {
    const [a, b] = [
      { tool: 'a', outcome: 'deny' as const },
      { tool: 'b*', outcome: 'deny' as const },
    ];
    expect(warned(a, b, { tool: ['a', 'bc'], outcome: 'allow' })).toEqual([
      'rules[2] can never apply: rules[0] and rules[1] come first and cover it',
    ]);
    expect(warned(a, { ...b, role: 'x' }, { tool: ['a', 'bc'], outcome: 'allow' })).toEqual([]);
  });

  test.each<[Record<string, unknown>, string]>([
    [{ '/n': { minimum: 5, maximum: 4 } }, '"/n" has minimum above maximum'],
    [{ '/n': { const: 'x', type: 'number' } }, '"/n" allows values that its other keywords do not'],
    [{ '/n': { enum: [1, 2], minimum: 3 } }, '"/n" allows values that its other keywords do not'],
    [{ properties: { a: { minLength: 3, maxLength: 2 } }, required: ['a'] }, '"a" has minLength above maxLength'],
    [{ properties: { a: false }, required: ['a'] }, '"a" is never allowed'],
  ])('a condition that no arguments fit: %j', (args, why) => {
    expect(warned({ tool: 't', args, outcome: 'deny' })).toEqual([
      `${first} can never apply: its condition on arguments contradicts itself: ${why}`,
    ]);
  });

  test('conditions that some arguments fit are none', () => {
    for (const args of [
      { '/n': { minimum: 4, maximum: 4 } },
      { '/n': { enum: [1, 5], minimum: 3 } },
      { properties: { a: { minLength: 3, maxLength: 2 } } },
      { '/n': { const: null } },
    ]) {
      expect(warned({ tool: 't', args, outcome: 'deny' })).toEqual([]);
    }
  });

  test('a lower tier changes nothing where a higher one is as strict on all of it, unless it hides or tightens', () => {
    const lines = (org: PolicyRule[], user: PolicyRule) => rulePolicy({ org, user: [user] }).warnings.length;
    const [allow, ask, deny] = (['allow', 'ask', 'deny'] as const).map((outcome) => ({ tool: 'p*', outcome }));
    if (!allow || !ask || !deny) throw new Error('unreachable');
    expect([lines([ask], allow), lines([allow], allow), lines([deny], ask)]).toEqual([1, 1, 1]);
    expect([lines([allow], ask), lines([ask], ask), lines([ask], deny)]).toEqual([0, 0, 0]);
    expect(lines([ask], { ...allow, redact: ['/x'] })).toBe(0);
    expect(lines([{ ...ask, overridable: true }], allow)).toBe(0);
    expect(lines([{ ...ask, role: 'x' }], allow)).toBe(0);
  });

  test('ATT-B3 a pattern that cannot be tested in bounded time is refused; others are taken without a word', () => {
    const lines = (args: Record<string, unknown>) => warned({ tool: 't', args, outcome: 'deny' });
    for (const pattern of ['^(a+)\\1$', '(?<n>a)\\k<n>']) {
      expect(() => lines({ '/x': pattern })).toThrow(/"args" .*reference to a group/);
      expect(() => lines({ '/x': { type: 'string', pattern } })).toThrow(/"args" .*reference to a group/);
    }
    for (const pattern of ['(a+)+$', '^(\\w+\\s?)*$', '.*a.*a.*b', '^(?!.*\\.\\.)[a-z/]+$', '\\p{L}']) {
      expect(lines({ '/x': pattern })).toEqual([]);
    }
  });

  test('ATT-B3 a pattern that is slow elsewhere is decided', () => {
    const text = `${'a'.repeat(5_000)}!`;
    for (const args of [
      { '/x': '^(a+)+$' },
      { '/x': { type: 'string', pattern: '^(a|aa)+$' } },
      { '/x': '^((a+)b?)*$' },
    ]) {
      const outcomeOf = (outcome: 'allow' | 'deny', x: string) =>
        (rulePolicy([{ tool: 't', args, outcome }]).evaluate(policyCall('t', { x })) as { outcome: string }).outcome;
      expect([args, outcomeOf('allow', text), outcomeOf('deny', text)]).toEqual([args, 'ask', 'ask']);
      expect([outcomeOf('allow', 'a'.repeat(50)), outcomeOf('deny', 'bbbbbbbbbbbbbbbbbbbb!')]).toEqual([
        'allow',
        'ask',
      ]);
    }
  });

  test('of thousands of rules are found at once', () => {
    const rules = Array.from(
      { length: 20_000 },
      (_, n): PolicyRule => ({ tool: `t${n}_*`, kind: 'edit', outcome: 'deny' }),
    );
    expect(warned(...rules, { tool: 't19999_x', kind: 'edit', outcome: 'allow' })).toEqual([
      'rules[20000] can never apply: rules[19999] comes first and covers it',
    ]);
  });

  test('no rule that is warned about ever speaks, whatever is asked', () => {
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 6 }),
        fc.array(request, { minLength: 5, maxLength: 20 }),
        (rules, requests) => {
          const policy = rulePolicy(rules);
          const silent = policy.warnings.map((line) => /^rules\[(\d+)\] /.exec(line)?.[1]);
          for (const asked of requests) {
            const { ruleId } = policy.evaluate(asked) as { ruleId?: string };
            expect(silent.map((place) => `org[${place}]`)).not.toContain(ruleId);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test('of names, patterns and kinds that are not there, where the tools are known', async () => {
    const tools = [{ name: 'read_file', kind: 'read' }, { name: 'pay' }];
    const policy = await loadPolicy(
      'version: 1\nrules:\n  - { tool: [pay, raed_file], outcome: ask }\n  - { tool: "wipe_*", outcome: deny }\n  - { id: k, tool: "*", kind: [read, wirte], outcome: ask }\n  - { tool: transfer_to_agent, outcome: allow }\n',
      { file: 'team.yaml' },
    );
    expect(policy.warningsFor(tools)).toEqual([
      'team.yaml:3 names a tool that is not there: raed_file (did you mean read_file?)',
      'team.yaml:5 ("k") names a kind that none of its tools is of: wirte',
    ]);
  });

  test('NEW-P6 a rule that restricts may name what is not there; one that allows, and a near miss, are warned about', () => {
    const named = (outcome: PolicyRule['outcome'], tool: string) =>
      rulePolicy([{ tool, outcome }]).warningsFor([{ name: 'pay' }]).length;
    for (const restricts of ['deny', 'ask'] as const) {
      expect([named(restricts, 'drop_*'), named(restricts, 'drop_table'), named(restricts, 'Pay')]).toEqual([0, 0, 1]);
    }
    expect([named('allow', 'drop_*'), named('allow', 'drop_table'), named('allow', 'p*')]).toEqual([1, 1, 0]);
  });
});
