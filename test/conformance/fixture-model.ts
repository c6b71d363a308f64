import { setTimeout } from 'node:timers/promises';
import type { FixtureEntry } from '../../src/conformance/index.ts';
import { answerFixture } from '../../src/conformance/index.ts';
import type { Content, ContentPart } from '../../src/contracts/index.ts';
import { textOfParts } from '../../src/contracts/index.ts';
import type { Model, ModelResponse } from '../../src/runtime/index.ts';

/** A model that does what fixture messages say. */
export function fixtureModel(): Model {
  return {
    name: 'fixture',
    async *generate(request, { stream, signal }): AsyncGenerator<ModelResponse> {
      const step = answerFixture(request.contents.flatMap(entriesOf));
      if (step.fail !== undefined) throw new Error(step.fail);
      if (step.wait) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      if (step.waitMs !== undefined) await after(step.waitMs, signal);
      const parts: ContentPart[] = [];
      if (step.thought) parts.push({ type: 'thought', thought: step.thought });
      if (step.text) parts.push({ type: 'text', text: step.text });
      if (stream && step.thought) yield partial({ type: 'thought', thought: step.thought });
      if (stream) for (const text of step.text?.match(/\S+\s*/g) ?? []) yield partial({ type: 'text', text });
      const { ask } = step;
      if (ask) parts.push({ type: 'function_call', id: '', name: 'ask_person', args: ask });
      for (const { name, args } of step.calls ?? []) parts.push({ type: 'function_call', id: '', name, args });
      yield { content: { role: 'model', parts }, finishReason: 'stop', ...(step.usage ? { usage: step.usage } : {}) };
    },
  };
}

/** Resolves after a time, or rejects at an abort. */
export const after = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal });

const partial = (part: ContentPart): ModelResponse => ({ partial: true, content: { role: 'model', parts: [part] } });

function entriesOf({ role, parts }: Content): FixtureEntry[] {
  const results = parts.filter((part) => part.type === 'function_response');
  if (results.length > 0) {
    return results.map(({ id, name, response, isError }) => {
      const text = typeof response === 'string' ? response : JSON.stringify(response);
      return { role: 'tool', callId: id, name, text, isError: isError ?? false };
    });
  }
  if (role === 'user') return [{ role, text: textOfParts(parts) }];
  const calls = parts.filter((part) => part.type === 'function_call').map(({ id, name }) => ({ id, name }));
  return [{ role: 'agent', calls }];
}
