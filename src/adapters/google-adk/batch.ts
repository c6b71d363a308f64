import type { DispatchContext } from '../../dispatch/index.ts';
import type { AdkCall, CallOptions } from './call.ts';
import { mergeActions, runThroughGate } from './call.ts';
import type { AdkPart, AdkTool, AdkToolContext } from './types.ts';

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
  /** How many calls of a batch, by its first one, were each an answer by themselves. */
  readonly #answers = new Map<string, number>();

  constructor(ctx: DispatchContext, options: CallOptions) {
    this.#ctx = ctx;
    this.#options = options;
  }

  async run(call: AdkCall, toolOf: (name: string) => AdkTool | undefined): Promise<Record<string, unknown>> {
    const batch = batchOf(call.context);
    const result = await this.#result(call, batch.behind, toolOf);
    this.#endOnlyTogether(call.context, batch);
    return result;
  }

  async #result(
    call: AdkCall,
    behind: Batch['behind'],
    toolOf: (name: string) => AdkTool | undefined,
  ): Promise<Record<string, unknown>> {
    const { functionCallId = '', invocationContext } = call.context;
    const ahead = this.#ahead.get(functionCallId);
    if (ahead) {
      this.#ahead.delete(functionCallId);
      const result = await ahead.result;
      mergeActions(call.context, ahead.context);
      return result;
    }
    const own = runThroughGate(this.#ctx, call, this.#options);
    for (const { id, name = '', args = {} } of behind) {
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

  /**
   * A call that is an answer by itself ends the turn where every call of the batch is one: the model reads the results
   * of the others. The package would go by the last one that says anything.
   */
  #endOnlyTogether({ actions }: AdkToolContext, { first, size, behind }: Batch): void {
    if (!actions.skipSummarization || actions.escalate || size < 2) return;
    const answers = (this.#answers.get(first) ?? 0) + 1;
    this.#answers.set(first, answers);
    if (behind.length > 0 || answers < size) delete actions.skipSummarization;
  }
}

interface Batch {
  /** Id of the first call of the answer. */
  first: string;
  size: number;
  /** The calls behind this one in the same answer. */
  behind: readonly NonNullable<AdkPart['functionCall']>[];
}

function batchOf({ functionCallId, invocationContext }: AdkToolContext): Batch {
  for (const { content } of functionCallId ? invocationContext.session.events.toReversed() : []) {
    const calls = (content?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? []);
    const at = calls.findIndex(({ id }) => id === functionCallId);
    if (at >= 0) return { first: calls[0]?.id ?? '', size: calls.length, behind: calls.slice(at + 1) };
  }
  return { first: '', size: 1, behind: [] };
}
