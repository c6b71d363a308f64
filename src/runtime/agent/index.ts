/** An agent in its tree and in a run: contexts, tools, limits, engine. */
export { childController, orAbort, underSignal } from './abort.ts';
export type { Agent, ChildOptions, LimitedAgent, Place, Run } from './agent.ts';
export { AgentContext, AgentTree, mayEscalate } from './agent.ts';
export { finishAgent, keepWrites, startAgent, withOutput } from './agent-hooks.ts';
export { assertAgentName } from './agent-name.ts';
export type { BoundedAnswer } from './bounded-answer.ts';
export { boundedAnswer, lentArtifacts, withBounded } from './bounded-answer.ts';
export type { CallPlace } from './call-place.ts';
export { assertCallOfAgent, assertTurnOfAgent, checkEdited, isOwnCall, placeOfCall, toolOf } from './call-place.ts';
export type { Engine, InvocationResult } from './engine.ts';
export { errorFields, failureOf, limitReason, thrownOutcome } from './failure.ts';
export { inheritedModel, modelNameOf, modelOf } from './model-choice.ts';
export { outputFault, outputValue, promisedValue } from './promised-output.ts';
export { requesterOf } from './requester-of.ts';
export type { EngineParts, InvocationOptions, RunningBranch, RunSink, Shown } from './run-parts.ts';
export type { Attributes, OperationKind, OperationMessage, Telemetry, TelemetrySpan } from './telemetry.ts';
export { Operation, runAttributes } from './telemetry.ts';
export type { ToolUser } from './tool-user.ts';
export { isToolUser } from './tool-user.ts';
export type { AgentRunningTool, ResolvedTool, ToolMap, Toolset } from './tools.ts';
export { agentOfTool, isHostRun, mayRepeat, notFound, resolveTool, toolMap, validateCall } from './tools.ts';
export type { TurnLimits } from './turn-limits.ts';
export {
  budgetUsed,
  DEFAULT_MAX_ITERATIONS,
  DEFAULT_MAX_LLM_CALLS,
  exceeded,
  limit,
  strictest,
} from './turn-limits.ts';
