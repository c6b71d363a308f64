import { unreachable } from '../../base/index.ts';
import type { AnyAgentTool, ToolResult } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { errorResult, normaliseReturn, runWithin } from '../../gate/index.ts';
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
  const end = await runWithin(decision, tool, toolContext, {
    firstOnly: longRunning,
    timeoutMs: timeoutOf(context, tool),
    signals: [context.signal, cancelled],
    end: (reason) => toolContext.cancel(reason),
  });
  switch (end.kind) {
    case 'begun':
      if (!asksOutside(toolContext)) return { result: { content: [] } };
      result = normaliseReturn(undefined);
      break;
    case 'value':
      result = normaliseReturn(end.value);
      break;
    case 'aborted':
      if (context.signal.aborted) return undefined;
      return { result: errorResult('interrupted', `interrupted: ${messageOf(cancelled.reason)}`) };
    case 'late':
    case 'threw': {
      const asIs = errorResult('failed', messageOf(end.error));
      const recovery = recoverByHook(context, toolContext, ready, hooks, end.error);
      result = await unlessCancelled(context, cancelled, recovery, asIs);
      break;
    }
    default:
      return unreachable(end, 'the end of a handler');
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

function timeoutOf(context: AgentContext, tool: AnyAgentTool): number | undefined {
  const { toolTimeoutMs } = context.invocation.engine;
  return tool.timeoutMs ?? toolTimeoutMs;
}

function asksOutside({ effects }: ToolContext): boolean {
  return effects.confirmation !== undefined || effects.credential !== undefined;
}
