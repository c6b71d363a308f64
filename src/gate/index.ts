/** The one way a tool runs. Importing this loads neither a schema library nor a validator. */
export type { AskedWith } from './asked.ts';
export { requestOf } from './asked.ts';
export type { CapLimit, CapOptions } from './cap.ts';
export { capResult, MAX_RESULT_BYTES } from './cap.ts';
export type { Approval, GateCall, GateRules, Question, Verdict } from './decide.ts';
export { askHook, decide, decideApproved, policyOn, policyRequest, recordFacts } from './decide.ts';
export { Decision } from './decision.ts';
export { deniedResult, policyDenied, reasonOf } from './denial.ts';
export { compareStrictness, denyOverrides, mergeDecisions } from './deny-overrides.ts';
export { Undecided, withEffort } from './effort.ts';
export { excludedBy } from './excluded.ts';
export { providedTool, runHandler } from './execute.ts';
export { headOf } from './head.ts';
export { checkHookResult, fireHook, isHookResult } from './hook-result.ts';
export { toJsonValue } from './json-value.ts';
export { errorResult, normaliseReturn } from './normalise.ts';
export type { OperationKind, OperationMessage } from './operation.ts';
export { Operation } from './operation.ts';
export type { PromisedOutput, ReadOutput } from './output.ts';
export { readOutput, readPromised } from './output.ts';
export { boundedTest, faultOfPattern, MAX_PATTERN_INPUT } from './pattern.ts';
export { pause } from './pause.ts';
export type { CheckedDecision, EvaluateOptions, PolicyOutcome } from './policy.ts';
export { checkConfirmation, evaluatePolicy, MAX_EXPIRES_IN, POLICY_TIMEOUT_MS, withRedact } from './policy.ts';
export type { ToolResponseFields } from './response.ts';
export { fromResponse, toResponse } from './response.ts';
export type { RetryToolOptions } from './retry-tool.ts';
export { retryTool } from './retry-tool.ts';
export type { ToJsonSchemaOptions } from './schema.ts';
export { describeTool, toJsonSchema } from './schema.ts';
export type { ShadowDecision, ShadowOptions, ShadowPolicy } from './shadow.ts';
export { shadow } from './shadow.ts';
export type { Flights, SharedRuns } from './share-runs.ts';
export { shareRuns } from './share-runs.ts';
export { subagentSessionId } from './subagent-session-id.ts';
export { isTimed, MAX_TIMER_MS } from './timer.ts';
export { toolDigest } from './tool-digest.ts';
export { untilAborted, untilLate } from './until-aborted.ts';
export type { ArgumentsSchema, ValidatedArgs } from './validate.ts';
export { validateArgs, validatedInTime } from './validate.ts';
export {
  compilePredicate,
  compileSchema,
  ensureValidator,
  fitsSchema,
} from './validator.ts';
