import type { ToolResult } from '../../contracts/index.ts';
import { capResult } from '../../gate/index.ts';
import type { HostOptions } from './options.ts';

/** What a host says of large results; of sub-agents' and foreign executors' alike. */
export type ResultBounds = { readonly [K in 'maxResultBytes' | 'spill']?: HostOptions[K] | undefined };

/**
 * A result as large as a model is given it, whoever made it: the only way in which a host bounds one. The whole is kept
 * by `spill`; without it, it is dropped. Gives a promise only where something is kept.
 */
export function boundedResult(
  { maxResultBytes: maxBytes, spill }: ResultBounds,
  callId: string | undefined,
  result: ToolResult,
): ToolResult | Promise<ToolResult> {
  return capResult(result, { callId, maxBytes, spill });
}
