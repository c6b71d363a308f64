import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { AgentEvent, Bus, ContentPart } from '../../src/contracts/index.ts';
import { hearText, joinBus, TextTeller } from '../../src/runtime/index.ts';
import { elsewhere } from './elsewhere.ts';
import { key } from './kit.ts';
import { Shared } from './shared-store.ts';

/** Brings what is said a moment later, to all who listen, unless it is asked to lose it. */
class HeldBus implements Bus {
  readonly said: { topic: string; message: string }[] = [];
  readonly #heard = new Set<{ topic: string; heard: (message: string) => void; missed: () => void }>();
  loses = false;

  publish(topic: string, message: string): void {
    this.said.push({ topic, message });
    if (!this.loses) setTimeout(() => this.#bring(topic, message), 0);
  }

  subscribe(topic: string, heard: (message: string) => void, missed: () => void): () => void {
    const one = { topic, heard, missed };
    this.#heard.add(one);
    return () => void this.#heard.delete(one);
  }

  #bring(topic: string, message: string): void {
    for (const one of [...this.#heard]) if (one.topic === topic) one.heard(message);
  }

  get listeners(): number {
    return this.#heard.size;
  }

  cutOff(): void {
    for (const one of this.#heard) one.missed();
  }

  async close(): Promise<void> {}

  /** Pieces of text that were said, each with its length before it. */
  get pieces(): { id: string; from: number; text: string }[] {
    return this.said.flatMap(({ message }) => {
      if (!message.startsWith('{"text"')) return [];
      const { text } = JSON.parse(message) as { text?: { from: number; event: AgentEvent } };
      return text ? [{ id: text.event.id, from: text.from, text: textOf(text.event) }] : [];
    });
  }

  get questions(): number {
    return this.said.filter(({ message }) => message === '{"ask":true}').length;
  }
}

const textOf = (event: AgentEvent): string => {
  const [part] = event.type === 'message' ? event.content : [];
  return part?.type === 'text' ? part.text : part?.type === 'thought' ? `(${part.thought ?? ''})` : '';
};

const textPart = (text: string): ContentPart => ({ type: 'text', text });

function delta(messageId: string, content: ContentPart, more: object = {}): AgentEvent {
  const base = { id: `${messageId}!`, sessionId: key.id, streamId: 'st', timestamp: new Date(0).toISOString() };
  return { ...base, type: 'message', role: 'agent', content: [content], partial: true, _meta: { messageId }, ...more };
}

let bus: HeldBus;
let here: Shared;
let there: ReturnType<typeof elsewhere>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  bus = new HeldBus();
  here = new Shared();
  there = elsewhere(here);
  joinBus(here, bus);
  joinBus(there, bus);
});

function telling(): TextTeller {
  const teller = TextTeller.of(here, key);
  if (!teller) throw new Error('there is no bus');
  onTestFinished(() => teller.end());
  return teller;
}

function hearing() {
  const events: AgentEvent[] = [];
  const leave = hearText(there, key, (event) => events.push(event));
  return { events, leave: () => leave?.(), texts: () => events.map(textOf) };
}

const later = () => vi.advanceTimersByTime(45);

function anotherSays(message: string): void {
  bus.publish('session/shop/ann/s1', message);
  vi.advanceTimersByTime(0);
}

test('MUT-R24 what comes within a moment is one piece; a long one is cut into pieces, in order', () => {
  const { events, texts } = hearing();
  const teller = telling();
  teller.add(delta('m', textPart('Good ')));
  teller.add(delta('m', textPart('day, ')));
  vi.advanceTimersByTime(39);
  expect(texts()).toEqual([]);
  vi.advanceTimersByTime(6);
  expect(texts()).toEqual(['Good day, ']);
  teller.add(delta('m', textPart('x'.repeat(3001))));
  later();
  expect(texts().map((text) => text.length)).toEqual([10, 1500, 1500, 1]);
  expect(events.map(({ id }) => id)).toEqual(['m!@0@0', 'm!@10@10', 'm!@1510@1510', 'm!@3010@3010']);
});

test('MUT-R24 parts of a message are apart, and a thought stays one', () => {
  const { texts, events } = hearing();
  const teller = telling();
  const notes = (part: number) => ({ _meta: { messageId: 'm', part } });
  teller.add(delta('m', { type: 'thought', thought: 'Let me ' }, notes(0)));
  teller.add(delta('m', textPart('Yes'), notes(1)));
  later();
  teller.add(delta('m', { type: 'thought', thought: 'see' }, notes(0)));
  teller.add(delta('m', textPart('.'), notes(1)));
  later();
  expect(texts()).toEqual(['(Let me )', 'Yes', '(see)', '.']);
  expect(events[0]).toMatchObject({ content: [{ type: 'thought', thought: 'Let me ' }] });
});

test.each<[string, AgentEvent]>([
  ['a whole message', delta('m', textPart('all'), { partial: false })],
  ['a message that does not say whether it is a part', delta('m', textPart('all'), { partial: undefined })],
  ['an event of another type', { ...delta('m', textPart('all')), type: 'notice' } as unknown as AgentEvent],
  ['one without parts', delta('m', textPart(''), { content: [] })],
  ['a part that is no text', delta('m', { type: 'data', data: {} } as unknown as ContentPart)],
  ['a thought without text', delta('m', { type: 'thought' } as ContentPart)],
  ['one that is of no message', delta('m', textPart('all'), { _meta: {} })],
])('MUT-R24 %s is no partial text', (_, event) => {
  const teller = telling();
  teller.add(event);
  later();
  expect(bus.pieces).toEqual([]);
});

test('MUT-R24 who comes in the middle of a text asks for it, and hears all of it; the others see nothing twice', () => {
  const first = hearing();
  const teller = telling();
  teller.add(delta('m', textPart('Good day, ')));
  later();
  const second = hearing();
  expect(second.texts()).toEqual([]);
  later();
  expect(second.texts()).toEqual(['Good day, ']);
  teller.add(delta('m', textPart('Ann')));
  later();
  expect([first.texts(), second.texts()]).toEqual([
    ['Good day, ', 'Ann'],
    ['Good day, ', 'Ann'],
  ]);
});

test('MUT-R24 a word of something else is no question for the text so far', () => {
  const teller = telling();
  teller.add(delta('m', textPart('Good day')));
  later();
  for (const message of ['{"seq":7}', 'no JSON', '7']) anotherSays(message);
  later();
  expect(bus.pieces).toHaveLength(1);
});

test('MUT-R24 of many messages the newest eight are kept for who comes later', () => {
  const teller = telling();
  for (let n = 1; n <= 9; n++) teller.add(delta(`m${n}`, textPart(`${n}`)));
  later();
  const { texts } = hearing();
  later();
  expect(texts()).toEqual(['2', '3', '4', '5', '6', '7', '8', '9']);
});

test('MUT-R24 what was missed is asked for: with the next piece, and where the bus says so; at most four times a second', () => {
  const { texts } = hearing();
  const teller = telling();
  bus.loses = true;
  teller.add(delta('m', textPart('Good ')));
  later();
  bus.loses = false;
  teller.add(delta('m', textPart('day')));
  later();
  expect([texts(), bus.questions]).toEqual([[], 1]);
  vi.advanceTimersByTime(150);
  teller.add(delta('m', textPart('!')));
  later();
  expect(bus.questions).toBe(2);
  later();
  expect(texts()).toEqual(['Good day!']);
  bus.cutOff();
  expect(bus.questions).toBe(2);
});

test('MUT-R24 a quarter of a second after one question the next may be asked', () => {
  hearing();
  vi.advanceTimersByTime(249);
  bus.cutOff();
  expect(bus.questions).toBe(1);
  vi.advanceTimersByTime(1);
  bus.cutOff();
  expect(bus.questions).toBe(2);
});

test('MUT-R24 what overlaps is shown once: only what is new of it', () => {
  const { texts } = hearing();
  const say = (from: number, text: string) =>
    anotherSays(JSON.stringify({ text: { from, event: delta('m', textPart(text)) } }));
  say(0, 'Good');
  say(2, 'od day');
  say(0, 'Good day');
  expect(texts()).toEqual(['Good', ' day']);
});

test('MUT-R24 of many messages the lengths of the newest eight are known', () => {
  const { texts } = hearing();
  const say = (n: number) =>
    anotherSays(JSON.stringify({ text: { from: 0, event: delta(`m${n}`, textPart(`${n}`)) } }));
  for (let n = 1; n <= 9; n++) say(n);
  say(2);
  expect(texts()).toHaveLength(9);
  say(1);
  expect(texts()).toHaveLength(10);
});

test.each<[string, unknown]>([
  ['no object', { text: 7 }],
  ['null', { text: null }],
  ['without an event', { text: { from: 0 } }],
  ['with an event that is text', { text: { from: 0, event: 'm' } }],
  ['of another session', { text: { from: 0, event: delta('m', textPart('x'), { sessionId: 's2' }) } }],
  ['of another type', { text: { from: 0, event: { ...delta('m', textPart('x')), type: 'notice' } } }],
  ['with content that is no list', { text: { from: 0, event: delta('m', textPart('x'), { content: 7 }) } }],
  ['with a text that is none', { text: { from: 0, event: delta('m', { type: 'text', text: 7 } as never) } }],
  ['that does not say where it begins', { text: { event: delta('m', textPart('x')) } }],
])('MUT-R24 what another program says is looked at: nothing of %s is shown', (_, said) => {
  const { texts } = hearing();
  anotherSays(JSON.stringify(said));
  expect(texts()).toEqual([]);
});

test('MUT-R24 who has left hears nothing, and nobody is listened for any more', () => {
  const { texts, leave } = hearing();
  const teller = telling();
  expect(bus.listeners).toBe(2);
  leave();
  teller.add(delta('m', textPart('Good day')));
  teller.end();
  expect(bus.listeners).toBe(0);
  later();
  expect([texts(), bus.pieces]).toEqual([[], []]);
});

test('MUT-R24 without a bus, or over a store that nobody else writes, nobody tells and nobody hears', () => {
  const alone = new Shared();
  joinBus(alone, undefined);
  expect([TextTeller.of(alone, key), hearText(alone, key, () => {})]).toEqual([undefined, undefined]);
  const own = Object.assign(elsewhere(new Shared()), { isPrivate: true });
  joinBus(own, bus);
  expect([TextTeller.of(own, key), hearText(own, key, () => {})]).toEqual([undefined, undefined]);
  expect(bus.said).toEqual([]);
});
