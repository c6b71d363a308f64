/** Coxswain: hosts in control of agents. */
import type { FromAgentOptions } from './adapters/adk/index.ts';
import { fromAgent } from './adapters/adk/index.ts';
import type { AgentSource } from './contracts/index.ts';
import type { AgentHost, HostOptions } from './host/index.ts';
import { createHost as createHostOfSources } from './host/index.ts';
import type { Agent } from './runtime/index.ts';

export * from './adapters/adk/index.ts';
export * from './contracts/index.ts';
export { denyOverrides, type ShadowDecision, type ShadowPolicy, shadow } from './gate/index.ts';
export {
  type AgentHost,
  type AnswerFor,
  type ApprovalFilter,
  type ApprovalPlace,
  type ApprovalQuestion,
  Approvals,
  type AuditOptions,
  allowAll,
  applyMode,
  createSessionFactory,
  denyAll,
  HostedSession,
  type HostOptions,
  loadPolicy,
  type OpenApproval,
  type OpenOptions,
  type PolicyRule,
  presetPolicy,
  type RulePolicy,
  rulePolicy,
  type SubagentOptions,
  subagentTool,
} from './host/index.ts';
export {
  type Agent,
  agentTool,
  CustomAgent,
  composeAgent,
  type EditableRequest,
  InMemorySessionService,
  LlmAgent,
  LoopAgent,
  type Model,
  type ModelRequest,
  type ModelResponse,
  ParallelAgent,
  type Plugin,
  Runner,
  SequentialAgent,
  type SessionService,
  type Toolset,
} from './runtime/index.ts';
export {
  type AuditEntry,
  agentStream,
  auditOf,
  createView,
  type RedactionOptions,
  type RedactionRule,
  type RunResult,
  run,
  type SessionView,
  textOf,
} from './session/index.ts';

/** {@link createHostOfSources} that takes the runtime's agents as they are. */
export function createHost(
  options: Omit<HostOptions, 'agents'> & { agents: readonly (Agent | AgentSource)[]; agentOptions?: FromAgentOptions },
): AgentHost {
  const { agents, agentOptions, ...rest } = options;
  return createHostOfSources({ ...rest, agents: agents.map((agent) => asSource(agent, agentOptions)) });
}

function asSource(agent: Agent | AgentSource, options: FromAgentOptions | undefined): AgentSource {
  return 'descriptor' in agent ? agent : fromAgent(agent, options);
}
