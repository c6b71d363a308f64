import assert from 'node:assert/strict';
import { allowAll, createHost, LlmAgent, runOrThrow } from 'coxswain';
import { ScriptedModel } from 'coxswain/testing';
import type { Ledger } from './bank.ts';
import { pay } from './bank.ts';

// #region task
const model = new ScriptedModel([{ calls: [['pay', { amount: 3 }]] }, 'Paid.']);
// #endregion

const ledger: Ledger = { paid: [] };
const agents = [new LlmAgent({ name: 'clerk', model })];
const host = createHost({ app: 'bank', agents, tools: [pay], deps: ledger, policy: allowAll() });
assert.equal((await runOrThrow(await host.open('clerk'), 'Pay 3.')).text, 'Paid.');
assert.deepEqual(ledger.paid, [3]);
await host.close();
console.log('passed');
