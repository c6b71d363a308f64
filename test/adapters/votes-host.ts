import type { AgentHost, AgentSession, SessionService, Settlement } from '../../src/index.ts';
import { createHost, LlmAgent, rulePolicy } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

/** A host whose only tool wants the yes of five people. */
export function quorumHost(sessions: SessionService, paid: () => void): AgentHost {
  const model = new ScriptedModel([{ calls: [['pay', {}]] }, 'Paid.']);
  return createHost({
    app: 'shop',
    userId: 'ann',
    store: sessions,
    agents: [new LlmAgent({ name: 'bot', model })],
    tools: [{ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, execute: () => void paid() }],
    policy: rulePolicy([{ tool: 'pay', outcome: 'ask', approvers: { roles: ['boss'], quorum: 5 } }]),
  });
}

export function vote(session: AgentSession, requestId: string, id: string): Promise<Settlement> {
  if (!session.respond) throw new Error('a session of the runtime can be answered');
  return session.respond(requestId, { kind: 'approve', by: { id, roles: ['boss'] } });
}
