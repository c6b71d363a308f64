/** How a model's answer ended. */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'refusal' | 'safety';

const ends: ReadonlyMap<string, FinishReason> = new Map([
  ...words('stop', 'stop', 'end_turn', 'stop_sequence', 'eos', 'eos_token', 'end', 'complete', 'completed', 'done'),
  ...words('tool_calls', 'tool_calls', 'tool_call', 'function_call', 'tool_use'),
  ...words('refusal', 'refusal'),
  ...words('safety', 'safety', 'content_filter', 'recitation', 'language', 'blocklist', 'prohibited_content', 'spii'),
  ...words('safety', 'image_safety', 'image_prohibited_content', 'image_recitation', 'model_armor'),
]);

function words(reason: FinishReason, ...known: string[]): [string, FinishReason][] {
  return known.map((word) => [word, reason]);
}

/** Cut at a limit of tokens. Compatible servers have several words for it, and no call of a cut answer runs. */
const cut = /length|max_?(output_?|completion_?)?tokens|context_window/i;

/**
 * What a word for the end of an answer means, in whichever case. Undefined: it is not known to be an end, so that
 * nothing of the answer may be acted upon.
 */
export function finishReasonOf(word: string): FinishReason | undefined {
  return ends.get(word) ?? ends.get(word.toLowerCase()) ?? (cut.test(word) ? 'length' : undefined);
}

const passing = /overload|busy|resource|unavailable|network|time_?out|abort|cancel|error|interrupt|malformed|pause/i;

/** An answer that did not come to a known end: its word, and whether the same request may come to one later. */
export function unknownEnd(word: string): { code: string; message: string; retryable: boolean } {
  const message = `the answer ended with ${JSON.stringify(word)}, which is no known end; nothing of it is acted upon`;
  return { code: word, message, retryable: passing.test(word) };
}

/** It was cut at the model's output limit. */
export function isTruncated({ finishReason }: { finishReason?: string }): boolean {
  return finishReason !== undefined && finishReasonOf(finishReason) === 'length';
}
