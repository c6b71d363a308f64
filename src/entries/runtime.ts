/**
 * The event-sourced runtime of agents: kinds of agents, plugins, services, models of your own. Node only.
 * Stability: stable.
 *
 * @packageDocumentation
 */

export type { SourceOf } from '../adapters/adk/index.ts';
export { fromAgent } from '../adapters/adk/index.ts';
export type {
  Agent,
  ArtifactService,
  CompositionNode,
  CredentialService,
  MemoryService,
  Model,
  ModelRequest,
  ModelResponse,
  Plugin,
  SessionService,
  StoredEvent,
  Toolset,
} from '../runtime/index.ts';
export {
  agentTool,
  CallbackContext,
  CustomAgent,
  composeAgent,
  exitLoopTool,
  hooksPlugin,
  InMemoryArtifactService,
  InMemoryCredentialService,
  InMemoryMemoryService,
  InMemorySessionService,
  LlmAgent,
  LoopAgent,
  loadArtifactsTool,
  loadMemoryTool,
  ParallelAgent,
  Runner,
  SequentialAgent,
  securityPlugin,
} from '../runtime/index.ts';
