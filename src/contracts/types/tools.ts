import type { z } from 'zod';
import type * as schema from '../schemas/tools.ts';
import type { Closed, JsonSchema } from '../values/index.ts';
import { CoxswainError } from '../values/index.ts';
import type { Principal } from './approvals.ts';
import type { DisplayContent } from './content.ts';
import type { ArgsOf, InputOf, SchemaLike } from './schema-like.ts';

export type ToolKind = z.infer<typeof schema.toolKind>;
export type ToolAnnotations = Closed<z.infer<typeof schema.toolAnnotations>>;
/** What a tool is, for models, policies and people. JSON-serialisable. */
export type ToolDescriptor = Closed<z.infer<typeof schema.toolDescriptor>>;
export type ToolErrorType = z.infer<typeof schema.toolErrorType>;
/** What a tool call came to. `content` goes to the model, `display` to people. */
export type ToolResult = Closed<z.infer<typeof schema.toolResult>>;
export type ToolUpdate = Closed<z.infer<typeof schema.toolUpdate>>;
export type TailCall = Closed<z.infer<typeof schema.tailCall>>;

/**
 * What a handler may return: any JSON value (objects reach the model as they are, everything else as
 * `{content: value}`), bytes, or a full {@link ToolResult}. Dates, maps, cycles and other non-JSON values are
 * turned into JSON by documented rules, never thrown.
 */
export type ToolReturn = unknown;

/** What an agent asks a person for, from inside a tool or a hook. */
export interface ConfirmationRequest {
  /** Shown as the question. */
  hint?: string;
  /** Shown as context; reaches the answer's handler unchanged. */
  payload?: unknown;
  /** Seconds after which it is denied. Default: it waits. */
  expiresIn?: number;
}

/** What a handler wants to know while it runs. */
export interface RunQuestion {
  message: string;
  /** A flat JSON Schema: the form. Absent: yes or no. */
  requestedSchema?: JsonSchema;
  /** Shown as context, and kept with the call in no log. */
  context?: Record<string, unknown>;
}

export interface RunReply {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown>;
}

/** Which credential a tool needs; stored, and shown to the person who is asked. Holds no secret: other members are refused. */
export interface AuthConfig {
  /** Name that it is kept under for this user. Default: the tool's name. */
  key?: string;
  /** `api_key`, `oauth2`, `basic`, … */
  scheme?: string;
  hint?: string;
  scopes?: string[];
  url?: string;
}

/**
 * A working copy of state: reads see session, callback and own writes; writes are committed with the result, also with
 * that of a tool that throws. Of calls side by side that write one key the last to end counts; `exclusive` tools and
 * `annotations.after` give them an order.
 */
export interface StateAccess {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  has(key: string): boolean;
  /** Same as setting null. */
  delete(key: string): void;
  /** Everything that is visible, as an isolated copy. */
  toObject(): Record<string, unknown>;
}

export interface ArtifactAccess {
  save(filename: string, content: { mimeType: string; data: string | Uint8Array }): Promise<number>;
  load(filename: string, version?: number): Promise<{ mimeType: string; data: string; version: number } | undefined>;
  list(): Promise<string[]>;
  /** What `load` would find, without its body; `size` in bytes. Absent: its store does not say it. */
  measure?(
    filename: string,
    version?: number,
  ): Promise<{ mimeType: string; size: number; version: number } | undefined>;
}

/** Which call it is and for whom: what a handler gets, and what else its author says of the call. */
export interface CallInfo<Deps = unknown> {
  /** Id of this call, stable over retries and restarts: the idempotency key. */
  readonly callId: string;
  readonly sessionId: string;
  /**
   * Opaque; a session that is deleted and made again under its id has another one. Absent where it is unknown: keep
   * nothing for the session then. Each handle of an executor other than this package's runtime has its own.
   */
  readonly sessionUid?: string | undefined;
  /** Whose session it is. */
  readonly userId: string;
  /**
   * On whose behalf its turn was begun, as the log keeps it: id, roles, and on whose behalf. The same after a decision
   * and after a restart. Where nobody said: the user.
   */
  readonly principal: Principal;
  /** Agents from the root to the caller. */
  readonly agentPath: readonly string[];
  /** Fires on abort, timeout and when the result is no longer wanted. */
  readonly signal: AbortSignal;
  /** The host's typed dependencies (clients, pools); never logged. */
  readonly deps: Deps;
}

