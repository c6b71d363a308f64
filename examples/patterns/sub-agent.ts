import { createHost, defineTool, fromAgent, InMemorySessionService, LlmAgent, subagentTool } from 'coxswain';
import { ScriptedModel } from 'coxswain/testing';
import type { Print } from './say.ts';
import { say } from './say.ts';

export async function main(print: Print): Promise<void> {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays an invoice.',
    inputSchema: { type: 'object', properties: { invoice: { type: 'integer' } }, required: ['invoice'] },
    execute: ({ invoice }) => `invoice ${invoice} is paid`,
  });
  const clerk = new LlmAgent({
    name: 'clerk',
    description: 'Pays invoices.',
    model: new ScriptedModel([{ calls: [['pay', { invoice: 7 }]] }, 'Done.']),
  });
  const boss = new LlmAgent({
    name: 'boss',
    model: new ScriptedModel([{ calls: [['clerk', { request: 'pay invoice 7' }]] }, 'Invoice 7 is paid.']),
  });
  // Without a policy, what changes something is asked about: the call of the clerk, and what the clerk does.
  const host = createHost({
    app: 'patterns',
    agents: [boss],
    tools: [pay, subagentTool(fromAgent(clerk))],
    store: new InMemorySessionService(),
  });
  const session = await host.open('boss');
  await say(session, 'Pay invoice 7.', print);
  for (let [open] = await session.pending(); open; [open] = await session.pending()) {
    print(`${open.agentPath.join(' > ')} wants ${open.name}: yes`);
    await say(session, { kind: 'tool_approval', requestId: open.requestId }, print);
  }
  await host.close();
}
