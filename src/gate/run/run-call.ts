import { unreachable } from '../../base/index.ts';
import type { ToolCallContext, ToolContract, ToolResult } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import type { Decision } from '../policy/index.ts';
import { errorResult, normaliseReturn } from '../result/index.ts';
import type { RunBounds } from './run-within.ts';
import { runWithin } from './run-within.ts';
import type { UnfitReturn } from './unfit-return.ts';
import { unfitReturn } from './unfit-return.ts';

/** The hooks behind a handler, in the words of whoever has them. One that fails changes nothing. */
export interface HooksBehind {
  /** What there is instead of an error; undefined: nothing. */
  instead(error: unknown): Promise<unknown>;
  /** What a result becomes; undefined, itself or in the end: it stays. */
  after(result: ToolResult): Promise<unknown> | undefined;
  /** Told of one that failed; throws where nothing is to be said of the call any more. */
  failed(point: 'on_tool_error' | 'after_tool', error: unknown): void;
  /** Waits for what a hook makes of a result, for as long as somebody wants it; else the result is as it was. */
  whileWanted?(work: Promise<ToolResult>, asIs: ToolResult): Promise<ToolResult>;
}

export interface CallRun<Context extends ToolCallContext<never>> extends RunBounds {
  readonly decision: Decision;
  // biome-ignore lint/suspicious/noExplicitAny: the arguments are those that the decision is about
  readonly tool: ToolContract<any, Context>;
  readonly context: Context;
  readonly hooks: HooksBehind;
  /** The handler has asked for something by its context: its run is over, its call is not. */
  hasAsked(): boolean;
  /** Told why what the handler returned does not fit its tool's output schema. Absent: nobody has promised anything. */
  unfit?(fault: string): void;
  /** Told when the handler has ended by itself: what it came to is a result, whoever still waits for it. */
  ended?(): void;
  /** What a handler throws whose call stays open, for it waits for somebody. */
  suspends?(error: unknown): boolean;
}

/** What one run of a call came to. */
export type CallEnd =
  | { readonly kind: 'result'; readonly result: ToolResult }
  /** Its handler has ended with a question of its own. */
  | { readonly kind: 'asked' }
  /** A long-running tool has begun, and has nothing to say yet. */
  | { readonly kind: 'begun' }
  /** Its handler waits for somebody: its call stays open. */
  | { readonly kind: 'suspended' }
  /** Nobody waits for it any more. */
  | { readonly kind: 'aborted'; readonly error: unknown };

/**
 * Runs a call from its decision to its result: the handler within its bounds, the hooks behind it, what it returned as a
 * result. How large that may be and what is stored of it is for whoever runs it.
 */
export async function runCall<Context extends ToolCallContext<never>>(run: CallRun<Context>): Promise<CallEnd> {
  const { hooks } = run;
  const end = await runWithin(run.decision, run.tool, run.context, run);
  if ((end.kind === 'threw' || end.kind === 'aborted') && run.suspends?.(end.error)) return { kind: 'suspended' };
  switch (end.kind) {
    case 'begun':
      return run.hasAsked() ? { kind: 'asked' } : end;
    case 'value': {
      if (run.hasAsked()) return { kind: 'asked' };
      run.ended?.();
      // Each promise costs as much as a check: none is made where nothing is waited for.
      const checking = promised(run, end.value);
      const asking = resultAfter(checking instanceof Promise ? await checking : checking, hooks);
      return { kind: 'result', result: asking instanceof Promise ? await asking : asking };
    }
    case 'aborted':
      return end;
    case 'late':
    case 'threw':
      run.ended?.();
      return { kind: 'result', result: await resultAfter(await resultInstead(end.error, hooks), hooks) };
    default:
      return unreachable(end, 'the end of a handler');
  }
}

/** What the handler returned, or why it is not what its tool promises. */
function promised<Context extends ToolCallContext<never>>(
  { tool, firstOnly, unfit }: CallRun<Context>,
  value: unknown,
): ToolResult | Promise<ToolResult> {
  // The first word of a long-running one is no result yet.
  const checking = firstOnly || !unfit ? undefined : unfitReturn(tool, value);
  const held = (unfitting: UnfitReturn | undefined) => {
    if (!unfitting) return normaliseReturn(value);
    unfit?.(unfitting.fault);
    return unfitting.result;
  };
  return checking instanceof Promise ? checking.then(held) : held(checking);
}

/** What a call comes to that failed: what a hook has instead, else the error. */
export function resultInstead(error: unknown, hooks: HooksBehind): Promise<ToolResult> {
  return wanted(instead(error, hooks), errorResult('failed', messageOf(error)), hooks);
}

/** What hooks make of a result. */
export function resultAfter(result: ToolResult, hooks: HooksBehind): ToolResult | Promise<ToolResult> {
  const asked = hooks.after(result);
  return asked ? wanted(after(asked, result, hooks), result, hooks) : result;
}

/** It was too slow, and what it has done by then is not known. */
export function isTooLate(error: unknown): boolean {
  return error instanceof CoxswainError && error.code === 'E_TOOL' && error.status === 'DEADLINE_EXCEEDED';
}

/** What a hook has instead of an error; undefined where it has nothing, or fails. */
export async function valueInstead(error: unknown, hooks: Pick<HooksBehind, 'instead' | 'failed'>): Promise<unknown> {
  try {
    return await hooks.instead(error);
  } catch (thrown) {
    hooks.failed('on_tool_error', thrown);
    return undefined;
  }
}

async function instead(error: unknown, hooks: HooksBehind): Promise<ToolResult> {
  const value = await valueInstead(error, hooks);
  if (value !== undefined) return normaliseReturn(value);
  return errorResult(isTooLate(error) ? 'timeout' : 'failed', messageOf(error));
}

async function after(asked: Promise<unknown>, result: ToolResult, hooks: HooksBehind): Promise<ToolResult> {
  try {
    const value = await asked;
    return value === undefined ? result : normaliseReturn(value);
  } catch (error) {
    hooks.failed('after_tool', error);
    return result;
  }
}

function wanted(work: Promise<ToolResult>, asIs: ToolResult, hooks: HooksBehind): Promise<ToolResult> {
  return hooks.whileWanted ? hooks.whileWanted(work, asIs) : work;
}
