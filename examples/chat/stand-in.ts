import type { Model } from 'coxswain';

/** Stands in for a model: it looks an order up, asks for the refund, and says what came of it. */
export const standIn: Model = {
  name: 'stand-in',
  async *generate({ contents }) {
    const newest = contents.at(-1)?.parts.at(-1);
    if (newest?.type !== 'function_response') {
      const [order] = /\d+/.exec(newest?.type === 'text' ? newest.text : '') ?? [];
      if (order === undefined) yield* says(['Which order ', 'do you mean? ', 'Try: pay order 7 back.']);
      else yield* says(['I look ', 'it up.'], ['find_order', { order: Number(order) }]);
      return;
    }
    const [, order, eur] = /order (\d+): (\d+) EUR/.exec(JSON.stringify(newest.response)) ?? [];
    if (order !== undefined) yield* says(['I found it.'], ['refund', { order: Number(order), eur: Number(eur) }]);
    else yield* says([newest.isError ? 'Then I leave ' : 'It ', newest.isError ? 'it as it is.' : 'is done.']);
  },
};

/** An answer as a model streams it: pieces of text, then the whole. */
async function* says(pieces: readonly string[], call?: readonly [name: string, args: Record<string, unknown>]) {
  for (const text of pieces)
    yield { partial: true, content: { role: 'model' as const, parts: [{ type: 'text' as const, text }] } };
  const [name, args] = call ?? [];
  const calls = name && args ? [{ type: 'function_call' as const, id: crypto.randomUUID(), name, args }] : [];
  yield {
    content: { role: 'model' as const, parts: [{ type: 'text' as const, text: pieces.join('') }, ...calls] },
    turnComplete: true,
    finishReason: name ? 'tool_calls' : 'stop',
  };
}
