import { createHost, runOrThrow } from 'coxswain';
import type { Ledger } from './bank.ts';
import { clerk, pay } from './bank.ts';

const ledger: Ledger = { paid: [] };

// #region task
const host = createHost({
  app: 'bank',
  agents: [clerk()],
  tools: [pay],
  deps: ledger,
  onApproval: ({ args }) => (args.amount === 300 ? 'approve' : 'deny'),
});
// #endregion

const session = await host.open('clerk');
console.log((await runOrThrow(session, 'Pay 300.')).text, ledger.paid);
await host.close();
