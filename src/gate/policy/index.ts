/** The decision on a call: policies, hooks, questions, approvals. */
export { askHook } from './ask-hook.ts';
export type { AskedWith } from './asked-with.ts';
export { frozenPrincipal, policyAskedWith, requestOf } from './asked-with.ts';
export type { Approval, Verdict } from './decide.ts';
export { decide, decideApproved, policyOn, policyRequest, recordFacts } from './decide.ts';
export { Decision, isByPolicy } from './decision.ts';
export { deniedResult, policyDenied, reasonOf } from './denial.ts';
export { compareStrictness, denyOverrides, mergeDecisions } from './deny-overrides.ts';
export { excludedBy } from './excluded-by.ts';
export { isForeign } from './foreign.ts';
export type { ApprovalFloor, GateCall, GateRules } from './gate-call.ts';
export { floorFor } from './gate-call.ts';
export { fireHook, isHookResult, takeHookResult } from './hook-result.ts';
export type { CheckedDecision, EvaluateOptions } from './policy.ts';
export {
  answeringAtOnce,
  answersAtOnce,
  checkConfirmation,
  evaluatePolicy,
  POLICY_TIMEOUT_MS,
  withRedact,
} from './policy.ts';
export type { ShadowDecision, ShadowOptions, ShadowPolicy } from './shadow.ts';
export { shadow } from './shadow.ts';
export { isSessionOfCall, mayBeSubagents, subagentSessionId } from './subagent-session-id.ts';
export { toolDigest } from './tool-digest.ts';
