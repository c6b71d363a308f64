import { describe, expect, test } from 'vitest';
import type { AutoToolsPhase, AutoToolsStreamEvent } from '../../src/adapters/auto-tools/index.ts';
import { AutoToolsStream, streamContent, streamWithAutoTools } from '../../src/adapters/auto-tools/index.ts';
import type { Model } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { asks, failure, gate, scripted, weather } from './kit.ts';

async function read(stream: AsyncIterable<string>): Promise<string[]> {
  const pieces: string[] = [];
  for await (const text of stream) pieces.push(text);
  return pieces;
}

/** Everything that a subscriber heard, once it is over. */
function heard(stream: AutoToolsStream): Promise<AutoToolsStreamEvent[]> {
  const events: AutoToolsStreamEvent[] = [];
  return new Promise((resolve) => {
    stream.subscribe((event) => {
      events.push(event);
      if (event.type !== 'stream_event') resolve(events);
    });
  });
}

describe('streamWithAutoTools', () => {
  test('S1-13 the phases, in order', async () => {
    const { tools } = weather();
    const phases: AutoToolsPhase[] = [];
    const model = scripted(asks('a'), 'done');
    const stream = streamWithAutoTools('go', { model, tools, onPhase: (phase) => phases.push(phase) });
    expect(stream.phase).toBe('awaiting_model_call');
    expect(await read(stream)).toEqual(['done']);
    expect(phases).toEqual(['awaiting_model_call', 'executing_tools', 'awaiting_final_response', 'ended']);
    expect(stream.phase).toBe('ended');
  });

  test('S1-16 the second stream has the whole history and goes to the same reader', async () => {
    const { tools } = weather();
    const model = scripted(asks('Rome'), { deltas: ['It is ', 'sunny.'] });
    const stream = streamWithAutoTools('Rome?', { model, tools });
    expect(await read(stream)).toEqual(['It is ', 'sunny.']);
    expect(model.requests[1]?.contents.map(({ role }) => role)).toEqual(['user', 'model', 'user']);
    const { text, chat, steps } = await stream.response;
    expect([text, steps, chat.history.length]).toEqual(['It is sunny.', 2, 4]);
  });

  test('S1-17 without calls: what was held back, in order, then the end', async () => {
    const deltas = ['a', 'b', 'c', 'd'];
    const stream = streamWithAutoTools('go', { model: scripted({ deltas }), tools: weather().tools });
    const events = await heard(stream);
    expect(events.map((event) => (event.type === 'stream_event' ? event.text : event.type))).toEqual([
      ...deltas,
      'stream_complete',
    ]);
  });

  test('S1-14 S1-17 nothing of a round is shown before it is known to hold no call', async () => {
    const shown: string[] = [];
    const said = gate();
    const release = gate();
    const model: Model = {
      name: 'slow',
      async *generate() {
        yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: 'Hel' }] } };
        said.open();
        await release.opened;
        yield { content: { role: 'model', parts: [{ type: 'text', text: 'Hello' }] }, finishReason: 'stop' };
      },
    };
    const stream = streamWithAutoTools('go', { model });
    stream.subscribe((event) => event.type === 'stream_event' && shown.push(event.text));
    await said.opened;
    expect(shown).toEqual([]);
    release.open();
    await stream.response;
    // The deltas do not make up the answer: the answer counts.
    expect(shown).toEqual(['Hello']);
  });

  test('S1-18 only the final text over three and more rounds', async () => {
    const { tools, ran } = weather();
    const model = scripted(asks('a'), asks('b'), asks('c'), asks('d'), { thought: 'hm', deltas: ['all ', 'sunny'] });
    const stream = streamWithAutoTools('go', { model, tools });
    expect(await read(stream)).toEqual(['all ', 'sunny']);
    expect(ran).toEqual(['a', 'b', 'c', 'd']);
  });

  test('S1-19 each event has the id of its stream, and there is one end', async () => {
    const stream = streamWithAutoTools('go', { model: scripted({ deltas: ['x', 'y'] }) });
    const events = await heard(stream);
    expect(new Set(events.map(({ streamId }) => streamId))).toEqual(new Set([stream.id]));
    expect(events.map(({ type }) => type)).toEqual(['stream_event', 'stream_event', 'stream_complete']);
    // Whoever comes late hears all of it too.
    expect(await heard(stream)).toEqual(events);
    expect(await read(stream)).toEqual(['x', 'y']);
    stream.abort('too late');
    expect((await stream.response).text).toBe('xy');
  });

  test('S1-19 a subscriber that fails or has left disturbs nobody', async () => {
    const warned: string[] = [];
    const stream = streamWithAutoTools('go', { model: scripted('x'), warn: (message) => warned.push(message) });
    const left: unknown[] = [];
    stream.subscribe(() => {
      throw new Error('mine');
    });
    stream.subscribe((event) => left.push(event))();
    expect((await heard(stream)).map(({ type }) => type)).toEqual(['stream_event', 'stream_complete']);
    expect(left).toEqual([]);
    expect(warned).toHaveLength(2);
  });

  test('it is lazy: nothing is asked before somebody reads', async () => {
    const model = scripted('x');
    const stream = streamWithAutoTools('go', { model });
    expect(model.requests).toHaveLength(0);
    await stream.return();
    expect(model.requests).toHaveLength(0);
  });

  test('S1-20 by default the raw stream, calls included, and nothing runs', async () => {
    const { tools, ran } = weather();
    const model = scripted(asks('Rome'));
    const frames = [];
    for await (const frame of streamContent('go', { model, tools })) frames.push(frame);
    const direct = [];
    const plain = new ScriptedModel([asks('Rome')]);
    const request = { model: '', systemInstruction: '', contents: [], config: {}, tools: new Map(), agent: 'a' };
    for await (const frame of plain.generate(request, { stream: true, signal: new AbortController().signal })) {
      direct.push(frame);
    }
    expect(frames).toEqual(direct);
    expect(frames.at(-1)?.content?.parts.at(-1)).toMatchObject({ type: 'function_call' });
    expect(ran).toEqual([]);
  });

  test('S1-20 autoExecuteTools makes it the other one', async () => {
    const { tools, ran } = weather();
    const stream = streamContent('go', { model: scripted(asks('Rome'), 'done'), tools, autoExecuteTools: true });
    expect(stream).toBeInstanceOf(AutoToolsStream);
    expect(await read(stream)).toEqual(['done']);
    expect(ran).toEqual(['Rome']);
  });

  test('S1-21 the limit holds', async () => {
    const { tools } = weather();
    const model = new ScriptedModel([asks('a'), asks('b'), asks('c')]);
    const events = await heard(streamWithAutoTools('go', { model, tools, turnLimit: 2 }));
    expect(events).toMatchObject([
      { type: 'stream_error', error: { code: 'E_MAX_LLM_CALLS', details: { reason: 'turn_limit_exceeded' } } },
    ]);
    expect(model.requests).toHaveLength(2);
  });

  test('S1-22 a failure after some text reaches reader and subscriber, and none of the text is shown', async () => {
    const model: Model = {
      name: 'broken',
      async *generate() {
        yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: 'Hel' }] } };
        yield { errorCode: 'http_500', errorMessage: 'broke off', retryable: true };
      },
    };
    const stream = streamWithAutoTools('go', { model });
    const events = heard(stream);
    expect(await failure(read(stream))).toMatchObject({ code: 'E_MODEL', message: 'broke off', retryable: true });
    expect(await events).toMatchObject([{ type: 'stream_error', error: { code: 'E_MODEL' } }]);
    expect(await failure(stream.response)).toMatchObject({ code: 'E_MODEL' });
  });

  test('S1-22 a model that throws is told as well', async () => {
    const stream = streamWithAutoTools('go', { model: new ScriptedModel([{ error: new Error('bang') }]) });
    expect(await failure(read(stream))).toMatchObject({ message: expect.stringContaining('bang') });
  });

  test('S1-23 fifty streams at once, each with its own', async () => {
    const texts = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const { tools, ran } = weather(({ city }) => city);
        const model = scripted(asks(`c${n}`), (request) => {
          const part = request.contents.at(-1)?.parts[0];
          return part?.type === 'function_response' ? `said ${String(part.response.content)}` : 'nothing';
        });
        const pieces = await read(streamWithAutoTools('go', { model, tools }));
        return [...pieces, ...ran];
      }),
    );
    expect(texts).toEqual(Array.from({ length: 50 }, (_, n) => [`said c${n}`, `c${n}`]));
  });

  test('S1-15 an abort while a tool runs: the tool hears of it, the stream ends at once', async () => {
    const begun = gate();
    const told = gate<unknown>();
    const tool = {
      name: 'wait',
      description: 'waits',
      execute: (_args: object, { signal }: { signal: AbortSignal }) => {
        signal.addEventListener('abort', () => told.open(signal.reason));
        begun.open();
        return new Promise(() => {});
      },
    };
    const stream = streamWithAutoTools('go', { model: scripted({ calls: [['wait', {}]] }), tools: [tool] });
    const events = heard(stream);
    await begun.opened;
    expect(stream.phase).toBe('executing_tools');
    stream.abort('enough');
    expect(await events).toMatchObject([{ type: 'stream_error', error: { code: 'E_ABORTED', message: 'enough' } }]);
    expect(await told.opened).toBeDefined();
  });

  test('leaving the loop ends the run', async () => {
    const left = gate();
    const model: Model = {
      name: 'talker',
      async *generate(_request, { signal }) {
        signal.addEventListener('abort', () => left.open());
        yield { content: { role: 'model', parts: [{ type: 'function_call', id: '', name: 'weather', args: {} }] } };
      },
    };
    const begun = gate();
    const tool = {
      name: 'weather',
      description: 'd',
      execute: (_args: object, { signal }: { signal: AbortSignal }) => {
        signal.addEventListener('abort', () => left.open());
        begun.open();
        return new Promise(() => {});
      },
    };
    const stream = streamWithAutoTools('go', { model, tools: [tool] });
    const first = stream.next();
    await begun.opened;
    await stream.return();
    expect(await first).toEqual({ done: true, value: undefined });
    await left.opened;
  });
});