/** What a handler is given besides its arguments, in a host and in an agent. */
export interface ToolCallContext<Deps = unknown> extends CallInfo<Deps> {
  /** The answer to an earlier `requestConfirmation` of this call. */
  readonly confirmation?: { confirmed: boolean; payload?: unknown };
  /** Shows progress to people who watch; not stored. Nothing is shown of a call that has its result. */
  progress(update: ToolUpdate): void;
  /**
   * Asks somebody while the handler runs on, for what cannot be run again: the question is in `pending()`, in approvals
   * and in the log like any other, and is gone with the process. Cancelled where nobody can be asked, when the signal
   * fires, or when the handler has ended, whether it has waited for the answer or not. The tool's time-out continues
   * meanwhile. Absent where no host runs the tool.
   */
  elicit?(question: RunQuestion, signal?: AbortSignal): Promise<RunReply>;
  /** Ends this run of the call with a question; on yes the handler runs again with `confirmation` set. */
  requestConfirmation(request: ConfirmationRequest): void;
}

/** What the handler of an agent's own tool is given besides: what belongs to the agent's session. */
export interface AgentCallContext<Deps = unknown> extends ToolCallContext<Deps> {
  readonly state: StateAccess;
  readonly artifacts: ArtifactAccess;
  /** Ends this run of the call with a question for a credential; once it is given the handler runs again. */
  requestCredential(config: AuthConfig): void;
  /**
   * The credential kept under a key (default: the tool's name); undefined if there is none. Its secret texts are
   * blanked out of what the call comes to, shows and asks; what it writes into state or artifacts is its own affair.
   */
  getAuthResponse(key?: string): Promise<unknown>;
  /** Signals that the agent's work is done; the nearest loop ends. */
  escalate(): void;
  /** The result is the answer: no model call follows if every call of the batch says so. */
  skipSummarization(): void;
  /** Hands the conversation to another agent of the tree. */
  transferTo(agentName: string): void;
  /** Searches the memory of the (app, user); empty without a memory service. */
  searchMemory(query: string): Promise<MemoryEntry[]>;
}

export interface MemoryEntry {
  content: string;
  author: string;
  timestamp: string;
}

/** What a tool is, without what it does. */
interface ToolFacts {
  readonly name: string;
  readonly description: string;
  readonly displayName?: string;
  readonly inputSchema?: SchemaLike;
  /** The older name of `inputSchema`. */
  readonly parametersSchema?: SchemaLike;
  readonly outputSchema?: SchemaLike;
  readonly kind?: ToolKind;
  readonly annotations?: ToolAnnotations;
  readonly _meta?: Record<string, unknown>;
  /** Milliseconds that one run may take; 0: no limit. Default none for runtime tools, 120,000 under a host. */
  readonly timeoutMs?: number;
  /**
   * Its results may ask a host for calls of other tools (`tailCalls`), which pass the gate and run before the result
   * returns. Without it such members of what it returns are not acted upon. Default false.
   */
  readonly makesTailCalls?: boolean;
}

/** What an author says of the calls of a tool beside its handler. */
interface CallAdvice<Args, Deps> {
  /** The author's floor: policy may only tighten it. As a function it is given the arguments and for whom the call is. */
  readonly needsApproval?: boolean | ((args: Args, call: CallInfo<Deps>) => boolean | Promise<boolean>);
  /** What a person sees before saying yes. Must change nothing. */
  preview?(args: Args, call: CallInfo<Deps>): DisplayContent[] | Promise<DisplayContent[]>;
  /** What to do with a call that was started and has no result (a crash): default `ask`. */
  onUnknownOutcome?(
    call: CallInfo<Deps> & { readonly args: Args },
  ): UnknownOutcomeVerdict | Promise<UnknownOutcomeVerdict>;
}

type Handled<Result> = Result | Promise<Result> | AsyncIterable<ToolUpdate, Result>;

/** @typeParam Context what its handler needs to be given */
export interface ToolContract<Args = Record<string, unknown>, Context extends ToolCallContext = ToolCallContext>
  extends ToolFacts,
    CallAdvice<Args, Context['deps']> {
  /** Runs the call. Absent: only a host can run it. Never call it: the gate does. */
  readonly execute?: (args: Args, context: Context) => Handled<ToolReturn>;
}

/** `retry`: run it again; `ask`: a person decides; `{result}`: the tool found out what had happened. */
export type UnknownOutcomeVerdict = 'retry' | 'ask' | { result: ToolReturn };

/** Any tool that a host or an agent can run, whatever its arguments; lists of tools hold these. */
// biome-ignore lint/suspicious/noExplicitAny: argument types of a heterogeneous list cannot be expressed otherwise
export type AnyTool = ToolContract<any, ToolCallContext<any>>;

/** Any tool that an agent can have: also one whose handler needs the agent's session. */
// biome-ignore lint/suspicious/noExplicitAny: argument types of a heterogeneous list cannot be expressed otherwise
export type AnyAgentTool = ToolContract<any, AgentCallContext<any>>;

/**
 * What a handler returns of a tool with the output schema `O`: a value that fits it, or a whole result around one.
 * Without a schema it is {@link ToolReturn}.
 */
