// What programs of a bank have in common: its tool takes a ledger, which a host has to be given.
import type { ToolCallContext } from 'coxswain';
import { defineTool, LlmAgent } from 'coxswain';
import { ScriptedModel } from 'coxswain/testing';
import { payment } from './schemas.ts';

export interface Ledger {
  paid: number[];
}

export const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount.',
  inputSchema: payment,
  execute({ amount }, { deps, principal }: ToolCallContext<Ledger>) {
    deps.paid.push(amount);
    return `${principal.id} paid ${amount.toFixed(2)}`;
  },
});

export const clerk = () => {
  const model = new ScriptedModel([{ text: 'I pay.', calls: [['pay', { amount: 300 }]] }, 'Paid.']);
  return new LlmAgent({ name: 'clerk', model });
};
