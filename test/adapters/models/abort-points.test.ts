import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromAgent } from '../../../src/adapters/adk/index.ts';
import type { AgentEvent } from '../../../src/contracts/index.ts';
import { checkStream } from '../../../src/contracts/index.ts';
import { InMemorySessionService, LlmAgent } from '../../../src/runtime/index.ts';
import type { ModelUnderTest, Said } from '../../suites/model.ts';
import { everyProvider as providers } from './ai-sdk-providers.ts';
import { request, tool } from './kit.ts';

const said: Said = { thought: 'Hm.', text: 'Grüße', calls: [{ id: 'c1', name: 'weather', args: { city: 'x' } }] };
const tools = new Map([tool('weather')]);
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A `fetch` that tells of each step: 0 the request, then one for each piece; hears of the signal as the real one does. */
function slowFetch(text: string, size: number, at: (step: number) => void): typeof fetch {
  const bytes = bytesOf(text);
  return async (_input, init) => {
    const signal = init?.signal;
    at(0);
    await new Promise((resolve) => setImmediate(resolve));
    if (signal?.aborted) throw signal.reason;
    let next = 0;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => signal?.addEventListener('abort', () => controller.error(signal.reason)),
      async pull(controller) {
        at(next / size + 1);
        await new Promise((resolve) => setImmediate(resolve));
        if (signal?.aborted) return;
        if (next < bytes.length) controller.enqueue(bytes.slice(next, next + size));
        else controller.close();
        next += size;
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
}

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
beforeAll(() => void process.on('unhandledRejection', note));
afterAll(() => void process.off('unhandledRejection', note));

describe.each(providers)('F35 an abort at every point, $title', (under: ModelUnderTest) => {
  const { stream: text } = under.answer(said);
  const size = 97;
  const steps = Math.ceil(bytesOf(text).length / size) + 2;

  test('the model rejects with the reason and asks no more', async () => {
    let finished = 0;
    for (let point = 0; point < steps; point++) {
      const abort = new AbortController();
      const reason = new Error(`stop at ${point}`);
      let requests = 0;
      const fetch = slowFetch(text, size, (step) => {
        if (step === 0) requests++;
        if (step === point) abort.abort(reason);
      });
      const model = under.model('http://fake.invalid', { fetch, retry: { initialDelayMs: 1 } });
      const frames = [];
      try {
        for await (const frame of model.generate(request({ tools }), { stream: true, signal: abort.signal }))
          frames.push(frame);
        // Whole before the abort came.
        expect(frames.at(-1)?.finishReason).toBe('tool_calls');
        finished++;
      } catch (error) {
        expect(error, `point ${point}`).toBe(reason);
        expect(frames.every((frame) => frame.partial)).toBe(true);
      }
      expect(requests).toBe(1);
    }
    expect(finished).toBeLessThan(4);
    expect(unhandled).toEqual([]);
  });

  test('a session keeps what was said, settles what was asked, and goes on', async () => {
    for (let point = 0; point < steps; point += 2) {
      const abort = new AbortController();
      let asked = 0;
      const fetch: typeof globalThis.fetch = (input, init) => {
        asked++;
        if (asked > 1) return slowFetch(under.answer({ text: 'on we go' }).stream, 10_000, () => {})(input, init);
        return slowFetch(text, size, (step) => {
          if (step === point) abort.abort('enough');
        })(input, init);
      };
      const weather = { name: 'weather', description: 'd', execute: () => 'sunny' };
      const model = under.model('http://fake.invalid', { fetch });
      const agent = new LlmAgent({ name: 'agent', model, tools: [weather] });
      const session = await fromAgent(agent, { store: new InMemorySessionService() }).open({}, { app: 'test' });
      const first: AgentEvent[] = [];
      for await (const event of session.stream('go', { signal: abort.signal })) first.push(event);
      expect(checkStream(first)).toEqual([]);
      const end = first.at(-1);
      expect(end?.type === 'stream_end' && end.reason, `point ${point}`).toMatch(/^(aborted|completed)$/);
      expect(await session.pending()).toEqual([]);
      const second: AgentEvent[] = [];
      for await (const event of session.stream('and now?')) second.push(event);
      expect(second.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
      await session[Symbol.asyncDispose]();
    }
    expect(unhandled).toEqual([]);
  });
});
