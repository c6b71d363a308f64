import type { BetaCompact20260112Edit } from '@anthropic-ai/sdk/resources/beta/messages';
import type { ContentBlockParam, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { TokenCounts } from '../content/index.ts';
import { countsOf } from '../content/index.ts';

/** Under which the API compacts by itself. */
export const COMPACTION_BETA = 'compact-2026-01-12';

/** Asks the provider to sum up what is older, once a request has so many tokens. */
export function compactionEdits(tokens: number): { edits: BetaCompact20260112Edit[] } {
  return { edits: [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value: tokens } }] };
}

/** One that holds no summary has failed, and stands for nothing. */
export function isCompaction(block: object): boolean {
  const { type, content } = block as { type?: unknown; content?: unknown };
  return type === 'compaction' && typeof content === 'string';
}

export function hasCompaction(messages: readonly MessageParam[]): boolean {
  return messages.some(
    ({ content }) => Array.isArray(content) && content.some(({ type }) => `${type}` === 'compaction'),
  );
}

/** What the provider reads: it leaves out whatever is before its newest summary, which so need not be sent. */
export function messagesSinceCompaction(messages: MessageParam[]): MessageParam[] {
  const at = messages.findLastIndex(({ content }) => Array.isArray(content) && content.some(isCompaction));
  const message = messages[at];
  if (message?.role !== 'assistant' || !Array.isArray(message.content)) return messages;
  const content = message.content.slice(message.content.findLastIndex(isCompaction));
  const kept: MessageParam[] = [{ ...message, content }, ...messages.slice(at + 1)];
  const calls = new Set<string>();
  for (const block of blocksOf(kept)) {
    if (block.type === 'tool_use') calls.add(block.id);
    // Its call would be missing: the provider finds its way.
    else if (block.type === 'tool_result' && !calls.has(block.tool_use_id)) return messages;
  }
  return kept;
}

function blocksOf(messages: readonly MessageParam[]): ContentBlockParam[] {
  return messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
}

/** What the summaries of one answer have cost, which its own counts leave out, and how long its last request was. */
export interface Passes {
  spent: TokenCounts[];
  context?: number;
}

/** Of `usage.iterations`. Undefined: nothing was summed up. */
export function passesIn(iterations: unknown): Passes | undefined {
  if (!Array.isArray(iterations)) return undefined;
  const all = iterations as Readonly<Record<string, unknown>>[];
  const spent = all.filter((each) => each?.type === 'compaction').map(countsOfPass);
  if (spent.length === 0) return undefined;
  const last = all.findLast((each) => each?.type === 'message');
  if (!last) return { spent };
  const { inputTokens = 0, cachedReadTokens = 0, cacheWriteTokens = 0, outputTokens = 0 } = countsOfPass(last);
  return { spent, context: inputTokens + cachedReadTokens + cacheWriteTokens + outputTokens };
}

function countsOfPass(pass: Readonly<Record<string, unknown>>): TokenCounts {
  return countsOf({
    inputTokens: pass.input_tokens,
    outputTokens: pass.output_tokens,
    cachedReadTokens: pass.cache_read_input_tokens,
    cacheWriteTokens: pass.cache_creation_input_tokens,
    thoughtTokens: undefined,
  });
}
