import { fromAgent, LlmAgent } from 'coxswain';
import { ScriptedModel } from 'coxswain/testing';
import type { Print } from './say.ts';
import { say } from './say.ts';

export async function main(print: Print): Promise<void> {
  const model = new ScriptedModel({
    byAgent: {
      desk: [{ calls: [['transfer_to_agent', { agent_name: 'billing' }]] }],
      billing: ['Which invoice is it?', 'Invoice 7 is paid.'],
    },
  });
  const desk = new LlmAgent({
    name: 'desk',
    model,
    instruction: 'Find out what people want and hand them over.',
    subAgents: [
      new LlmAgent({ name: 'billing', description: 'Invoices and payments.' }),
      new LlmAgent({ name: 'boats', description: 'Bookings of boats.' }),
    ],
  });
  const session = await fromAgent(desk).open({}, { app: 'patterns' });
  await say(session, 'I have a question about an invoice.', print);
  // Whoever has the conversation gets the next message.
  await say(session, 'Number 7.', print);
}
