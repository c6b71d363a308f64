import type { DispatchContext } from '../../dispatch/index.ts';
import type { AdkCall, CallOptions } from './call.ts';
import { mergeActions, runThroughGate } from './call.ts';
import type { AdkTool, AdkToolContext } from './types.ts';

interface Ahead {
  context: AdkToolContext;
  result: Promise<Record<string, unknown>>;
}

/**
 * The calls of one answer of a model are asked about together and run side by side, as the host schedules them. The
 * package takes them one after the other: the first starts the others, too.
 */
export class Batches {
  readonly #ctx: DispatchContext;
  readonly #options: CallOptions;
  readonly #ahead = new Map<string, Ahead>();

  constructor(ctx: DispatchContext, options: CallOptions) {
    this.#ctx = ctx;
    this.#options = options;
  }

  async run(call: AdkCall, toolOf: (name: string) => AdkTool | undefined): Promise<Record<string, unknown>> {
    const { functionCallId = '', invocationContext } = call.context;
    const ahead = this.#ahead.get(functionCallId);
    if (ahead) {
      this.#ahead.delete(functionCallId);
      const result = await ahead.result;
      mergeActions(call.context, ahead.context);
      return result;
    }
    const own = runThroughGate(this.#ctx, call, this.#options);
    for (const { id, name = '', args = {} } of siblingsOf(call.context)) {
      const tool = toolOf(name);
      if (!id || !tool || this.#ahead.has(id)) continue;
      const context = new this.#options.adk.Context({ invocationContext, functionCallId: id } as never);
      const result = runThroughGate(this.#ctx, { tool, args, context }, this.#options);
      // Told when its turn comes; after an abort that is never.
      result.catch(() => {});
      this.#ahead.set(id, { context, result });
    }
    return own;
  }
}

/** The calls behind this one in the same answer. */
function siblingsOf({ functionCallId, invocationContext }: AdkToolContext) {
  if (!functionCallId) return [];
  for (const { content } of invocationContext.session.events.toReversed()) {
    const calls = (content?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? []);
    const at = calls.findIndex(({ id }) => id === functionCallId);
    if (at >= 0) return calls.slice(at + 1);
  }
  return [];
}
