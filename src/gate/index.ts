/** The one way a tool runs. Importing this loads neither a schema library nor a validator. */

export { pause } from '../base/pause.ts';
export { isTimed, MAX_TIMER_MS } from '../base/timer.ts';
export { untilAborted, untilLate } from '../base/until-aborted.ts';
export { Undecided, withEffort } from './pattern/effort.ts';
export { boundedTest, faultOfPattern, MAX_PATTERN_INPUT } from './pattern/pattern.ts';
export type { AskedWith } from './policy/asked-with.ts';
export { requestOf } from './policy/asked-with.ts';
export type { Approval, GateCall, GateRules, Question, Verdict } from './policy/decide.ts';
export { askHook, decide, decideApproved, policyOn, policyRequest, recordFacts } from './policy/decide.ts';
export { Decision } from './policy/decision.ts';
export { deniedResult, policyDenied, reasonOf } from './policy/denial.ts';
export { compareStrictness, denyOverrides, mergeDecisions } from './policy/deny-overrides.ts';
export { excludedBy } from './policy/excluded-by.ts';
export { checkHookResult, fireHook, isHookResult } from './policy/hook-result.ts';
export type { CheckedDecision, EvaluateOptions, PolicyOutcome } from './policy/policy.ts';
export { checkConfirmation, evaluatePolicy, MAX_EXPIRES_IN, POLICY_TIMEOUT_MS, withRedact } from './policy/policy.ts';
export type { ShadowDecision, ShadowOptions, ShadowPolicy } from './policy/shadow.ts';
export { shadow } from './policy/shadow.ts';
export { subagentSessionId } from './policy/subagent-session-id.ts';
export { toolDigest } from './policy/tool-digest.ts';
export type { CapLimit, CapOptions } from './result/cap-result.ts';
export { capResult, MAX_RESULT_BYTES } from './result/cap-result.ts';
export { errorResult, normaliseReturn } from './result/normalise.ts';
export type { ToolResponseFields } from './result/tool-response.ts';
export { fromResponse, toResponse } from './result/tool-response.ts';
export type { OperationKind, OperationMessage } from './run/operation.ts';
export { Operation } from './run/operation.ts';
export type { RetryToolOptions } from './run/retry-tool.ts';
export { retryTool } from './run/retry-tool.ts';
export { providedTool, runHandler } from './run/run-handler.ts';
export type { Flights, SharedRuns } from './run/share-runs.ts';
export { shareRuns } from './run/share-runs.ts';
export type { PromisedOutput, ReadOutput } from './schema/read-output.ts';
export { readOutput, readPromised } from './schema/read-output.ts';
export type { ToJsonSchemaOptions } from './schema/schema.ts';
export { describeTool, toJsonSchema } from './schema/schema.ts';
export type { ArgumentsSchema, ValidatedArgs } from './schema/validate.ts';
export { validateArgs, validatedInTime } from './schema/validate.ts';
export {
  compilePredicate,
  compileSchema,
  ensureValidator,
  fitsSchema,
} from './schema/validator.ts';
export { headOf } from './values/head.ts';
export { toJsonValue } from './values/json-value.ts';
