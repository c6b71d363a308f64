import type { ToolDescriptor, ToolResult, ToolReturn } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { errorResult, normaliseReturn } from '../../gate/index.ts';
import type { AgentContext } from '../agent/index.ts';
import type { HookChain, ToolContext } from '../hooks/index.ts';
import type { ReadyCall } from './ready-call.ts';

/** What a call that failed comes to: what an on_tool_error hook has instead, else the error. */
export async function recoverByHook(
  context: AgentContext,
  toolContext: ToolContext,
  ready: ReadyCall,
  hooks: HookChain,
  error: unknown,
): Promise<ToolResult> {
  const { resolved, decision } = ready;
  const value = await askOnToolError(context, toolContext, resolved.descriptor, decision.args, error, hooks);
  if (value !== undefined) return normaliseReturn(value);
  const timedOut = error instanceof CoxswainError && error.code === 'E_TOOL' && error.status === 'DEADLINE_EXCEEDED';
  return errorResult(timedOut ? 'timeout' : 'failed', messageOf(error));
}

/** What an on_tool_error hook has instead of the error; one that fails itself has nothing. */
export async function askOnToolError(
  context: AgentContext,
  toolContext: ToolContext,
  descriptor: ToolDescriptor,
  args: Record<string, unknown>,
  error: unknown,
  hooks: HookChain,
): Promise<ToolReturn | undefined> {
  try {
    return await hooks.first('onToolError', toolContext, descriptor, args, error);
  } catch (thrown) {
    if (context.signal.aborted) throw thrown;
    context.invocation.engine.warn(`an on_tool_error hook failed on ${descriptor.name}`, thrown);
    return undefined;
  }
}

/** What the after_tool hooks make of a result; one that fails changes nothing. */
export async function afterTool(
  context: AgentContext,
  toolContext: ToolContext,
  ready: ReadyCall,
  hooks: HookChain,
  result: ToolResult,
): Promise<ToolResult> {
  if (!hooks.has('afterTool')) return result;
  try {
    const value = await hooks.first('afterTool', toolContext, ready.resolved.descriptor, ready.decision.args, result);
    return value === undefined ? result : normaliseReturn(value);
  } catch (error) {
    if (context.signal.aborted) throw error;
    context.invocation.engine.warn(`an after_tool hook failed on ${ready.call.name}`, error);
    return result;
  }
}
