import { CLOSE_CODES, RPC_CODES } from './wire-codes.ts';

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

/** All that is known of an error code. `docs/errors.md` says in words what happened and what to do. */
export interface ErrorRow {
  /** What may stand beside the code. */
  readonly statuses: readonly StatusCode[];
  /** Whether the same call may succeed later, where the error does not say; `varies`: not unless it says so. */
  readonly retryable: boolean | 'varies';
  /** Reason of the end of a stream that ended for it. Default `failed`. */
  readonly ends?: 'max_turns' | 'max_budget' | 'max_time' | 'refusal';
  /** What a command exits with. Default `failed`. */
  readonly exit?: 'usage';
  /** HTTP status of an upgrade that is refused for it; the client makes the code of the status. */
  readonly http?: number;
  /** HTTP status of a request that is refused so, where it is another than that of its status. */
  readonly answer?: { readonly [S in StatusCode]?: number };
  /** Code of a WebSocket that is closed for it. Default 1011. */
  readonly close?: number;
  /** Number of the session protocol for a request that is refused so. Default -32000. */
  readonly rpc?: { readonly [S in StatusCode]?: number };
}

type Statuses = readonly StatusCode[];
const final = <const S extends Statuses>(...statuses: S) => ({ statuses, retryable: false as const });
const retry = <const S extends Statuses>(...statuses: S) => ({ statuses, retryable: true as const });
const varies = <const S extends Statuses>(...statuses: S) => ({ statuses, retryable: 'varies' as const });

