import { createHost, policyFor, rulePolicy, run } from 'coxswain';
import type { Ledger } from './bank.ts';
import { clerk, pay } from './bank.ts';

// #region task
const policy = policyFor([pay], { pay: ({ amount }) => (amount > 100 ? 'deny' : 'allow') });
// #endregion

// The same as data.
const rules = rulePolicy([{ id: 'big', tool: 'pay', args: { '/amount': { minimum: 100 } }, outcome: 'ask' }]);
for (const given of [policy, rules]) {
  const ledger: Ledger = { paid: [] };
  const host = createHost({ app: 'bank', agents: [clerk()], tools: [pay], deps: ledger, policy: given });
  const { denied, pending } = await run(await host.open('clerk'), 'Pay 300.');
  console.log(denied, pending.length, ledger.paid);
  await host.close();
}
