import { describe, expect, test } from 'vitest';
import type { PolicyDecision } from '../../src/contracts/index.ts';
import { decide } from '../../src/gate/index.ts';
import { gateCall, rules } from './kit.ts';

describe('a question that policy and a hook ask together', () => {
  const asked = (policy: Partial<PolicyDecision>, hook: { expiresIn?: number }) =>
    decide(
      gateCall(),
      rules({
        policy: { evaluate: () => ({ outcome: 'ask', ...policy }) },
        beforeTool: async () => undefined,
        hookAsked: () => hook,
      }),
    );

  test.each([
    [100, 5, 5],
    [5, 100, 5],
    [100, undefined, 100],
    [undefined, 5, 5],
    [undefined, undefined, undefined],
  ])('MUT-G11 lives no longer than either allows: %s and %s seconds', async (policy, hook, expiresIn) => {
    const own = (seconds: number | undefined) => (seconds === undefined ? {} : { expiresIn: seconds });
    const verdict = await asked(own(policy), own(hook));
    expect(verdict).toEqual({ kind: 'ask', question: { args: {}, ...own(expiresIn) } });
  });
});
