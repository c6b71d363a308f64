import type { z } from 'zod';
import type * as schema from '../schemas/policy.ts';
import type { Closed } from '../values/index.ts';
import { CoxswainError } from '../values/index.ts';
import type { Principal } from './approvals.ts';
import type { Content } from './content.ts';
import type { ToolDescriptor } from './tools.ts';

export type HookResult = Closed<z.infer<typeof schema.hookResult>>;

/** The known hook points with their payloads; the set is open. */
export interface HookPayloads {
  before_agent: { agent: string; context: HookContext };
  after_agent: { agent: string; context: HookContext };
  before_model: { context: HookContext; llmRequest: unknown };
  after_model: { context: HookContext; llmResponse: unknown };
  before_tool: { tool: ToolDescriptor; args: Record<string, unknown>; context: HookContext };
  after_tool: { tool: ToolDescriptor; args: Record<string, unknown>; context: HookContext; result: unknown };
  on_event: { event: unknown; context: HookContext };
  on_user_message: { userMessage: Content; context: HookContext };
  before_run: { context: HookContext };
  after_run: { context: HookContext };
  on_model_error: { request: unknown; error: unknown; context: HookContext };
  on_tool_error: { tool: ToolDescriptor; args: Record<string, unknown>; error: unknown; context: HookContext };
}

export interface HookContext {
  sessionId: string;
  /** Whose session it is. */
  userId: string;
  /** On whose behalf, as tools are told: see `CallInfo`. */
  principal: Principal;
  turnId?: string;
  callId?: string;
  agentPath: readonly string[];
  signal?: AbortSignal;
}

export type HookPoint = keyof HookPayloads;

/**
 * One front door for hooks of any language and origin.
 *
 * `before_*`: `block` with `modifications.result` short-circuits with that value, `block` without ends as an error;
 * `before_tool` changes arguments through `modifications.args` only. `after_*` and `on_*` replace through
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
type HandlerReturn = HookResult | undefined | void;

type Handlers = {
  [K in HookPoint as CamelCase<K>]?: (payload: HookPayloads[K]) => HandlerReturn | Promise<HandlerReturn>;
};
type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/**
 * Builds an interceptor from typed handlers: `hooks({ beforeTool(call) { … } })`.
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
    async fire(hookPoint, payload) {
      const result = await byPoint.get(hookPoint)?.(payload as never);
      return (result ?? undefined) as HookResult | undefined;
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
