import type { ModelResponse } from '../../src/runtime/index.ts';
import { finishReasonOf } from '../../src/runtime/index.ts';
import { fetchOf, request, tool } from '../adapters/models/kit.ts';
import { anthropic, gemini, openaiChat, openaiResponses } from '../adapters/models/providers.ts';
import type { ModelUnderTest, Said } from '../suites/model.ts';
import type { Random } from './patterns.ts';
import { randomOf } from './patterns.ts';

type Json = Record<string, unknown>;
/** One event of a stream: JSON, or the text of one that is none. */
type Wired = Json | string;

/** What a plain reader of the events makes of them. */
interface Told {
  /** The largest of each count. */
  counts: Map<string, number>;
  /** The answer may have come to a good end: an event says so, and none behind it says otherwise. */
  good: boolean;
}

export interface StreamWire {
  under: ModelUnderTest;
  named: boolean;
  told(events: readonly Wired[]): Told;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const at = (value: unknown, ...path: string[]): unknown =>
  path.reduce(
    (inner: unknown, name) => (Array.isArray(inner) ? inner[Number(name)] : isObject(inner) ? inner[name] : undefined),
    value,
  );

class Reader implements Told {
  readonly counts = new Map<string, number>();
  good = false;

  count(name: string, value: unknown): void {
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return;
    this.counts.set(name, Math.max(this.counts.get(name) ?? 0, value));
  }

