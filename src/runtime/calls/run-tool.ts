import { isTimed } from '../../base/index.ts';
import type { AnyTool, ToolResult } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { errorResult, normaliseReturn, runHandler } from '../../gate/index.ts';
import type { AgentContext } from '../agent/index.ts';
import { orAbort } from '../agent/index.ts';
import type { HookChain, ToolContext } from '../hooks/index.ts';
import type { CallOutcome } from './call-outcome.ts';
import type { ReadyCall } from './ready-call.ts';
import { afterTool, recoverByHook } from './tool-hooks.ts';

/**
 * Runs a tool's handler, within its time, and the hooks behind it. Undefined: the run was aborted, and nothing is said
 * of the call.
 * @param cancelled somebody ends this one call
 */
export async function runTool(
  context: AgentContext,
  toolContext: ToolContext,
  ready: ReadyCall,
  hooks: HookChain,
  cancelled: AbortSignal,
): Promise<CallOutcome | undefined> {
  const { resolved, decision } = ready;
  const { descriptor, tool } = resolved;
  if (!tool) throw new CoxswainError('INTERNAL', 'E_INTERNAL', `${descriptor.name} has no handler`);
  const longRunning = descriptor.annotations?.longRunning === true;
  let result: ToolResult;
  try {
    const work = runHandler(decision, tool, toolContext, { firstOnly: longRunning });
    const value = await orAbort(
      cancelled,
      orAbort(context.signal, withTimeout(work, timeoutOf(context, tool), toolContext)),
    );
    const isWordless = value === undefined || value === null;
    if (longRunning && isWordless && !asksOutside(toolContext)) return { result: { content: [] } };
    result = normaliseReturn(value);
  } catch (error) {
    if (context.signal.aborted) return undefined;
    if (cancelled.aborted) return { result: errorResult('interrupted', `interrupted: ${messageOf(cancelled.reason)}`) };
    const asIs = errorResult('failed', messageOf(error));
    result = await unlessCancelled(context, cancelled, recoverByHook(context, toolContext, ready, hooks, error), asIs);
  }
  if (asksOutside(toolContext)) return { result };
  toolContext.ended();
  if (!hooks.has('afterTool')) return { result };
  const after = afterTool(context, toolContext, ready, hooks, result);
  return { result: await unlessCancelled(context, cancelled, after, result) };
}

/** What hooks make of a result, or the result as it is where somebody ends the call meanwhile: it has run. */
async function unlessCancelled(
  context: AgentContext,
  cancelled: AbortSignal,
  work: Promise<ToolResult>,
  asIs: ToolResult,
): Promise<ToolResult> {
  try {
    return await orAbort(cancelled, work);
  } catch (error) {
    if (cancelled.aborted && !context.signal.aborted) return asIs;
    throw error;
  }
}

function timeoutOf(context: AgentContext, tool: AnyTool): number | undefined {
  const { toolTimeoutMs } = context.invocation.engine;
  return tool.timeoutMs ?? toolTimeoutMs;
}

function withTimeout<T>(work: Promise<T>, timeoutMs: number | undefined, toolContext: ToolContext): Promise<T> {
  return timeoutMs === undefined || !isTimed(timeoutMs) ? work : timed(work, timeoutMs, toolContext);
}

async function timed<T>(work: Promise<T>, timeoutMs: number, toolContext: ToolContext): Promise<T> {
  const controller = new AbortController();
  const error = new CoxswainError(
    'DEADLINE_EXCEEDED',
    'E_TOOL',
    `no result within ${timeoutMs} ms; its effects are unknown`,
  );
  const timer = setTimeout(() => {
    toolContext.cancel(error);
    controller.abort(error);
  }, timeoutMs);
  try {
    return await orAbort(controller.signal, work);
  } finally {
    clearTimeout(timer);
  }
}

function asksOutside({ effects }: ToolContext): boolean {
  return effects.confirmation !== undefined || effects.credential !== undefined;
}
