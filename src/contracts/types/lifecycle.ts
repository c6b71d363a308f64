import type { z } from 'zod';
import type * as schema from '../schemas/policy.ts';
import type { Closed } from '../values/index.ts';
import { CoxswainError } from '../values/index.ts';
import type { Principal } from './approvals.ts';
import type { Content } from './content.ts';
import type { EditableRequest, ModelRequest, ModelResponse } from './model.ts';
import type { ToolDescriptor, ToolResult, ToolReturn } from './tools.ts';

export type HookResult = Closed<z.infer<typeof schema.hookResult>>;

/** An event of an agent's log as hooks are shown it; what else it has is passed on as it is. */
export interface LoggedEvent {
  readonly id: string;
  readonly turnId: string;
  readonly author: string;
  content?: Content;
}

/** The known hook points with their payloads; the set is open. */
export interface HookPayloads {
  before_agent: { agent: string; context: HookContext };
  after_agent: { agent: string; context: HookContext };
  /** What the hook changes in the request is asked, where it gives no response itself. */
  before_model: { context: HookContext; llmRequest: EditableRequest };
  after_model: { context: HookContext; llmResponse: ModelResponse };
  before_tool: { tool: ToolDescriptor; args: Record<string, unknown>; context: HookContext };
  /** `wasAsked`: a person was asked about this call: whether it runs, or by its handler. */
  after_tool: {
    tool: ToolDescriptor;
    args: Record<string, unknown>;
    context: HookContext;
    result: ToolResult;
    wasAsked?: boolean;
  };
  on_event: { event: LoggedEvent; context: HookContext };
  on_user_message: { userMessage: Content; context: HookContext };
  before_run: { context: HookContext };
  after_run: { context: HookContext };
  on_model_error: { request: ModelRequest; error: unknown; context: HookContext };
  on_tool_error: { tool: ToolDescriptor; args: Record<string, unknown>; error: unknown; context: HookContext };
}

/** It goes on, with `Change` in the place of what there was. */
interface Proceeding<Change> {
  action: 'proceed';
  reason?: string;
  systemMessage?: string;
  modifications?: Change;
}

/** It ends here: as an error, or with a result where one can be given. */
interface Blocking<Result> {
  action: 'block';
  reason?: string;
  systemMessage?: string;
  modifications?: Result;
}

type Nothing = Record<string, never>;
/** Text is short for content of one part. */
type Said = string | Pick<Content, 'parts'>;
type Answered = Said | ModelResponse;
interface Before<Result> {
  result: Result;
}
interface Unasked<Result> extends Before<Result> {
  /** The result stands only where the call would run now without a question; else somebody is asked, and the tool runs. */
  ifAllowed?: boolean;
}
interface Replacing<Value> {
  replacement: Value;
}

/** What a hook may say at each point, besides nothing. */
export interface HookWords {
  before_agent: Proceeding<Nothing> | Blocking<Before<Said>>;
  /** What there is has been said: from here on, a no is told of and changes nothing. */
  after_agent: Proceeding<Replacing<Said>>;
  before_model: Proceeding<Nothing> | Blocking<Before<Answered>>;
  after_model: Proceeding<Replacing<Answered>>;
  before_tool: Proceeding<{ args?: Record<string, unknown> }> | Blocking<Unasked<ToolReturn>>;
  /** The tool has run: it is too late for a no. */
  after_tool: Proceeding<Replacing<ToolReturn>>;
  on_event: Proceeding<Replacing<LoggedEvent>> | Blocking<Nothing>;
  on_user_message: Proceeding<Replacing<Said>> | Blocking<Nothing>;
  before_run: Proceeding<Nothing> | Blocking<Before<Said>>;
  /** Nobody listens to what is said behind a run. */
  after_run: Proceeding<Nothing>;
  on_model_error: Proceeding<Replacing<Answered>>;
  on_tool_error: Proceeding<Replacing<ToolReturn>>;
}

export interface HookContext {
  sessionId: string;
  /** See `CallInfo`; absent before the session's first event. */
  sessionUid?: string | undefined;
  /** Whose session it is. */
  userId: string;
  /** On whose behalf, as tools are told: see `CallInfo`. */
  principal: Principal;
  turnId?: string;
  callId?: string;
  /** Of a call: where its tool comes from: `host`, `agent:<name>`, `mcp:<server>`. */
  toolSource?: string;
  agentPath: readonly string[];
  signal?: AbortSignal;
}

export type HookPoint = keyof HookPayloads;

/**
 * One front door for hooks of any language and origin.
 *
 * `before_*`: `block` with `modifications.result` short-circuits with that value, `block` without ends as an error;
 * `before_tool` changes arguments through `modifications.args` only, and a result with `modifications.ifAllowed: true` does
 * not stand in for a question. `after_*` and `on_*` replace through
 * `modifications.replacement`. Text is short for content of one part. A `before_*` that throws, says neither `proceed`
 * nor `block`, or says nothing in time, fails closed; an `after_*` that does is logged. No other value is a result: that
 * is for the callbacks of an agent and of plugins.
 */
export interface LifecycleInterceptor {
  fire(
    hookPoint: HookPoint | (string & {}),
    payload: unknown,
  ): HookResult | undefined | Promise<HookResult | undefined>;
  /** Hook points that will be acted upon; others are not fired. */
  supportedHookPoints(): readonly string[];
}

// biome-ignore lint/suspicious/noConfusingVoidType: a handler that only looks on returns nothing at all
type HandlerReturn<Word> = Word | undefined | void;

type Handlers = {
  [K in HookPoint as CamelCase<K>]?: (
    payload: HookPayloads[K],
  ) => HandlerReturn<HookWords[K]> | Promise<HandlerReturn<HookWords[K]>>;
};
type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/**
 * Makes hooks of typed handlers: `hooks({ beforeTool(call) { … } })`.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 */
export function hooks(handlers: Handlers): LifecycleInterceptor {
  const byPoint = new Map<string, (payload: never) => unknown>();
  for (const [name, handler] of entriesOf(handlers)) {
    if (handler !== undefined && typeof handler !== 'function') throw bad(`hooks: ${name} is not a function`);
    if (handler)
      byPoint.set(
        name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        handler,
      );
  }
  return {
    // An answer that is there is given at once: a handler may fill the same object for the next call.
    fire(hookPoint, payload) {
      const answer = byPoint.get(hookPoint)?.(payload as never);
      return (answer ?? undefined) as HookResult | undefined | Promise<HookResult | undefined>;
    },
    supportedHookPoints: () => [...byPoint.keys()],
  };
}

function entriesOf(handlers: Handlers): [string, ((payload: never) => unknown) | undefined][] {
  try {
    return Object.entries(handlers);
  } catch (error) {
    throw bad('hooks: give an object of handlers by hook point', error);
  }
}

function bad(what: string, cause?: unknown): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `bad input: ${what}`, { cause });
}
