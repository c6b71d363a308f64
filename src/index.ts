/**
 * Hosts in control of agents: what most programs need. Loads anywhere; agents, hosts and policies need Node.
 * Stability: stable.
 *
 * @packageDocumentation
 */

export type { FromAgentOptions, SourceOf } from './adapters/adk/index.ts';
export { fromAgent } from './adapters/adk/index.ts';
export type {
  AgentCallContext,
  AgentElicitation,
  AgentEvent,
  AgentEvents,
  AgentSession,
  AgentSource,
  AgentStream,
  AnyAgentTool,
  AnyTool,
  ApprovalQuestion,
  ApprovalRequest,
  ArgsOf,
  CallInfo,
  ConfirmationRequest,
  Content,
  ContentPart,
  ElicitationAction,
  ErrorCode,
  ExecutionOptions,
  HookContext,
  HookPayloads,
  HookResult,
  JsonSchema,
  LifecycleInterceptor,
  Limits,
  NamedTool,
  OpenRequest,
  OutputFrom,
  OutputOf,
  PermissionMode,
  PolicyDecision,
  PolicyEvaluator,
  PolicyRequest,
  PriceTable,
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
  SessionUpdate,
  Settlement,
  StatusCode,
  SteerData,
  StreamEndReason,
  Telemetry,
  ToolAnnotations,
  ToolCallContext,
  ToolContract,
  ToolDescriptor,
  ToolProvider,
  ToolResult,
  ToolUpdate,
  Usage,
  WithOutput,
} from './contracts/index.ts';
export { CoxswainError, defineAgentTool, defineTool, hooks, isCoxswainError, textOfParts } from './contracts/index.ts';
export type {
  AgentModule,
  AgentModuleContext,
  EmbeddedHostOptions as HostOptions,
  HostOf,
  SessionOf,
} from './embed/index.ts';
export { createHost } from './embed/index.ts';
export type { ShadowPolicy } from './gate/index.ts';
export { denyOverrides, shadow } from './gate/index.ts';
export type {
  AgentHost,
  AnswerFor,
  ApprovalFilter,
  ApprovalPlace,
  Approvals,
  AuditOptions,
  OpenApproval,
  OpenOptions,
  PolicyRule,
  RulePolicy,
  SubagentOptions,
  SubagentTool,
} from './host/index.ts';
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
export type {
  Agent,
  AgentRunningTool,
  Model,
  ModelRequest,
  ModelResponse,
  Plugin,
  SessionService,
  Toolset,
} from './runtime/index.ts';
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
  AuditOutcome,
  RedactionOptions,
  RunError,
  RunResult,
  SessionRunOptions,
  SessionView,
  StreamReading,
  ViewItem,
  ViewMessage,
  ViewThread,
  ViewToolCall,
} from './session/index.ts';
export { auditOf, createView, readStream, run, runOrThrow, textOf } from './session/index.ts';
