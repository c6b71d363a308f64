import { describe, expect, test } from 'vitest';
import type { PolicyRule } from '../../../src/host/index.ts';
import { policyCall, rulePolicy } from '../../../src/host/index.ts';

const outcomeOf = (rules: PolicyRule[], given: Record<string, unknown>) =>
  (rulePolicy(rules).evaluate(policyCall('t', given)) as { outcome: string }).outcome;
const one = (outcome: PolicyRule['outcome'], args: Record<string, unknown>, given: Record<string, unknown>) =>
  outcomeOf([{ tool: 't', args, outcome }], given);

/** Written like this since the linter takes a literal with `then` for a promise. */
const either = (when: object, fits: unknown, ...otherwise: unknown[]): Record<string, unknown> =>
  Object.fromEntries([['if', when], ['then', fits], ...otherwise.map((schema) => ['else', schema])]);

describe('HUNT-F4 conditions on values of a type that they say nothing about', () => {
  const cases: [Record<string, unknown>, Record<string, unknown>, Record<string, unknown>][] = [
    [{ '/command': { pattern: '^git ' } }, { command: ['rm', '-rf', '/'] }, { command: 'git log' }],
    [{ '/eur': { maximum: 100 } }, { eur: '99999' }, { eur: 99 }],
    [{ '/eur': { maximum: 100 } }, { eur: null }, { eur: 99 }],
    [{ '/to': { properties: { domain: { const: 'a' } } } }, { to: 'x@evil' }, { to: { domain: 'a' } }],
    [{ '/to': { properties: { domain: { const: 'a' } } } }, { to: { domains: 'b' } }, { to: { domain: 'a' } }],
    [{ '/to': { items: { pattern: '@a$' } } }, { to: 'x@evil' }, { to: ['x@a'] }],
    [{ '/to': { items: { pattern: '@a$' } } }, { to: [['x@evil']] }, { to: ['x@a'] }],
    [{ '/to': { prefixItems: [{ const: 'a' }, { const: 'b' }] } }, { to: ['a'] }, { to: ['a', 'b'] }],
    [{ '/x': { anyOf: [{ maxLength: 3 }, { maximum: 3 }] } }, { x: { y: 1 } }, { x: 3 }],
    [{ '/x': { allOf: [{ type: 'object' }, { properties: { y: { const: 1 } } }] } }, { x: {} }, { x: { y: 1 } }],
    [{ '/x': { $ref: '#/$defs/s', $defs: { s: { maxLength: 3 } } } }, { x: 5 }, { x: 'abc' }],
    [{ '/x': { type: ['string', 'array'], pattern: '^a' } }, { x: ['b'] }, { x: 'a' }],
    [{ properties: { x: { pattern: '^a' } } }, {}, { x: 'a' }],
    [{ properties: { x: { pattern: '^a' } } }, { x: ['b'] }, { x: 'a' }],
    [{ '/x': { not: { pattern: 'rm' } } }, { x: ['rm'] }, { x: 'ls' }],
    [{ '/x': either({ pattern: '^ls' }, true, false) }, { x: ['rm'] }, { x: 'ls' }],
    [{ '/x': either({ pattern: '^rm' }, false, { maxLength: 3 }) }, { x: ['rm'] }, { x: 'ls' }],
    [{ '/x': { not: either({ pattern: '^ls' }, false, true) } }, { x: ['rm'] }, { x: 'ls' }],
  ];

  test.each(cases)('%j: %j', (args, silent, spoken) => {
    expect([one('allow', args, silent), one('allow', args, spoken)]).toEqual(['ask', 'allow']);
  });

  test.each(cases.filter(([args]) => !/not|if|oneOf|anyOf|allOf/.test(JSON.stringify(args))))(
    'a deny applies all the same: %j: %j',
    (args, silent, spoken) => {
      expect([one('deny', args, silent), one('deny', args, spoken)]).toEqual(['deny', 'deny']);
    },
  );

  test('an ask that only may apply keeps no deny after it from speaking', () => {
    const rules: PolicyRule[] = [
      { tool: 't', args: { '/eur': { maximum: 100 } }, outcome: 'ask' },
      { tool: 't', outcome: 'deny' },
    ];
    expect([outcomeOf(rules, { eur: 50 }), outcomeOf(rules, { eur: '99999' }), outcomeOf(rules, { eur: 500 })]).toEqual(
      ['ask', 'deny', 'deny'],
    );
    const [ask, deny] = rules as [PolicyRule, PolicyRule];
    const allows: PolicyRule[] = [ask, { ...deny, outcome: 'allow' }];
    expect([outcomeOf(allows, { eur: '99999' }), outcomeOf(allows, { eur: 500 })]).toEqual(['ask', 'allow']);
    expect(rulePolicy(rules).warnings).toEqual([]);
  });

  test('what allows types of which it says nothing is named when it is loaded', () => {
    const warned = (args: Record<string, unknown>, outcome: PolicyRule['outcome'] = 'allow') =>
      rulePolicy([{ tool: 't', args, outcome }]).warnings;
    expect(warned({ '/x': { type: ['string', 'array'], pattern: '^a' } })).toEqual([
      expect.stringContaining('allows the types array and says nothing of them'),
    ]);
    expect(warned({ properties: { x: { pattern: '^a', maximum: 3 } } })).toEqual([
      expect.stringContaining('keywords of several types (string, number)'),
    ]);
    const some = either({ type: 'string' }, { pattern: '^a' });
    expect(warned({ '/x': some })).toEqual([expect.stringContaining('has an "if" without "else"')]);
    expect(warned({ '/x': { ...some, else: true } })).toEqual([]);
    expect(warned({ '/x': some }, 'deny')).toEqual([]);
    expect(warned({ '/x': { type: ['string', 'array'], pattern: '^a' } }, 'deny')).toEqual([]);
    expect(warned({ '/x': { pattern: '^a' }, '/y': { type: 'integer', maximum: 3 } })).toEqual([]);
  });
});
