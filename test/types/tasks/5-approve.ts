import { createHost, run } from 'coxswain';
import type { Ledger } from './bank.ts';
import { clerk, pay } from './bank.ts';

const ledger: Ledger = { paid: [] };
const host = createHost({ app: 'bank', agents: [clerk()], tools: [pay], deps: ledger });
const session = await host.open('clerk', { principal: { id: 'ann' } });

// #region task
let result = await run(session, 'Pay 300.');
for (const { requestId } of result.pending) await session.respond(requestId, 'approve');
result = await run(session);
// #endregion

console.log(result.text, ledger.paid);

// What is open narrows, and has what its kind has.
const another = createHost({ app: 'bank', agents: [clerk()], tools: [pay], deps: ledger });
const other = await another.open('clerk');
for (const request of (await run(other, 'Pay 300.')).pending) {
  if (!request.approval) continue;
  const { name, args, approval } = request;
  console.log(name, args, `for ${approval.requestedBy.id}`);
  await other.respond(request.requestId, { kind: 'deny', reason: 'too much' });
}
console.log((await run(other)).denied, ledger.paid);
await host.close();
await another.close();
