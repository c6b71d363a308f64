// Checked by `tsc -p tsconfig.json`, never run: how a program writes types that have no public name.
import type { AcpCommand, FromAcpOptions, ServeAcpOptions } from '../../src/adapters/acp/index.ts';
import type { FromAgentOptions } from '../../src/adapters/adk/index.ts';
import type { ConnectOptions } from '../../src/adapters/remote/index.ts';
import type * as contracts from '../../src/contracts/index.ts';
import type { connect } from '../../src/entries/client.ts';
import type { ExecutorSession, HostAnswer, Telemetry } from '../../src/entries/contracts.ts';
import type { fromAcp, serveAcp } from '../../src/entries/peers/acp.ts';
import type { serve } from '../../src/entries/peers/server.ts';
import type { Runner } from '../../src/entries/runtime.ts';
import type * as host from '../../src/host/index.ts';
import type { ServeOptions } from '../../src/host/websocket/index.ts';
import type {
  AgentCallContext,
  AgentHost,
  AgentModule,
  AgentSession,
  Approvals,
  auditOf,
  ContentPart,
  fromAgent,
  HookPayloads,
  HostOptions,
  LlmAgent,
  OpenRequest,
  RequestAnswer,
  run,
  subagentTool,
  ToolCallContext,
  ToolDescriptor,
} from '../../src/index.ts';
import type * as runtime from '../../src/runtime/index.ts';
import type * as session from '../../src/session/index.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Of<F extends (...args: never[]) => unknown, N extends number> = NonNullable<Parameters<F>[N]>;
declare function isTrue<T extends true>(): T;

isTrue<Equal<Of<typeof fromAgent, 1>, FromAgentOptions>>();
isTrue<Of<typeof serve, 1> extends ServeOptions ? true : false>();
isTrue<Equal<Of<typeof connect, 1>, ConnectOptions>>();
isTrue<Equal<Of<typeof fromAcp, 0>, FromAcpOptions>>();
isTrue<Equal<Of<typeof serveAcp, 0>, ServeAcpOptions>>();
isTrue<Of<typeof fromAcp, 0> extends Partial<AcpCommand> ? true : false>();
isTrue<Equal<Of<typeof subagentTool, 2>, host.SubagentOptions>>();
isTrue<Equal<Of<typeof run, 2>, session.SessionRunOptions>>();
isTrue<Equal<Of<typeof auditOf, 1>, session.RedactionOptions>>();
isTrue<Equal<Of<AgentHost['open'], 1>, host.OpenOptions>>();
isTrue<Equal<Of<AgentHost['audit'], 1>, host.AuditOptions>>();
isTrue<Equal<Of<Approvals['list'], 0>, host.ApprovalFilter>>();
isTrue<Equal<Of<Approvals['get'], 1>, host.ApprovalPlace>>();
isTrue<Equal<NonNullable<HostOptions['onApproval']>, host.AnswerFor<contracts.ApprovalQuestion>>>();
isTrue<ConstructorParameters<typeof Runner>[0] extends runtime.RunnerOptions ? true : false>();
isTrue<runtime.LlmAgentOptions extends ConstructorParameters<typeof LlmAgent>[0] ? true : false>();

isTrue<Equal<Extract<ContentPart, { type: 'text' }>, contracts.TextPart>>();
isTrue<Equal<Extract<ContentPart, { type: 'media' }>, contracts.MediaPart>>();
isTrue<Equal<Extract<ContentPart, { type: 'function_call' }>, contracts.FunctionCallPart>>();
isTrue<Equal<Extract<ContentPart, { type: 'function_response' }>, contracts.FunctionResponsePart>>();
isTrue<Equal<Exclude<OpenRequest, { kind: 'tool' } | { approval: object }>, contracts.AgentElicitation>>();
isTrue<Equal<Extract<RequestAnswer, { kind: 'elicitation' }>['action'], contracts.ElicitationAction>>();

isTrue<Equal<NonNullable<ToolDescriptor['annotations']>, contracts.ToolAnnotations>>();
isTrue<Equal<Of<ToolCallContext['progress'], 0>, contracts.ToolUpdate>>();
isTrue<Equal<Of<ToolCallContext['requestConfirmation'], 0>, contracts.ConfirmationRequest>>();
isTrue<Equal<Of<AgentCallContext['requestCredential'], 0>, contracts.AuthConfig>>();
isTrue<Equal<Of<AgentSession['steer'], 0>, contracts.SteerData>>();
isTrue<Equal<Of<AgentSession['update'], 0>, contracts.SessionUpdate>>();
isTrue<Equal<HookPayloads['before_tool']['context'], contracts.HookContext>>();
isTrue<Equal<HookPayloads['before_model']['llmRequest'], runtime.EditableRequest>>();
isTrue<Equal<NonNullable<Extract<HostAnswer, { kind: 'result' }>['decision']>, contracts.DecisionRecord>>();
isTrue<Equal<NonNullable<Of<ExecutorSession['stream'], 1>['terms']>, contracts.TurnTerms>>();
isTrue<Equal<ReturnType<Telemetry['startSpan']>, contracts.TelemetrySpan>>();
isTrue<Equal<NonNullable<AgentModule['prices']>, contracts.PriceTable>>();
