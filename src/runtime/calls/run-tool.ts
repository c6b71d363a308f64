import { unreachable } from '../../base/index.ts';
import type { AnyAgentTool } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { errorResult, isForeign, misfit, runCall } from '../../gate/index.ts';
import type { AgentContext } from '../agent/index.ts';
import type { HookChain, ToolContext } from '../hooks/index.ts';
import type { CallOutcome } from './call-outcome.ts';
import type { ReadyCall } from './ready-call.ts';
import { asksOutside, hooksBehind } from './tool-hooks.ts';

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
  const { engine } = context.invocation;
  const end = await runCall({
    decision,
    tool,
    context: toolContext,
    hooks: hooksBehind(context, toolContext, { descriptor, args: decision.args }, hooks, cancelled),
    firstOnly: descriptor.annotations?.longRunning === true,
    timeoutMs: timeoutOf(context, tool),
    signals: [context.signal, cancelled],
    end: (reason) => toolContext.cancel(reason),
    hasAsked: () => asksOutside(toolContext),
    ...(isForeign(resolved.source)
      ? {}
      : { unfit: (fault) => engine.warn(toolContext.withoutSecrets(misfit(descriptor.name, fault))) }),
  });
  switch (end.kind) {
    case 'result':
      return { result: end.result, hasEnded: true };
    case 'asked':
    case 'begun':
      // What was asked stands in the effects.
      return { result: { content: [] } };
    case 'suspended':
      return undefined;
    case 'aborted':
      if (context.signal.aborted) return undefined;
      return { result: errorResult('interrupted', `interrupted: ${messageOf(cancelled.reason)}`) };
    default:
      return unreachable(end, 'the end of a call');
  }
}

function timeoutOf(context: AgentContext, tool: AnyAgentTool): number | undefined {
  const { toolTimeoutMs } = context.invocation.engine;
  return tool.timeoutMs ?? toolTimeoutMs;
}
