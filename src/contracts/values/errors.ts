/** google.rpc code names. */
export type StatusCode =
  | 'CANCELLED'
  | 'UNKNOWN'
  | 'INVALID_ARGUMENT'
  | 'DEADLINE_EXCEEDED'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'PERMISSION_DENIED'
  | 'UNAUTHENTICATED'
  | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION'
  | 'ABORTED'
  | 'OUT_OF_RANGE'
  | 'UNIMPLEMENTED'
  | 'INTERNAL'
  | 'UNAVAILABLE'
  | 'DATA_LOSS';

/** Every code this package raises. `docs/errors.md` says of each what happened and what to do. */
export const ERROR_CODES = [
  'E_ABORTED',
  'E_AGENT_NAME',
  'E_AGENT_PROCESS',
  'E_AGENT_PROTOCOL',
  'E_AGENT_UNASKED',
  'E_AGENT_UNKNOWN',
  'E_ANSWER_LIMIT',
  'E_BAD_INPUT',
  'E_CEILING',
  'E_COMPOSITION',
  'E_CONNECTION_LOST',
  'E_CONTROL_LOST',
  'E_CREDENTIALS',
  'E_DISPATCH_PIPELINE_ERROR',
  'E_DUPLICATE_AGENT',
  'E_DUPLICATE_PLUGIN',
  'E_DUPLICATE_TOOL',
  'E_EVENT_EXISTS',
  'E_EXECUTOR_CONTRADICTION',
  'E_EXECUTOR_LOST',
  'E_EXECUTOR_PROTOCOL',
  'E_EXECUTOR_SILENT',
  'E_FENCED',
  'E_FORBIDDEN',
  'E_GOING_AWAY',
  'E_HOOK_BLOCKED',
  'E_HOOK_FAILED',
  'E_ID',
  'E_IDEMPOTENCY_CONFLICT',
  'E_INPUT_PIPELINE_ERROR',
  'E_INPUT_REQUIRED',
  'E_INSTRUCTION',
  'E_INTERNAL',
  'E_INVALID_INITIAL_VALUE',
  'E_INVALID_OPENAI_CHAT_COMPLETIONS_OPTIONS',
  'E_INVALID_TOOL_ARGS',
  'E_INVALID_TURN_RUNNER_CONFIG',
  'E_LLM_EXECUTION_ALREADY_SIGNALLED',
  'E_LLM_EXECUTION_EXECUTOR_ERROR',
  'E_LLM_EXECUTION_NACKED',
  'E_LLM_EXECUTION_SUPERSEDED',
  'E_LOOP_UNBOUNDED',
  'E_MAX_BUDGET',
  'E_MAX_ITERATIONS',
  'E_MAX_LLM_CALLS',
  'E_MAX_TIME',
  'E_MCP_CONFIG',
  'E_MCP_KEY',
  'E_MCP_SERVER',
  'E_MODEL',
  'E_MODEL_EMPTY',
  'E_MODEL_SETUP',
  'E_NODE_VERSION',
  'E_NOT_APPROVER',
  'E_NOT_JSON',
  'E_NO_EXECUTOR',
  'E_NO_MODEL',
  'E_NO_PRICE',
  'E_NO_TURN',
  'E_OUTPUT_PIPELINE_ERROR',
  'E_OUTPUT_SCHEMA',
  'E_PIPELINE_SHORT_CIRCUITED',
  'E_POLICY',
  'E_POLICY_FILE',
  'E_POLICY_RULE',
  'E_PREVIEW_CHANGED',
  'E_PROTOCOL',
  'E_RATE_LIMIT',
  'E_REFUSED',
  'E_REPLAY_DIVERGED',
  'E_REPORT_SEALED',
  'E_REQUEST_CLOSED',
  'E_SCHEMA',
  'E_SCRIPT',
  'E_SESSION_BUSY',
  'E_SESSION_CLOSED',
  'E_SESSION_CONFLICT',
  'E_SESSION_EXISTS',
  'E_SESSION_NOT_FOUND',
  'E_STATE_KEY',
  'E_STORE',
  'E_STORE_FULL',
  'E_STORE_READ_ONLY',
  'E_STORE_URL',
  'E_STREAM_LOST',
  'E_SUSPENSION_LOST',
  'E_TOOL_ALREADY_REGISTERED',
  'E_TOOL_DOWNSTREAM_ERROR',
  'E_TOOL_OUTCOME_UNKNOWN',
  'E_TOO_DEEP',
  'E_TOO_LARGE',
  'E_TOOL',
  'E_TRANSFER',
  'E_TURN_COMPLETED',
  'E_UNAUTHENTICATED',
  'E_UNKNOWN_REQUEST',
  'E_UNSUPPORTED',
  'E_UNSUPPORTED_MEDIA_MODALITY',
  'E_USAGE',
  'E_WRONG_ANSWER',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface ErrorOptions {
  /** The same call may succeed later. */
  retryable?: boolean;
  /** Facts for programs; no secrets. */
  details?: Record<string, unknown>;
  cause?: unknown;
}

const marker = Symbol.for('coxswain.error');

/**
 * What every refusal and failure of this package is. Recognised with {@link isCoxswainError}, which works over
 * several copies of the package in one program (`instanceof` does not).
 */
export class CoxswainError extends Error {
  readonly status: StatusCode;
  readonly code: ErrorCode | (`E_${string}` & {});
  readonly retryable: boolean;
  readonly details: Record<string, unknown> | undefined;
  readonly [marker] = true;

  constructor(status: StatusCode, code: ErrorCode | (`E_${string}` & {}), message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CoxswainError';
    this.status = status;
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.details = options.details;
  }
}

export function isCoxswainError(value: unknown): value is CoxswainError {
  try {
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[marker] === true;
  } catch {
    // A proxy that lets nobody look at it.
    return false;
  }
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return thrown.message;
    return String(thrown);
  } catch {
    return 'something that has no text was thrown';
  }
}
