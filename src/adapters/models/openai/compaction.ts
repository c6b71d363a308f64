import type { ResponseCreateParams, ResponseInputItem } from 'openai/resources/responses/responses';

/** Asks the provider to sum up what is older, once a request has so many tokens. */
export function compactionEntries(tokens: number): ResponseCreateParams.ContextManagement[] {
  return [{ type: 'compaction', compact_threshold: tokens }];
}

/** What the provider reads: its newest summary stands for whatever is before it, which so need not be sent. */
export function itemsSinceCompaction(items: ResponseInputItem[]): ResponseInputItem[] {
  const at = items.findLastIndex(({ type }) => type === 'compaction');
  if (at < 1) return items;
  const kept = items.slice(at);
  const calls = new Set<string>();
  for (const item of kept) {
    if (item.type === 'function_call' && item.call_id) calls.add(item.call_id);
    // Its call would be missing: the provider finds its way.
    else if (item.type === 'function_call_output' && !calls.has(`${item.call_id}`)) return items;
  }
  return kept;
}
