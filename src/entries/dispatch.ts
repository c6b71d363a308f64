/**
 * Executors of your own: a loop that you write, with sessions, policy, approvals and events around it.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export type {
  DispatchAgent,
  DispatchContext,
  DispatchExecutorFn,
  DispatchExecutorHelpers,
  SpoolStore,
  TurnCallbacks,
  TurnContext,
  TurnRunnerConfig,
} from '../dispatch/index.ts';
export {
  dispatchAgent,
  FileSpoolStore,
  InMemorySpoolStore,
  inMemoryCallbacks,
  isErrorResult,
  Media,
  Message,
  Records,
  SpooledArtifact,
  storeEvent,
  Thought,
  Tool,
  ToolCall,
  ToolRegistry,
  TurnRunner,
  toolCallChecksum,
} from '../dispatch/index.ts';
