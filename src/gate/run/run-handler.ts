import type {
  AnyTool,
  ProvidedTool,
  ToolCallContext,
  ToolContract,
  ToolProvider,
  ToolUpdate,
} from '../../contracts/index.ts';
import { CoxswainError, copyJson } from '../../contracts/index.ts';
import { Decision } from '../policy/index.ts';

/**
 * Runs a tool's handler. The only place in the program that does.
 *
 * A handler that yields shows its updates through `context.progress`; what it returns is the value. With
 * `firstOnly` (a long-running tool) the first thing that it yields or returns is the value.
 * @throws whatever the handler throws; CoxswainError `PERMISSION_DENIED / E_TOOL` without a genuine decision for
 *   this very call
 */
export function runHandler<Context extends ToolCallContext<never>>(
  decision: Decision,
  // biome-ignore lint/suspicious/noExplicitAny: the arguments are those that the decision is about
  tool: ToolContract<any, Context>,
  context: Context,
  options: { firstOnly?: boolean } = {},
): Promise<unknown> {
  try {
    const returned = called(decision, tool, context);
    return isAsyncIterable(returned) ? drain(returned, context, options.firstOnly ?? false) : Promise.resolve(returned);
  } catch (error) {
    return Promise.reject(error);
  }
}

function called<Context extends ToolCallContext<never>>(
  decision: Decision,
  // biome-ignore lint/suspicious/noExplicitAny: the arguments are those that the decision is about
  tool: ToolContract<any, Context>,
  context: Context,
): unknown {
  if (!Decision.isGenuine(decision) || decision.callId !== context.callId || decision.record.outcome !== 'approved') {
    throw new CoxswainError('PERMISSION_DENIED', 'E_TOOL', `call ${context.callId} has no decision that lets it run`);
  }
  if (!tool.execute) {
    throw new CoxswainError('FAILED_PRECONDITION', 'E_TOOL', `tool ${tool.name} has no handler; its host runs it`);
  }
  // The handler's own: it may change them, and the record of the decision may not change.
  const args = copyJson(decision.args, 'arguments');
  return tool.execute(args, context);
}

async function drain(
  source: AsyncIterable<ToolUpdate, unknown>,
  context: ToolCallContext<never>,
  firstOnly: boolean,
): Promise<unknown> {
  const iterator = source[Symbol.asyncIterator]();
  for (;;) {
    const step = await iterator.next();
    if (step.done) return step.value;
    if (context.signal.aborted || firstOnly) {
      // Not awaited: a generator that ignores the signal must not hold up the abort.
      void Promise.resolve(iterator.return?.()).catch(() => {});
      if (firstOnly) return step.value;
      throw context.signal.reason;
    }
    context.progress(step.value);
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<ToolUpdate, unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** A provider's tool as one that runs here, under the same gate. */
export function providedTool(provider: ToolProvider, descriptor: ProvidedTool): AnyTool {
  const { name } = descriptor;
  return {
    ...descriptor,
    execute: (args: Record<string, unknown>, context: ToolCallContext) =>
      provider.execute({ callId: context.callId, name, args, tool: descriptor }, context.signal, context),
  } as AnyTool;
}