/** One row for each code that this package raises. */
export const ERROR_TABLE = {
  E_ABORTED: final('ABORTED'),
  E_AGENT_CHANGED: final('FAILED_PRECONDITION'),
  E_AGENT_NAME: final('INVALID_ARGUMENT'),
  E_AGENT_PROCESS: retry('UNAVAILABLE'),
  E_AGENT_PROTOCOL: final('INTERNAL', 'UNAUTHENTICATED'),
  E_AGENT_UNASKED: final('PERMISSION_DENIED'),
  E_AGENT_UNKNOWN: final('NOT_FOUND'),
  E_ANSWER_LIMIT: final('RESOURCE_EXHAUSTED'),
  E_BAD_INPUT: { ...final('INVALID_ARGUMENT', 'FAILED_PRECONDITION'), http: 400 },
  E_CEILING: final('PERMISSION_DENIED'),
  E_COMPOSITION: final('INVALID_ARGUMENT'),
  E_CONNECTION_LOST: { ...retry('UNAVAILABLE'), http: 503 },
  E_CONTEXT: final('RESOURCE_EXHAUSTED'),
  E_CONTROL_LOST: final('ABORTED'),
  E_CREDENTIALS: retry('UNAVAILABLE'),
  E_DISPATCHER: retry('UNAVAILABLE'),
  E_DISPATCH_PIPELINE_ERROR: final('INTERNAL', 'FAILED_PRECONDITION'),
  E_DUPLICATE_AGENT: final('INVALID_ARGUMENT'),
  E_DUPLICATE_PLUGIN: final('INVALID_ARGUMENT'),
  E_DUPLICATE_TOOL: final('INVALID_ARGUMENT'),
  E_EVENT_EXISTS: final('ALREADY_EXISTS'),
  E_EXECUTOR_CONTRADICTION: final('FAILED_PRECONDITION'),
  E_EXECUTOR_LOST: retry('UNAVAILABLE'),
  E_EXECUTOR_PROTOCOL: final('INTERNAL'),
  E_EXECUTOR_SILENT: final('DEADLINE_EXCEEDED'),
  E_FENCED: final('ABORTED'),
  E_FORBIDDEN: { ...final('PERMISSION_DENIED'), http: 403, close: CLOSE_CODES.forbidden },
  E_FULL: retry('UNAVAILABLE'),
  E_GOING_AWAY: retry('UNAVAILABLE'),
  E_HOOK_BLOCKED: final('PERMISSION_DENIED'),
  E_HOOK_FAILED: final('INTERNAL', 'DEADLINE_EXCEEDED'),
  E_ID: { ...final('INVALID_ARGUMENT'), exit: 'usage' },
  E_IDEMPOTENCY_CONFLICT: final('ALREADY_EXISTS'),
  E_INPUT_PIPELINE_ERROR: final('INTERNAL'),
  E_INPUT_REQUIRED: final('FAILED_PRECONDITION'),
  E_INSTRUCTION: final('FAILED_PRECONDITION'),
  E_INTERNAL: final('INTERNAL', 'DATA_LOSS', 'UNAVAILABLE'),
  E_INVALID_INITIAL_VALUE: final('INVALID_ARGUMENT'),
  E_INVALID_OPENAI_CHAT_COMPLETIONS_OPTIONS: final('INVALID_ARGUMENT'),
  E_INVALID_TOOL_ARGS: final('INVALID_ARGUMENT'),
  E_INVALID_TURN_RUNNER_CONFIG: final('INVALID_ARGUMENT'),
  E_LLM_EXECUTION_ALREADY_SIGNALLED: final('FAILED_PRECONDITION'),
  E_LLM_EXECUTION_EXECUTOR_ERROR: final('INTERNAL'),
  E_LLM_EXECUTION_NACKED: final('ABORTED'),
  E_LLM_EXECUTION_SUPERSEDED: final('FAILED_PRECONDITION'),
  E_LOOP_UNBOUNDED: final('INVALID_ARGUMENT'),
  E_MAX_BUDGET: { ...final('RESOURCE_EXHAUSTED'), ends: 'max_budget' },
  E_MAX_ITERATIONS: { ...final('RESOURCE_EXHAUSTED'), ends: 'max_turns' },
  E_MAX_LLM_CALLS: { ...final('RESOURCE_EXHAUSTED'), ends: 'max_turns' },
  E_MAX_TIME: { ...final('RESOURCE_EXHAUSTED'), ends: 'max_time' },
  E_MCP_CONFIG: { ...final('INVALID_ARGUMENT'), exit: 'usage' },
  E_MCP_KEY: final('FAILED_PRECONDITION'),
  E_MCP_SERVER: retry('UNAVAILABLE', 'UNAUTHENTICATED'),
  E_MODEL: varies(
    'UNAVAILABLE',
    'INTERNAL',
    'RESOURCE_EXHAUSTED',
    'UNAUTHENTICATED',
    'PERMISSION_DENIED',
    'INVALID_ARGUMENT',
    'DEADLINE_EXCEEDED',
  ),
  E_MODEL_EMPTY: retry('UNAVAILABLE'),
  E_MODEL_SETUP: final('FAILED_PRECONDITION'),
  E_NODE_VERSION: final('FAILED_PRECONDITION'),
  E_NOT_APPROVER: final('PERMISSION_DENIED'),
  E_NOT_JSON: final('INVALID_ARGUMENT'),
  E_NO_EXECUTOR: final('NOT_FOUND'),
  E_NO_MODEL: final('FAILED_PRECONDITION', 'NOT_FOUND'),
  E_NO_PRICE: final('FAILED_PRECONDITION'),
  E_NO_TURN: final('FAILED_PRECONDITION'),
  E_OUTPUT_PIPELINE_ERROR: final('INTERNAL'),
  E_OUTPUT_SCHEMA: retry('FAILED_PRECONDITION'),
  E_PIPELINE_SHORT_CIRCUITED: final('FAILED_PRECONDITION'),
  E_POLICY: retry('UNAVAILABLE'),
  E_POLICY_FILE: { ...final('INVALID_ARGUMENT', 'NOT_FOUND'), exit: 'usage' },
  E_POLICY_RULE: { ...final('INVALID_ARGUMENT'), exit: 'usage' },
  E_PREVIEW_CHANGED: final('FAILED_PRECONDITION'),
  E_PROTOCOL: {
    ...final('INVALID_ARGUMENT', 'UNIMPLEMENTED', 'FAILED_PRECONDITION'),
    http: 404,
    answer: { UNIMPLEMENTED: 404 },
    close: CLOSE_CODES.badFrame,
    rpc: {
      INVALID_ARGUMENT: RPC_CODES.invalidParams,
      UNIMPLEMENTED: RPC_CODES.methodNotFound,
      FAILED_PRECONDITION: RPC_CODES.invalidParams,
    },
  },
  E_RATE_LIMIT: { ...retry('RESOURCE_EXHAUSTED'), http: 429, close: CLOSE_CODES.slow },
  E_REFUSED: { ...final('FAILED_PRECONDITION', 'PERMISSION_DENIED'), ends: 'refusal' },
  E_REPLAY_DIVERGED: final('FAILED_PRECONDITION'),
  E_REPORT_SEALED: final('FAILED_PRECONDITION'),
  E_REQUEST_CLOSED: final('FAILED_PRECONDITION'),
  E_RUN_UNFINISHED: final('FAILED_PRECONDITION'),
  E_SCHEMA: { ...final('INVALID_ARGUMENT'), exit: 'usage' },
  E_SCRIPT: final('FAILED_PRECONDITION'),
  E_SESSION_BUSY: retry('ABORTED', 'FAILED_PRECONDITION'),
  E_SESSION_CLOSED: final('FAILED_PRECONDITION'),
  E_SESSION_CONFLICT: retry('ABORTED'),
  E_SESSION_EXISTS: final('ALREADY_EXISTS'),
  E_SESSION_NOT_FOUND: final('NOT_FOUND'),
  E_STATE_KEY: final('INVALID_ARGUMENT'),
  E_STORE: varies('FAILED_PRECONDITION', 'UNAVAILABLE', 'ABORTED', 'INTERNAL', 'DATA_LOSS'),
  E_STORE_FULL: final('RESOURCE_EXHAUSTED'),
  E_STORE_READ_ONLY: final('FAILED_PRECONDITION'),
  E_STORE_URL: { ...final('INVALID_ARGUMENT'), exit: 'usage' },
  E_STREAM_LOST: final('UNAVAILABLE'),
  E_SUSPENSION_LOST: final('DATA_LOSS'),
  E_TOOL_ALREADY_REGISTERED: final('ALREADY_EXISTS'),
  E_TOOL_DOWNSTREAM_ERROR: final('INTERNAL'),
  E_TOOL_OUTCOME_UNKNOWN: final('FAILED_PRECONDITION'),
  E_TOO_DEEP: final('INVALID_ARGUMENT', 'FAILED_PRECONDITION'),
  // A request that is too large; an answer that would be.
  E_TOO_LARGE: {
    ...final('INVALID_ARGUMENT', 'RESOURCE_EXHAUSTED'),
    answer: { INVALID_ARGUMENT: 413, RESOURCE_EXHAUSTED: 500 },
  },
  E_TOOL: final(
    'PERMISSION_DENIED',
    'FAILED_PRECONDITION',
    'NOT_FOUND',
    'UNAVAILABLE',
    'DEADLINE_EXCEEDED',
    'INTERNAL',
  ),
  E_TRANSFER: final('NOT_FOUND'),
  E_TURN_COMPLETED: final('FAILED_PRECONDITION'),
  E_UNAUTHENTICATED: { ...final('UNAUTHENTICATED'), http: 401, close: CLOSE_CODES.unauthenticated },
  E_UNKNOWN_REQUEST: final('FAILED_PRECONDITION'),
  E_UNSUPPORTED: final('FAILED_PRECONDITION', 'UNIMPLEMENTED'),
  E_UNSUPPORTED_MEDIA_MODALITY: final('UNIMPLEMENTED'),
  E_USAGE: { ...final('INVALID_ARGUMENT'), exit: 'usage' },
  E_WRONG_ANSWER: final('FAILED_PRECONDITION', 'INVALID_ARGUMENT', 'PERMISSION_DENIED'),
} satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERROR_TABLE;

