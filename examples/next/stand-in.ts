import { setTimeout as pause } from 'node:timers/promises';
import type { Model } from 'coxswain';

const help =
  'I look orders up and pay them back. Write: pay order 7 back. I ask before I pay, and I show what would be paid, for which order. ' +
  'You may approve that, change it, or deny it. A refund of 100 EUR and more waits for a supervisor; order 8 is such a one.';

/** Stands in for a model: it looks an order up, asks for the refund, and says what came of it. */
export const standIn: Model = {
  name: 'stand-in',
  async *generate({ contents }) {
    const newest = contents.at(-1)?.parts.at(-1);
    if (newest?.type !== 'function_response') {
      const [order] = /\d+/.exec(newest?.type === 'text' ? newest.text : '') ?? [];
      if (order === undefined) yield* says(help);
      else yield* says('I look it up.', ['find_order', { order: Number(order) }]);
      return;
    }
    const [, order, eur] = /order (\d+): (\d+) EUR/.exec(JSON.stringify(newest.response)) ?? [];
    if (order !== undefined) yield* says('I found it.', ['refund', { order: Number(order), eur: Number(eur) }]);
    else yield* says(newest.isError ? 'Then I leave it as it is.' : 'It is done.');
  },
};

/** An answer as a model streams it: word by word, then the whole. */
async function* says(text: string, call?: readonly [name: string, args: Record<string, unknown>]) {
  for (const word of text.match(/\S+\s*/g) ?? []) {
    await pause(50);
    yield { partial: true, content: { role: 'model' as const, parts: [{ type: 'text' as const, text: word }] } };
  }
  const [name, args] = call ?? [];
  const calls = name && args ? [{ type: 'function_call' as const, id: crypto.randomUUID(), name, args }] : [];
  yield {
    content: { role: 'model' as const, parts: [{ type: 'text' as const, text }, ...calls] },
    turnComplete: true,
    finishReason: name ? 'tool_calls' : 'stop',
  };
}
