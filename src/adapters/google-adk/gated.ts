import { CoxswainError } from '../../contracts/index.ts';
import { guarded } from '../../session/index.ts';
import type { AdkAgent, AdkModule } from './types.ts';

/**
 * What would run past the gate is refused.
 * @throws CoxswainError `UNIMPLEMENTED / E_UNSUPPORTED`
 */
export function assertGated(adk: AdkModule, agent: AdkAgent, place: string): void {
  if (!guarded('fromGoogleAdk: options.agent', () => adk.isBaseAgent(agent))) {
    throw new CoxswainError(
      'UNIMPLEMENTED',
      'E_UNSUPPORTED',
      `${place} must be an agent; the nodes of a Workflow call tools past the gate`,
    );
  }
  const { codeExecutor, tools = [] } = agent as { codeExecutor?: object; tools?: readonly unknown[] };
  if (codeExecutor && codeExecutor.constructor.name !== 'BuiltInCodeExecutor') {
    throw new CoxswainError(
      'UNIMPLEMENTED',
      'E_UNSUPPORTED',
      `agent ${agent.name} runs code of the model without a call that could be decided on; use a tool instead`,
    );
  }
  for (const child of agent.subAgents) assertGated(adk, child, `${nameOf(child)}, below ${agent.name},`);
  for (const tool of tools) {
    if (!adk.isAgentTool(tool)) continue;
    const { agent: called } = tool as { agent: AdkAgent };
    assertGated(adk, called, `${nameOf(called)}, a tool of ${agent.name},`);
  }
}

function nameOf(agent: AdkAgent): string {
  return typeof agent?.name === 'string' ? agent.name : 'a sub-agent';
}
