import type { Content, Model } from 'coxswain';

/** Answers where no key is set: asks to save the message as a note, and then reports the result of the call. */
export function offlineModel(): Model {
  return {
    name: 'offline',
    async *generate({ contents }) {
      const last = contents.at(-1)?.parts ?? [];
      const result = last.find((part) => part.type === 'function_response');
      const text = last.flatMap((part) => (part.type === 'text' ? part.text : [])).join('');
      const content: Content = {
        role: 'model',
        parts: [
          result
            ? { type: 'text', text: `The call of save_note returned ${JSON.stringify(result.response)}.` }
            : { type: 'function_call', id: crypto.randomUUID(), name: 'save_note', args: { text } },
        ],
      };
      yield { content, finishReason: result ? 'stop' : 'tool_calls', turnComplete: true, model: 'offline' };
    },
  };
}
