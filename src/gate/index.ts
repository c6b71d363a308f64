/** The one way a tool runs. Importing this loads neither a schema library nor a validator. */

export { isTimed, MAX_TIMER_MS, pause, untilAborted, untilLate } from '../base/index.ts';
export type { NextStep, OpenCallFacts, QuestionState, Refusal } from './calls/index.ts';
export {
  abandonedResult,
  authorsWord,
  isRepeatable,
  NOBODY_IN_TIME,
  NOT_AGAIN,
  nextStep,
  questionState,
  refusalResult,
  rerunQuestion,
} from './calls/index.ts';
export { boundedTest, faultOfPattern, MAX_PATTERN_INPUT, Undecided, withEffort } from './pattern/index.ts';
export type {
  Approval,
  AskedWith,
  CheckedDecision,
  EvaluateOptions,
  GateCall,
  GateRules,
  PolicyOutcome,
  Question,
  ShadowDecision,
  ShadowOptions,
  ShadowPolicy,
  Verdict,
} from './policy/index.ts';
export {
  answeringAtOnce,
  answersAtOnce,
  askHook,
  checkConfirmation,
  checkHookResult,
  compareStrictness,
  Decision,
  decide,
  decideApproved,
  deniedResult,
  denyOverrides,
  evaluatePolicy,
  excludedBy,
  fireHook,
  isHookResult,
  MAX_EXPIRES_IN,
  mergeDecisions,
  OBLIGATIONS_OF_ASKS,
  obligationsIn,
  POLICY_TIMEOUT_MS,
  policyDenied,
  policyOn,
  policyRequest,
  reasonOf,
  recordFacts,
  requestOf,
  shadow,
  subagentSessionId,
  toolDigest,
  withRedact,
} from './policy/index.ts';
export type { CapLimit, CapOptions, ToolResponseFields } from './result/index.ts';
export { capResult, errorResult, fromResponse, MAX_RESULT_BYTES, normaliseReturn, toResponse } from './result/index.ts';
export type {
  Flights,
  HandlerEnd,
  OperationKind,
  OperationMessage,
  RetryToolOptions,
  RunBounds,
  SharedRuns,
} from './run/index.ts';
export {
  DEFAULT_TOOL_CONCURRENCY,
  Operation,
  providedTool,
  RunQueue,
  retryTool,
  runHandler,
  runInTurn,
  runWithin,
  shareRuns,
} from './run/index.ts';
export type {
  ArgumentsSchema,
  PromisedOutput,
  ReadOutput,
  ToJsonSchemaOptions,
  ValidatedArgs,
} from './schema/index.ts';
export {
  compilePredicate,
  compileSchema,
  describeTool,
  ensureValidator,
  fitsSchema,
  readOutput,
  readPromised,
  toJsonSchema,
  validateArgs,
  validatedInTime,
} from './schema/index.ts';
export { headOf, toJsonValue } from './values/index.ts';