  end(word: unknown): void {
    if (word) this.good = typeof word === 'string' && ['stop', 'tool_calls'].includes(finishReasonOf(word) ?? '');
  }
}

function chatTold(events: readonly Wired[]): Told {
  const told = new Reader();
  let word: unknown;
  for (const event of events) {
    if (typeof event === 'string') {
      if (event !== '[DONE]') continue;
      told.good ||= word === undefined;
      break;
    }
    told.count('inputTokens', at(event, 'usage', 'prompt_tokens'));
    told.count('outputTokens', at(event, 'usage', 'completion_tokens'));
    told.count('cachedReadTokens', at(event, 'usage', 'prompt_tokens_details', 'cached_tokens'));
    const choice = at(event, 'choices', '0');
    if (Number(at(choice, 'index') ?? 0) > 0) continue;
    word = at(choice, 'finish_reason') || word;
    told.end(at(choice, 'finish_reason'));
  }
  return told;
}

function responsesTold(events: readonly Wired[]): Told {
  const told = new Reader();
  for (const event of events) {
    const type = at(event, 'type');
    if (type !== 'response.completed' && type !== 'response.incomplete') continue;
    const response = at(event, 'response');
    told.count('inputTokens', at(response, 'usage', 'input_tokens'));
    told.count('outputTokens', at(response, 'usage', 'output_tokens'));
    told.count('cachedReadTokens', at(response, 'usage', 'input_tokens_details', 'cached_tokens'));
    told.good = (at(response, 'status') ?? 'completed') === 'completed';
    break;
  }
  return told;
}

function anthropicTold(events: readonly Wired[]): Told {
  const told = new Reader();
  for (const event of events) {
    const type = at(event, 'type');
    if (type === 'message_stop') break;
    if (type === 'message_delta') told.end(at(event, 'delta', 'stop_reason'));
    if (type === 'message_delta') told.count('outputTokens', at(event, 'usage', 'output_tokens'));
    if (type === 'message_start') told.count('outputTokens', at(event, 'message', 'usage', 'output_tokens'));
    if (type === 'message_start')
      told.count('cachedReadTokens', at(event, 'message', 'usage', 'cache_read_input_tokens'));
  }
  return told;
}

function geminiTold(events: readonly Wired[]): Told {
  const told = new Reader();
  for (const event of events) {
    told.count('inputTokens', at(event, 'usageMetadata', 'promptTokenCount'));
    told.count('outputTokens', at(event, 'usageMetadata', 'candidatesTokenCount'));
    told.count('cachedReadTokens', at(event, 'usageMetadata', 'cachedContentTokenCount'));
    const word = at(event, 'candidates', '0', 'finishReason');
    if (word === 'FINISH_REASON_UNSPECIFIED') told.good = true;
    else told.end(word);
  }
  return told;
}

export const wires: Readonly<Record<string, StreamWire>> = {
  'OpenAI Chat': { under: openaiChat, named: false, told: chatTold },
  'OpenAI Responses': { under: openaiResponses, named: true, told: responsesTold },
  Anthropic: { under: anthropic, named: true, told: anthropicTold },
  Gemini: { under: gemini, named: false, told: geminiTold },
};

const tools = new Map([tool('pay', { eur: { type: 'number' } }), tool('look')]);
const answers: readonly Said[] = [
  { text: 'Hello there.' },
  { thought: 'Plan it.', text: 'Paying — ok.', calls: [{ id: 'c1', name: 'pay', args: { eur: 5, note: 'für "x"' } }] },
  {
    calls: [
      { id: 'c1', name: 'pay', args: { eur: 5 } },
      { id: 'c2', name: 'look' },
    ],
  },
  { text: 'half', calls: [{ id: 'c1', name: 'pay', args: { eur: 5 } }], finish: 'length' },
];

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

/** Tries one random stream; what is wrong with the answer that was made of it, or undefined. */
export async function wrongAnswer(wire: StreamWire, seed: number): Promise<string | undefined> {
  const random = randomOf(seed);
  // The first numbers of neighbouring seeds are alike.
  for (let n = 0; n < 8; n++) random();
  let events = parse(wire.under.answer(pick(random, answers)).stream);
  const changes = Math.floor(random() * 4);
  for (let n = 0; n < changes; n++) events = changed(random, events);
  let text = events.map((event) => written(event, wire.named)).join('');
  const isCut = random() < 0.2;
  if (isCut) text = text.slice(0, Math.floor(random() * text.length));
  const fetch = fetchOf(pieces(random, new TextEncoder().encode(text)));
  const model = wire.under.model('http://fake.invalid', { fetch, retry: { retries: 0 } });
  const frames: ModelResponse[] = [];
  try {
    const call = { stream: true, signal: new AbortController().signal };
    for await (const frame of model.generate(request({ tools }), call)) frames.push(frame);
  } catch (error) {
    return `it throws ${String(error)}\n${text}`;
  }
  const fault = faultOf(frames, wire.told(parse(text)));
  return fault === undefined ? undefined : `${fault}\n${text}\n${JSON.stringify(frames.at(-1))}`;
}

function faultOf(frames: readonly ModelResponse[], told: Told): string | undefined {
  const last = frames.at(-1);
  if (!last || last.partial) return 'there is no last frame';
  if (frames.slice(0, -1).some(({ partial }) => !partial)) return 'there are two last frames';
  for (const { content } of frames) {
    for (const part of content?.parts ?? []) {
      const { type, text, thought, name, id } = part as Json;
      const texts =
        { text: [text], thought: [thought], refusal: [text], function_call: [name, id] }[String(type)] ?? [];
      if (texts.some((each) => typeof each !== 'string')) return `a part is ill-formed: ${JSON.stringify(part)}`;
    }
  }
  if (last.errorCode !== undefined) {
    if (typeof last.errorCode !== 'string' || typeof last.errorMessage !== 'string') return 'the error has no words';
    return last.content ? 'an error has content' : undefined;
  }
  const end = last.finishReason === undefined ? undefined : finishReasonOf(last.finishReason);
  if (end === undefined) return 'the end is not known';
  const runs = end === 'stop' || end === 'tool_calls';
  const calls = (last.content?.parts ?? []).filter(({ type }) => type === 'function_call');
  if (runs && calls.length > 0 && !told.good) return 'a call runs of an answer that is not known to be good';
  for (const [name, count] of told.counts) {
    const kept = (last.usage as Json | undefined)?.[name];
    if (typeof kept !== 'number' || kept < count) return `${name} is ${String(kept)}, and ${count} was told`;
  }
  return undefined;
}

function parse(text: string): Wired[] {
  return text.split('\n\n').flatMap((event): Wired[] => {
    const line = event.split('\n').find((each) => each.startsWith('data:'));
    if (line === undefined) return [];
    const data = line.slice('data:'.length).trim();
    try {
      const value: unknown = JSON.parse(data);
      return isObject(value) ? [value] : [data];
    } catch {
      return [data];
    }
  });
}

function written(event: Wired, named: boolean): string {
  const name = named && isObject(event) && typeof event.type === 'string' ? `event: ${event.type}\n` : '';
  return `${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;
}

function changed(random: Random, events: readonly Wired[]): Wired[] {
  const next = structuredClone([...events]);
  const here = Math.floor(random() * next.length);
  const event = next[here];
  if (event === undefined) return next;
  switch (Math.floor(random() * 6)) {
    case 0:
      return next.slice(0, here);
    case 1:
      return next.toSpliced(Math.floor(random() * next.length), 0, event);
    case 2:
      return next.toSpliced(here, 1);
    case 3:
      return next.toSpliced(here, 1).toSpliced(Math.floor(random() * next.length), 0, event);
    default:
      if (isObject(event)) spoil(random, event);
      return next;
  }
}

const strange: readonly unknown[] = [null, '', 'something_new', 0, -1, 3, 1.5, '7', true, [], {}, [null], { a: 1 }];

/** Changes one member somewhere below. */
function spoil(random: Random, value: Json): void {
  const places: [holder: Json | unknown[], key: string][] = [];
  const walk = (holder: Json | unknown[]) => {
    for (const key of Object.keys(holder)) {
      places.push([holder, key]);
      const inner = (holder as Json)[key];
      if (typeof inner === 'object' && inner !== null) walk(inner as Json);
    }
  };
  walk(value);
  if (places.length === 0) return;
  const [holder, key] = pick(random, places);
  const target = holder as Json;
  const before = target[key];
  const kind = random();
  if (kind < 0.15) delete target[key];
  else if (kind < 0.3) target[`${key}_new`] = pick(random, strange);
  else if (kind < 0.5 && typeof before === 'number') target[key] = random() < 0.5 ? String(before) : before + 1;
  else target[key] = pick(random, strange);
}

function pieces(random: Random, bytes: Uint8Array): Uint8Array[] {
  const out: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; ) {
    const to = from + 1 + Math.floor(random() * 400);
    out.push(bytes.slice(from, to));
    from = to;
  }
  return out;
}
