import type {
  AgentElicitation,
  AgentSource,
  AnswerLimits,
  AnyTool,
  ApprovalQuestion,
  ApproverRule,
  Bus,
  Dispatcher,
  GivenAnswer,
  LifecycleInterceptor,
  Limits,
  Outcomes,
  PermissionMode,
  PolicyEvaluator,
  PriceTable,
  Principal,
  SessionRef,
  Telemetry,
  ToolProvider,
} from '../../contracts/index.ts';
import type { RedactionOptions } from '../../session/index.ts';
import type { AdmissionLimits } from './admission.ts';
import type { OnAgentChanged } from './agent-version.ts';

/** Undefined: this handler does not answer; the question stays open. */
export type AnswerFor<Request> = (
  request: Request,
  context: { signal: AbortSignal },
) => GivenAnswer | undefined | Promise<GivenAnswer | undefined>;

export interface HostOptions {
  /** Name space of sessions and state. One safe segment. */
  app: string;
  agents: readonly AgentSource[];
  /** Tools that the host runs. */
  tools?: readonly AnyTool[];
  toolProviders?: readonly ToolProvider[];
  /** Default: readOnly tools run, the rest asks. `allowAll()` opts out. */
  policy?: PolicyEvaluator;
  /**
   * Milliseconds that a policy may think; then it is a deny. A tool's `needsApproval` and `onUnknownOutcome` too; then a
   * person is asked. Default 10,000.
   */
  policyTimeoutMs?: number;
  /** Fired by the host around tools and messages, and inside of agents that can (the runtime's) around everything else. */
  hooks?: LifecycleInterceptor;
  /**
   * Milliseconds that `hooks` may think about one point; then they have failed: a `before_*` denies. Default 10,000;
   * 0: no limit.
   */
  hookTimeoutMs?: number;
  /** Store of the agents' sessions; each source has its own idea of the type. */
  store?: unknown;
  /** @deprecated Write `store`. */
  sessions?: unknown;
  credentials?: unknown;
  /** Finds models by name, for agents that name theirs and calls that name another: a `modelRegistry({…})`, or `(name) => Model | undefined`. */
  models?: unknown;
  /** Of each turn; the stricter of host, agent and call counts. All but steps include those of its sub-agents. */
  limits?: Limits;
  /** Of each answer of a model: what is larger, or takes longer, is a failure, and none of its calls runs. */
  answerLimits?: AnswerLimits;
  /** USD per million tokens by model name: needed for `limits.usd` where models do not report their cost. */
  prices?: PriceTable;
  /** Handed to tools, never logged. */
  deps?: unknown;
  /** Default `local`. */
  userId?: string;
  /** On whose behalf sessions are opened, unless they say otherwise. Default: the user. */
  principal?: Principal;
  permissionMode?: PermissionMode;
  /** False: nobody can be asked, every question is a deny. Default true. */
  interactive?: boolean;
  /**
   * Who may decide on questions about calls where policy names no approvers. Default: the owner of the session and
   * the requester; and the person that the program names which holds the session (`respond`).
   */
  approvers?: ApproverRule;
  /** Answers questions about calls while a stream runs. Absent: the stream ends `input_required`. */
  onApproval?: AnswerFor<ApprovalQuestion>;
  /** Answers the agents' own questions. */
  onElicitation?: AnswerFor<AgentElicitation>;
  /**
   * What becomes of a turn that another version of its agent has begun (`fromAgent(agent, { version })`, else a digest of what
   * agent and tools say of themselves). `ask`: it goes on, and what people have approved is asked about again. `go`: it goes
   * on, and approvals count. `hold`: nobody goes on with it but a program of that version. Default `ask`.
   */
  onAgentChanged?: OnAgentChanged;
  /** Milliseconds that a host tool may run, unless it says otherwise. Default 120,000; 0: no limit. */
  toolTimeoutMs?: number;
  /** Host tools of one batch that run side by side. Default 64. */
  toolConcurrency?: number;
  /** Bytes of JSON that a model is given of one result. Default 1 MiB. */
  maxResultBytes?: number;
  /** Keeps what is larger and says under which name. */
  spill?: (name: string, body: string | Uint8Array) => Promise<string>;
  /**
   * Milliseconds between two looks into the store for questions that other processes ask, while somebody watches
   * approvals. Default 2,000.
   */
  approvalPollMs?: number;
  /**
   * Milliseconds between two looks into the store for what other processes write to a session: answers, an abort, and
   * the events themselves. Only while the session runs here, or somebody follows it live. Default 1,000.
   */
  followPollMs?: number;
  /**
   * Brings turns that no client holds to the programs that run them, over several machines, e.g. `postgresDispatcher(url)`.
   * Default: this process.
   */
  dispatcher?: Dispatcher;
  /**
   * Tells hosts on other machines at once of what is written here, and shows them text that is not stored, e.g.
   * `postgresBus(url)`. Without it, or while it is away, they look every `followPollMs`.
   */
  bus?: Bus;
  /**
   * How much this program takes upon itself: what would be more is refused with `E_FULL` where a client begins a turn, and
   * waits in the dispatcher where nobody does. Turns that wait for people, and sub-agents, do not count. Default: no limit.
   */
  admission?: AdmissionLimits;
  /** Who is sent what submitted turns have come to, by names of the program: `webhooks({…})`. Default: nobody. */
  outcomes?: Outcomes;
  /** Where spans go, e.g. `otelTelemetry()`: the host's, and those of agents that have no tracing system of their own. */
  telemetry?: Telemetry;
  /** Gets what went wrong without consequence. Default: stderr. */
  warn?: (message: string, error?: unknown) => void;
}

export const DEFAULT_TOOL_TIMEOUT_MS = 120_000;

export interface OpenOptions extends SessionRef {
  /** On whose behalf; default the host's. */
  principal?: Principal;
  userId?: string;
  permissionMode?: PermissionMode;
}

export interface AuditOptions extends RedactionOptions {
  /** Whose session; default the host's user. */
  userId?: string;
}
