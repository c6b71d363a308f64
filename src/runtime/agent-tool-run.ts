import type { JsonSchema } from '../contracts/index.ts';
import { CoxswainError } from '../contracts/index.ts';
import { normaliseReturn } from '../gate/index.ts';
import type { CallOutcome } from './call-outcome.ts';
import type { ToolContext } from './callback-context.ts';
import type { AgentContext } from './context.ts';
import { inheritedModel } from './model-choice.ts';
import { outputValue } from './output.ts';
import type { HookChain } from './plugin.ts';
import type { ReadyCall } from './ready-call.ts';
import { storedDelta } from './state.ts';
import type { TelemetrySpan } from './telemetry.ts';
import { afterTool, recover } from './tool-hooks.ts';

/** An agent run as a tool: suspended, its call stays open; else its last words are the result. */
export async function runAgentTool(
  context: AgentContext,
  toolContext: ToolContext,
  ready: ReadyCall,
  hooks: HookChain,
  span: TelemetrySpan | undefined,
): Promise<CallOutcome | undefined> {
  const { call, resolved, decision } = ready;
  const { agentTree } = resolved;
  if (!agentTree) return undefined;
  const { invocation } = context;
  const path = `${context.path}/${call.id}`;
  if (!invocation.fold.activation(path).input) {
    await invocation.emit(
      context.event({
        path,
        author: 'user',
        iso: path,
        content: { role: 'user', parts: [{ type: 'text', text: agentInput(decision.args) }] },
        actions: { decisions: { [call.id]: decision.record } },
      }),
    );
  }
  const outcome = await context.run(agentTree.root, {
    key: call.id,
    isolated: agentTree,
    model: inheritedModel(context),
    span,
  });
  if (outcome.kind === 'suspended') return undefined;
  if (outcome.kind === 'failed') {
    const { fatal, message } = outcome.failure;
    const text = fatal ? `agent ${agentTree.root.name} failed: ${message}` : message;
    const result = await recover(context, toolContext, ready, hooks, new CoxswainError('INTERNAL', 'E_TOOL', text));
    return { result: await afterTool(context, toolContext, ready, hooks, result) };
  }
  const stateDelta = storedDelta(invocation.fold.isolated.get(path) ?? {});
  const text = invocation.fold.isolatedText.get(path) ?? '';
  const { outputSchema } = agentTree.root as { outputSchema?: JsonSchema };
  const value = outputValue(outputSchema, text);
  const result = normaliseReturn(value === text ? { result: text } : value);
  return {
    result: await afterTool(context, toolContext, ready, hooks, result),
    actions: Object.keys(stateDelta).length > 0 ? { stateDelta } : {},
  };
}

/** `request` if that is all there is, else the arguments as JSON. */
function agentInput(args: Record<string, unknown>): string {
  const names = Object.keys(args);
  return names.length === 1 && typeof args.request === 'string' ? args.request : JSON.stringify(args);
}