export type ResultOf<O> = InputOf<O> | (ToolResult & { structuredContent?: InputOf<O> });

/** A tool as it is written: its handler's arguments are those of `inputSchema`, its return is that of `outputSchema`. */
interface ToolDefinition<Name extends string, S extends SchemaLike, O, Deps, Context>
  extends Omit<ToolFacts, 'name' | 'inputSchema' | 'outputSchema'>,
    CallAdvice<ArgsOf<S>, Deps> {
  readonly name: Name;
  readonly inputSchema: S;
  readonly outputSchema?: O;
  readonly execute: (args: ArgsOf<S>, context: Context) => Handled<ResultOf<O>>;
}

/**
 * Declares a tool that a host or an agent can run; one without a handler, which only a host can run,
 * is written as a plain object. The handler's arguments are inferred from `inputSchema` (of zod,
 * another Standard Schema, or a JSON Schema written in place), and what it returns is held to `outputSchema` where there
 * is one. Dependencies that it needs are named in the first function that takes them: `context: ToolCallContext<Db>`, or
 * `call: CallInfo<Db>` where a `preview` stands before `execute`. What else is in it is checked where it is given to an
 * agent or a host.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 * @example
 * ```ts
 * import { defineTool } from 'coxswain';
 *
 * const refund = defineTool({
 *   name: 'refund',
 *   description: 'Pays an order back.',
 *   inputSchema: { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] },
 *   execute: ({ order }) => `order ${order} is paid back`,
 * });
 * ```
 */
export function defineTool<
  const Name extends string,
  const S extends SchemaLike,
  const O extends SchemaLike | undefined = undefined,
  Deps = unknown,
>(
  tool: ToolDefinition<Name, S, O, Deps, ToolCallContext<Deps>>,
): ToolContract<ArgsOf<S>, ToolCallContext<Deps>> & { readonly name: Name } {
  return declared('defineTool', tool) as ToolContract<ArgsOf<S>, ToolCallContext<Deps>> & { readonly name: Name };
}

/**
 * Declares a tool of an agent: its handler is given what belongs to the agent's session, too (state, artifacts, memory,
 * credentials, signals to the agents around it). A host does not take it. Else as {@link defineTool}.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 * @example
 * ```ts
 * import { defineAgentTool, LlmAgent } from 'coxswain';
 *
 * const remember = defineAgentTool({
 *   name: 'remember',
 *   description: 'Keeps a fact for later turns.',
 *   inputSchema: { type: 'object', properties: { fact: { type: 'string' } }, required: ['fact'] },
 *   execute: ({ fact }, { state }) => {
 *     state.set('fact', fact);
 *     return 'kept';
 *   },
 * });
 * new LlmAgent({ name: 'clerk', tools: [remember] });
 * ```
 */
export function defineAgentTool<
  const Name extends string,
  const S extends SchemaLike,
  const O extends SchemaLike | undefined = undefined,
  Deps = unknown,
>(
  tool: ToolDefinition<Name, S, O, Deps, AgentCallContext<Deps>>,
): ToolContract<ArgsOf<S>, AgentCallContext<Deps>> & { readonly name: Name } {
  return declared('defineAgentTool', tool) as ToolContract<ArgsOf<S>, AgentCallContext<Deps>> & { readonly name: Name };
}

function declared<T extends object>(by: string, tool: T): T {
  const given: unknown = tool;
  if (typeof given === 'object' && given !== null && !isList(given)) return tool;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `bad input: ${by} takes an object, with a name`);
}

function isList(value: object): boolean {
  try {
    return Array.isArray(value);
  } catch {
    // A proxy that was revoked.
    return true;
  }
}

/** A tool as its provider describes it; the gate asks what its author would be asked. */
export type ProvidedTool = ToolDescriptor &
  Pick<AnyTool, 'needsApproval' | 'preview' | 'timeoutMs' | 'onUnknownOutcome'>;

/** A changing set of tools of one origin (a plugin system, an MCP server). */
export interface ToolProvider {
  readonly name: string;
  /** Where its tools come from, as policies see it: third-party servers say `mcp:SERVER`. Default `provider:NAME`. */
  readonly source?: `mcp:${string}`;
  /**
   * Asked whenever a session opens. An object that was given before is taken to be as it was then: a tool that has
   * changed is a new object, and what gives the same ones again costs nothing.
   */
  getToolsForAgent(agent: string): Promise<ProvidedTool[]> | ProvidedTool[];
  execute(
    /** `tool`: the object that it was given for the session, which the call was decided on. */
    call: { callId: string; name: string; args: Record<string, unknown>; tool?: ProvidedTool },
    signal: AbortSignal,
    /** Where the call can show its progress; absent outside a run. */
    context?: ToolCallContext,
  ): Promise<ToolReturn>;
}
