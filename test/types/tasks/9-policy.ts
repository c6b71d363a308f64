import { createHost, rulePolicy, run } from 'coxswain';
import type { Ledger } from './bank.ts';
import { clerk, pay } from './bank.ts';

const ledger: Ledger = { paid: [] };
const given = { app: 'bank', agents: [clerk()], tools: [pay], deps: ledger };

const host = createHost({
  ...given,
  // #region task
  policy: { pay: ({ amount }) => (amount > 100 ? 'deny' : 'allow') },
  // #endregion
});

// The same as data.
const rules = rulePolicy([{ id: 'big', tool: 'pay', args: { '/amount': { minimum: 100 } }, outcome: 'ask' }]);
for (const one of [host, createHost({ ...given, agents: [clerk()], policy: rules })]) {
  const { denied, pending } = await run(await one.open('clerk'), 'Pay 300.');
  console.log(denied, pending.length, ledger.paid);
  await one.close();
}