/** Every code this package raises. */
export const ERROR_CODES: readonly ErrorCode[] = Object.keys(ERROR_TABLE) as ErrorCode[];

/** What may stand beside a code; beside one of somebody else's, anything. */
export type StatusOf<C extends string> = C extends ErrorCode ? (typeof ERROR_TABLE)[C]['statuses'][number] : StatusCode;

/** Undefined for a code of somebody else's. */
export function errorRowOf(code: string): ErrorRow | undefined {
  return Object.hasOwn(ERROR_TABLE, code) ? ERROR_TABLE[code as ErrorCode] : undefined;
}

/** The code that an upgrade was refused for, by its HTTP status. */
export function errorCodeOfHttp(status: number): ErrorCode | undefined {
  return ERROR_CODES.find((code) => errorRowOf(code)?.http === status);
}

/** HTTP status of an answer, by the status of its error. */
export const HTTP_STATUSES: Readonly<Record<StatusCode, number>> = {
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  PERMISSION_DENIED: 403,
  UNAUTHENTICATED: 401,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 409,
  ABORTED: 409,
  OUT_OF_RANGE: 400,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DATA_LOSS: 500,
};

/** HTTP status of a request that is refused with this error. */
export function httpStatusOf({ code, status }: { code: string; status: StatusCode }): number {
  return errorRowOf(code)?.answer?.[status] ?? HTTP_STATUSES[status];
}

/** Numbers that the Agent Client Protocol has for errors. */
export const ACP_CODES: Readonly<Record<StatusCode, number>> = {
  CANCELLED: -32_603,
  UNKNOWN: -32_603,
  INVALID_ARGUMENT: -32_602,
  DEADLINE_EXCEEDED: -32_603,
  NOT_FOUND: -32_002,
  ALREADY_EXISTS: -32_603,
  PERMISSION_DENIED: -32_603,
  UNAUTHENTICATED: -32_603,
  RESOURCE_EXHAUSTED: -32_603,
  FAILED_PRECONDITION: -32_603,
  ABORTED: -32_603,
  OUT_OF_RANGE: -32_603,
  UNIMPLEMENTED: -32_603,
  INTERNAL: -32_603,
  UNAVAILABLE: -32_603,
  DATA_LOSS: -32_603,
};

export const isStatusCode = (status: string): status is StatusCode => Object.hasOwn(ACP_CODES, status);
