import { setTimeout as wait } from 'node:timers/promises';
import type { Content, ContentPart, Model, ModelRequest, ModelResponse, Usage } from 'coxswain';
import type { Move } from './offline/next-move.ts';
import { nextMove } from './offline/next-move.ts';

export interface OfflineModelOptions {
  /** Milliseconds between words when streaming; default 0, no wait at all. */
  delayMs?: number;
}

/** Milliseconds that the waits of one answer add up to at most, and one of them at least. */
const MAX_DELAY_MS = 3000;
const NAME = 'offline-rules';

/**
 * A stand-in for a language model that needs no network and no key. It understands the requests that
 * `offline/rules.ts` lists and says so when it is asked for anything else. The same history always gets the same
 * answer.
 */
export function offlineModel({ delayMs = 0 }: OfflineModelOptions = {}): Model {
  return {
    name: NAME,
    async *generate(request, { stream, signal }) {
      signal.throwIfAborted();
      const final = finalResponse(request, nextMove(request));
      const [part] = final.content?.parts ?? [];
      if (stream && part?.type === 'text') {
        const words = part.text.match(/\s*\S+(?:\s+$)?|^\s+$/g) ?? [];
        // A long text comes in larger steps, not for minutes.
        const step = Math.ceil((words.length * delayMs) / MAX_DELAY_MS) || 1;
        for (const [index, word] of words.entries()) {
          if (delayMs > 0 && index % step === 0) await wait(delayMs, undefined, { signal });
          signal.throwIfAborted();
          yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: word }] } };
        }
      }
      signal.throwIfAborted();
      yield final;
    },
  };
}

function finalResponse(request: ModelRequest, move: Move): ModelResponse {
  const parts: ContentPart[] =
    'calls' in move
      ? move.calls.map((call, index) => ({ type: 'function_call', id: `offline-${index + 1}`, ...call }))
      : [{ type: 'text', text: move.text }];
  const content: Content = { role: 'model', parts };
  return {
    content,
    finishReason: 'calls' in move ? 'tool_calls' : 'stop',
    turnComplete: true,
    model: NAME,
    usage: usageOf(request, content),
  };
}

/** Words, as a rough stand-in for tokens. */
function usageOf({ systemInstruction, contents }: ModelRequest, answer: Content): Usage {
  const asked = contents.reduce((sum, content) => sum + wordsIn(content), countWords(systemInstruction));
  return { inputTokens: asked, outputTokens: wordsIn(answer) };
}

function wordsIn({ parts }: Content): number {
  return parts.reduce((sum, part) => sum + countWords(part.type === 'text' ? part.text : JSON.stringify(part)), 0);
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}
