import { isObject } from '../../base/index.ts';
import type { AgentEvent, ContentPart } from '../../contracts/index.ts';
import { notesOf } from '../../contracts/index.ts';
import type { SessionKey, SessionService } from '../store/index.ts';
import type { Told } from './doorbell.ts';
import { hasBus, hearOthers, tellOthers } from './doorbell.ts';

/** Milliseconds in which deltas are gathered. */
const GATHER_MS = 40;
/** Characters of one piece: what a bus carries is small. */
const PIECE = 1500;
/** Messages whose text is kept for whoever comes in the middle of it. */
const MOST_KEPT = 8;
/** Milliseconds between two questions for what was missed. */
const ASK_MS = 250;

type Partial = Extract<AgentEvent, { type: 'message' }>;

/** A text part by its message and place; undefined: it is no partial text. */
function textIn(event: AgentEvent): { name: string; text: string; event: Partial } | undefined {
  if (event.type !== 'message' || event.partial !== true) return undefined;
  const [part] = event.content;
  const text = part?.type === 'text' ? part.text : part?.type === 'thought' ? part.thought : undefined;
  const { messageId, part: place } = notesOf(event);
  if (typeof text !== 'string' || typeof messageId !== 'string') return undefined;
  return { name: `${messageId}/${String(place ?? 0)}`, text, event };
}

function withText(event: Partial, text: string, at: number): Partial {
  const [part] = event.content;
  const piece = (part?.type === 'thought' ? { ...part, thought: text } : { ...part, text }) as ContentPart;
  return { ...event, id: `${event.id}@${at}`, content: [piece] };
}

/** Tells others the partial text of a run; undefined: nobody would hear it. */
export class TextTeller {
  readonly #service: SessionService;
  readonly #key: SessionKey;
  readonly #kept = new Map<string, { event: Partial; text: string; told: number }>();
  readonly #deaf: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(service: SessionService, key: SessionKey) {
    this.#service = service;
    this.#key = key;
    const heard = ({ ask }: Told) => {
      if (!ask) return;
      for (const one of this.#kept.values()) one.told = 0;
      this.#tellSoon();
    };
    this.#deaf = hearOthers(service, key, heard, () => {});
  }

  static of(service: SessionService, key: SessionKey): TextTeller | undefined {
    return hasBus(service) ? new TextTeller(service, key) : undefined;
  }

  add(event: AgentEvent): void {
    const found = textIn(event);
    if (!found) return;
    const known = this.#kept.get(found.name);
    if (known) known.text += found.text;
    else {
      this.#kept.set(found.name, { event: found.event, text: found.text, told: 0 });
      const [oldest] = this.#kept.keys();
      if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    }
    this.#tellSoon();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#deaf?.();
  }

  #tellSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const one of this.#kept.values()) this.#tell(one);
    }, GATHER_MS).unref();
  }

  #tell(one: { event: Partial; text: string; told: number }): void {
    while (one.told < one.text.length) {
      const text = one.text.slice(one.told, one.told + PIECE);
      const piece = withText(one.event, text, one.told);
      tellOthers(this.#service, this.#key, { text: { event: piece, from: one.told } });
      one.told += text.length;
    }
  }
}

/** Shows partial text that another program tells, without a gap, until the returned function is called. */
export function hearText(
  service: SessionService,
  key: SessionKey,
  show: (event: AgentEvent) => void,
): (() => void) | undefined {
  const lengths = new Map<string, number>();
  let asked = 0;
  const ask = () => {
    if (Date.now() - asked < ASK_MS) return;
    asked = Date.now();
    tellOthers(service, key, { ask: true });
  };
  const heard = ({ text: told }: Told) => {
    // Whoever reaches the bus may say anything.
    if (!isObject(told) || !isObject(told.event) || told.event.sessionId !== key.id) return;
    if (told.event.type !== 'message' || !Array.isArray(told.event.content)) return;
    const found = textIn(told.event);
    if (!found) return;
    const length = lengths.get(found.name) ?? 0;
    if (!(told.from <= length)) return ask();
    const rest = found.text.slice(length - told.from);
    if (rest === '') return;
    lengths.set(found.name, length + rest.length);
    const [oldest] = lengths.keys();
    if (lengths.size > MOST_KEPT && oldest !== undefined) lengths.delete(oldest);
    show(withText(found.event, rest, length));
  };
  const leave = hearOthers(service, key, heard, ask);
  ask();
  return leave;
}
