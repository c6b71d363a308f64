/**
 * `node bench/decode.ts [--deltas N] [--iterations N] [--json]`
 *
 * What a provider's adapter costs a delta, beside the vendor's own SDK that does nothing but iterate the same
 * recorded stream. Both read it from memory, one event a chunk, as a network would bring it. Ends with 1 if a target
 * is missed.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import type { ModelOptions } from '../src/adapters/models/index.ts';
import { anthropicModel, geminiModel, openaiChatModel, openaiResponsesModel } from '../src/adapters/models/index.ts';
import type { Model } from '../src/index.ts';
import { inTurn } from './measure.ts';

const TARGET = 1.5;

const { values } = parseArgs({
  options: {
    deltas: { type: 'string', default: '500' },
    iterations: { type: 'string', default: '150' },
    json: { type: 'boolean', default: false },
  },
});
const deltas = Number(values.deltas);
const plan = { warmUp: 30, iterations: Number(values.iterations) };

interface Subject {
  model: (name: string, options: ModelOptions) => Model;
  /** The events of a stream of that many deltas. */
  events: string[];
  /** Iterates the same stream with the SDK alone; how many events it saw. */
  bare: () => Promise<AsyncIterable<unknown>>;
}

const word = 'word ';
const data = (event: object) => `data: ${JSON.stringify(event)}\n\n`;
const named = (event: { type: string }) => `event: ${event.type}\n${data(event)}`;
const times = (make: () => string): string[] => Array.from({ length: deltas }, make);

const chat = (delta: object, finish_reason: string | null = null) =>
  data({
    id: 'x',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  });
const chatEvents = [...times(() => chat({ content: word })), chat({}, 'stop'), 'data: [DONE]\n\n'];

const text = word.repeat(deltas);
const message = {
  type: 'message',
  id: 'm',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
};
const responseEvents = [
  ...times(() =>
    named({
      type: 'response.output_text.delta',
      item_id: 'm',
      output_index: 0,
      content_index: 0,
      delta: word,
    } as never),
  ),
  named({
    type: 'response.completed',
    response: { id: 'r', model: 'm', status: 'completed', output: [message] },
  } as never),
];

const usage = { input_tokens: 1, output_tokens: 1 };
const messageEvents = [
  named({
    type: 'message_start',
    message: { type: 'message', id: 'm', role: 'assistant', model: 'm', content: [], usage },
  } as never),
  named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as never),
  ...times(() => named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: word } } as never)),
  named({ type: 'content_block_stop', index: 0 } as never),
  named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage } as never),
  named({ type: 'message_stop' }),
];

const candidate = (finishReason?: string) => ({
  candidates: [
    { index: 0, content: { role: 'model', parts: [{ text: word }] }, ...(finishReason ? { finishReason } : {}) },
  ],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
});
const geminiEvents = [...times(() => data(candidate())).slice(1), data(candidate('STOP'))];

const encoder = new TextEncoder();
function replay(events: readonly string[]): typeof fetch {
  const chunks = events.map((event) => encoder.encode(event));
  return async () => {
    let next = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const chunk = chunks[next++];
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
}

const key = { apiKey: 'sk-bench', maxRetries: 0 };
const openai = (events: readonly string[]) => new OpenAI({ ...key, fetch: replay(events) });
const subjects: Record<string, Subject> = {
  'openai chat': {
    model: openaiChatModel,
    events: chatEvents,
    bare: () => openai(chatEvents).chat.completions.create({ model: 'm', messages: [], stream: true }),
  },
  'openai responses': {
    model: openaiResponsesModel,
    events: responseEvents,
    bare: () => openai(responseEvents).responses.create({ model: 'm', input: 'hi', stream: true }),
  },
  anthropic: {
    model: anthropicModel,
    events: messageEvents,
    bare: () =>
      new Anthropic({ ...key, fetch: replay(messageEvents) }).messages.create({
        model: 'm',
        max_tokens: 9,
        messages: [],
        stream: true,
      }),
  },
  gemini: {
    model: geminiModel,
    events: geminiEvents,
    bare: () => {
      const config = { httpOptions: { fetch: replay(geminiEvents) } };
      return new GoogleGenAI({ apiKey: 'k', vertexai: false }).models.generateContentStream({
        model: 'm',
        contents: 'hi',
        config,
      });
    },
  },
};

const request = {
  model: '',
  systemInstruction: '',
  contents: [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'hi' }] }],
  config: {},
  tools: new Map(),
  agent: 'bench',
};

async function throughAdapter(model: Model): Promise<void> {
  let shown = 0;
  let whole = '';
  for await (const frame of model.generate(request, { stream: true, signal: new AbortController().signal })) {
    if (frame.partial) shown++;
    else whole = frame.content?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? '';
  }
  if (shown !== deltas || whole !== text) throw new Error(`the adapter showed ${shown} of ${deltas} deltas`);
}

async function throughSdk(stream: AsyncIterable<unknown>): Promise<void> {
  let seen = 0;
  for await (const _event of stream) seen++;
  if (seen < deltas) throw new Error(`the SDK saw ${seen} events`);
}

/** Milliseconds of processor time: nothing here waits for anything, and on a busy machine the clock counts others' work. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const rows = [];
for (const [name, { model: make, events, bare }] of Object.entries(subjects)) {
  const model = make('m', { apiKey: 'sk-bench', fetch: replay(events) });
  const medians = await inTurn(plan, {
    adapter: () => cpuOf(() => throughAdapter(model)),
    sdk: () => cpuOf(async () => throughSdk(await bare())),
  });
  const ratio = medians.adapter / medians.sdk;
  rows.push({
    name,
    adapter: (medians.adapter / deltas) * 1000,
    sdk: (medians.sdk / deltas) * 1000,
    ratio,
    pass: ratio <= TARGET,
  });
}

if (values.json) console.log(JSON.stringify(rows, undefined, 2));
else {
  console.log(`${deltas} deltas, median of ${plan.iterations}: microseconds a delta (target ≤ ${TARGET}×)`);
  for (const { name, adapter, sdk, ratio, pass } of rows) {
    const figures = `${adapter.toFixed(2)} µs  SDK alone ${sdk.toFixed(2)} µs  ${ratio.toFixed(2)}×`;
    console.log(`${name.padEnd(17)} ${figures}  ${pass ? 'pass' : 'FAIL'}`);
  }
  console.log(`Node ${process.version}, ${availableParallelism()} cores`);
}
process.exitCode = rows.every(({ pass }) => pass) ? 0 : 1;
