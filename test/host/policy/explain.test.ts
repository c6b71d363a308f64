import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PolicyRequest } from '../../../src/contracts/index.ts';
import type { PolicyRule } from '../../../src/host/index.ts';
import { describeExplanation, loadPolicy, policyCall, rulePolicy } from '../../../src/host/index.ts';

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
      'deny by org[3]: Too much.',
      '  - team.yaml:5 ("clerks") (ask) does not apply: role does not fit',
      '  - team.yaml:9 ("small") (allow) does not apply: args does not fit',
      '  + team.yaml:10 (deny) applies',
    ]);
    const asked = await policy.explain(policyCall('pay', { eur: 5 }, { roles: ['clerk'], as: 'bob' }));
    expect(describeExplanation(asked)[2]).toBe(
      '  - team.yaml:9 ("small") (allow) is not reached: team.yaml:5 ("clerks") comes first',
    );
    expect(describeExplanation(await policy.explain(policyCall('look', {})))).toEqual([
      'ask (no rule speaks about this call)',
    ]);
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

test('an index over many rules never skips one: the answer is that of trying each by itself', () => {
  fc.assert(
    fc.property(
      fc.array(rule, { minLength: 20, maxLength: 60 }),
      fc.array(request, { minLength: 1, maxLength: 12 }),
      (rules, requests) => {
        const policy = rulePolicy(rules);
        // One rule by itself is tried without an index.
        const alone = rules.map((one) => rulePolicy([{ ...one, id: 'it' }], { defaultOutcome: 'deny' }));
        const speaker = (asked: PolicyRequest) =>
          alone.findIndex((one) => (one.evaluate(asked) as { ruleId?: string }).ruleId === 'it');
        for (const asked of [...requests, ...requests]) {
          const place = speaker(asked);
          const { ruleId } = policy.evaluate(asked) as { ruleId?: string };
          expect(ruleId).toBe(place < 0 ? undefined : `org[${place}]`);
        }
      },
    ),
    { numRuns: 150 },
  );
});
