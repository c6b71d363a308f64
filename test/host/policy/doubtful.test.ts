import { describe, expect, test } from 'vitest';
import type { PolicyRequest } from '../../../src/contracts/index.ts';
import type { PolicyRule } from '../../../src/host/index.ts';
import { loadPolicy, rulePolicy } from '../../../src/host/index.ts';

const context = (source: string) => ({
  agentPath: ['a'],
  resource: { type: 'tool', id: 't', source, annotations: {} },
});
const ask = (q: unknown, source = 'host') =>
  ({ action: 't', args: { q }, context: context(source) }) satisfies PolicyRequest;

describe('HUNT-F4 siblings: conditions that let a call run', () => {
  test.each<[Record<string, unknown>, unknown[], unknown[]]>([
    [{ not: { not: { maximum: 100 } } }, [5], ['99999', [99999], 500]],
    [{ items: { anyOf: [{ maximum: 5 }, { pattern: '^a' }] } }, [[1, 'ab']], [['zz'], [[9]], 'zz', { a: 1 }]],
    [{ contains: { properties: { to: { const: 'us' } } } }, [[{ to: 'us' }]], [['evil'], [{}], 'us']],
    [
      { dependencies: { a: { properties: { b: { const: 1 } } } } },
      [{ a: 1, b: 1 }],
      ['rm', [1], { a: 1 }, { a: 1, b: 2 }],
    ],
    [
      JSON.parse('{"if":{"type":"string"},"then":{"maxLength":2},"else":{"maximum":2}}'),
      ['ab', 1],
      ['abc', [9], { a: 1 }],
    ],
    [{ $ref: '#/$defs/small', $defs: { small: { maximum: 5 } } }, [1], ['9', [9]]],
    [{ allOf: [{ minLength: 1 }, { not: { pattern: 'rm' } }] }, ['ls'], ['rm', ['ls'], {}]],
    [{ patternProperties: { '^to': { pattern: '^us' } } }, [{ to: 'us' }], [{ to: ['evil'] }, 'evil']],
    [{ prefixItems: [{ const: 'git' }] }, [['git']], [[], 'git', ['rm']]],
  ])('%j', async (condition, fitting, other) => {
    const yaml = `version: 1\nrules:\n  - ${JSON.stringify({ tool: 't', args: { '/q': condition }, outcome: 'allow' })}\n`;
    for (const policy of [
      rulePolicy([{ tool: 't', args: { '/q': condition }, outcome: 'allow' }]),
      await loadPolicy(yaml, { file: 'x.yaml' }),
    ]) {
      const outcome = async (q: unknown) => (await policy.evaluate(ask(q))).outcome;
      expect(await Promise.all(fitting.map(outcome))).toEqual(fitting.map(() => 'allow'));
      expect(await Promise.all(other.map(outcome))).toEqual(other.map(() => 'ask'));
    }
  });
});

describe('HUNT-F4 siblings: an ask that only may apply hides no deny after it', () => {
  const deny: PolicyRule = { tool: 't', source: 'mcp:*', outcome: 'deny' };
  const others = Array.from({ length: 30 }, (_, n): PolicyRule => ({ tool: 't', role: `r${n}`, outcome: 'allow' }));
  test.each([
    ['few rules', []],
    ['many rules', others],
  ])('by annotations of foreign tools, which are not believed: %s', async (_, more) => {
    const first: PolicyRule = { tool: 't', annotations: { destructive: true }, outcome: 'ask' };
    const policy = rulePolicy([...more, first, deny]);
    expect(policy.warnings).toEqual([]);
    expect((await policy.evaluate(ask(1, 'mcp:far'))).outcome).toBe('deny');
    const trusting = rulePolicy([...more, first], { trustAnnotations: true });
    expect((await trusting.evaluate(ask(1, 'mcp:far'))).outcome).toBe('ask');
    // Without a deny the doubtful ask speaks.
    const alone = rulePolicy([...more, first, { tool: 't', outcome: 'allow' }]);
    expect((await alone.evaluate(ask(1, 'mcp:far'))).outcome).toBe('ask');
  });
});
