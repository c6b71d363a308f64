import type { FunctionCallPart } from '../src/contracts/index.ts';
import type { Model, ModelResponse } from '../src/index.ts';

/** Says `count` words, one after the other, each in a frame of its own as a decoder would make them. */
export function talker(count: number): Model {
  const whole = said('word '.repeat(count));
  return {
    name: 'talker',
    async *generate() {
      for (let n = 0; n < count; n++) {
        yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: 'word ' }] } };
      }
      yield whole;
    },
  };
}

/** Calls a tool `width` times at once, in each of `steps` steps, then answers. `onStep` hears of each request. */
export function caller(options: { steps: number; width?: number; onStep?: () => void }): Model {
  const { steps, width = 1, onStep } = options;
  const call: FunctionCallPart = { type: 'function_call', id: '', name: 'add', args: { a: 1, b: 2 } };
  const calls: ModelResponse = {
    content: { role: 'model', parts: Array.from({ length: width }, () => call) },
    turnComplete: true,
    finishReason: 'tool_calls',
  };
  const done = said('3');
  let step = 0;
  return {
    name: 'caller',
    async *generate() {
      onStep?.();
      const last = step === steps;
      step = last ? 0 : step + 1;
      yield last ? done : calls;
    },
  };
}

function said(text: string): ModelResponse {
  return { content: { role: 'model', parts: [{ type: 'text', text }] }, turnComplete: true, finishReason: 'stop' };
}
