/** The kinds of agents. */
export { checkPlugins, services, sessionService, turnLimits } from './agent-shape.ts';
export type { AgentToolOptions } from './agent-tool.ts';
export { agentTool } from './agent-tool.ts';
export { DEFAULT_LOOP_ITERATIONS, LoopAgent, ParallelAgent, SequentialAgent } from './composite-agents.ts';
export type { AgentParts, CompositionNode, PartsOf } from './composition.ts';
export { composeAgent } from './composition.ts';
export { CustomAgent } from './custom-agent.ts';
export { LlmAgent } from './llm-agent.ts';
export type {
  CompositeOptions,
  CustomAgentOptions,
  CustomContext,
  EmittedActions,
  LlmAgentOptions,
  LoopOptions,
} from './options.ts';
export { exitLoopTool, loadArtifactsTool, loadMemoryTool, MAX_ARTIFACT_TEXT } from './standard-tools.ts';
