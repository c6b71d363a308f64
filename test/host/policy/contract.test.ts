import type { PolicyEvaluator } from '../../../src/contracts/index.ts';
import { rulePolicy } from '../../../src/host/index.ts';
import type { Failure } from '../../suites/policy.ts';
import { policySuite } from '../../suites/policy.ts';

const broken: Record<Failure, PolicyEvaluator> = {
  down: {
    evaluate() {
      throw new Error('nobody listens');
    },
  },
  slow: { evaluate: () => new Promise(() => {}) },
  rubbish: { evaluate: () => ({ outcome: 'sure' }) },
};

policySuite('rules', {
  team: async () => ({
    policy: rulePolicy([
      { id: 'reads', tool: '*', annotations: { readOnly: true }, outcome: 'allow' },
      { id: 'writes-in-plan', tool: '*', mode: 'plan', outcome: 'deny' },
      { id: 'no-drops', tool: 'drop_*', outcome: 'deny', reason: 'Tables are never dropped here.' },
      { id: 'mail', tool: 'send_mail', outcome: 'ask' },
      { id: 'payments', tool: 'pay', outcome: 'ask', approvers: { roles: ['finance'], notRequester: true } },
      { id: 'deployments', tool: 'deploy', outcome: 'ask', expiresIn: 60 },
      {
        id: 'large-transfers',
        tool: 'transfer',
        args: { '/amount': { type: 'integer', exclusiveMinimum: 1000 } },
        outcome: 'deny',
      },
      { id: 'transfers', tool: 'transfer', outcome: 'ask' },
      { id: 'interns', tool: 'write_note', agent: 'intern', outcome: 'deny' },
      { id: 'notes', tool: 'write_note', outcome: 'allow' },
    ]),
  }),
  broken: async (failure) => ({
    policy: rulePolicy([], { fallback: broken[failure] }),
    ...(failure === 'slow' ? { timeoutMs: 50 } : {}),
  }),
});
