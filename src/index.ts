/**
 * Hosts in control of agents: what most programs need. Loads anywhere; agents, hosts and policies need Node.
 * Stability: stable.
 *
 * @packageDocumentation
 */

export type { SourceOf } from './adapters/adk/index.ts';
export { fromAgent } from './adapters/adk/index.ts';
export type {
  AgentCallContext,
  AgentEvent,
  AgentEvents,
  AgentSession,
  AgentSource,
  AgentStream,
  AnyAgentTool,
  AnyTool,
  ApprovalQuestion,
  ApprovalRequest,
  CallInfo,
  Content,
  ContentPart,
  ErrorCode,
  ExecutionOptions,
  HookPayloads,
  HookResult,
  JsonSchema,
  LifecycleInterceptor,
  Limits,
  OpenRequest,
  OutputOf,
  PermissionMode,
  PolicyDecision,
  PolicyEvaluator,
  PolicyRequest,
  Principal,
  ProvidedTool,
  ReportedRequest,
  RequestAnswer,
  SchemaLike,
  Session,
  SessionFactory,
  SessionInput,
  SessionProvider,
  SessionSummary,
  Settlement,
  StatusCode,
  StreamEndReason,
  Telemetry,
  ToolCallContext,
  ToolContract,
  ToolDescriptor,
  ToolProvider,
  ToolResult,
  Usage,
} from './contracts/index.ts';
export { CoxswainError, defineAgentTool, defineTool, hooks, isCoxswainError, textOfParts } from './contracts/index.ts';
export type { AgentModule, AgentModuleContext, EmbeddedHostOptions as HostOptions, HostOf } from './embed/index.ts';
export { createHost } from './embed/index.ts';
export { denyOverrides, shadow } from './gate/index.ts';
export type { AgentHost, Approvals, OpenApproval, PolicyRule, RulePolicy } from './host/index.ts';
export {
  allowAll,
  createSessionFactory,
  denyAll,
  loadPolicy,
  policyFor,
  presetPolicy,
  rulePolicy,
  subagentTool,
} from './host/index.ts';
export type { Agent, Model, ModelRequest, ModelResponse, Plugin, SessionService, Toolset } from './runtime/index.ts';
export {
  agentTool,
  CustomAgent,
  composeAgent,
  InMemorySessionService,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
} from './runtime/index.ts';
export type {
  AuditEntry,
  RunResult,
  SessionView,
  StreamReading,
  ViewItem,
  ViewMessage,
  ViewThread,
  ViewToolCall,
} from './session/index.ts';
export { auditOf, createView, readStream, run, runOrThrow, textOf } from './session/index.ts';
