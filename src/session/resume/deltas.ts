import type { AgentEvent, ContentPart, EventFrame } from '../../contracts/index.ts';
import { notesOf } from '../../contracts/index.ts';

// Deltas are in no log. A server numbers them by where they stand in their message ({@link Offsets}), a client puts them
// together again ({@link Assembler}); between the two, those of whoever is behind are joined ({@link joinedDeltas}).

/** Messages that are remembered as shown whole. */
const MAX_WHOLE = 64;
/** Messages that grow at a time, and parts of one: of what is more no deltas are sent, and the whole message is. */
const MAX_GROWING = 1_000;

export interface DeltaOffset {
  /** Characters of the part that came before this delta. */
  at: number;
  /** Same for deltas that may be joined. */
  joins: string;
}

/** Where each delta belongs in its message; `stale`: it is not sent, since its message has been shown whole. */
export class Offsets {
  readonly #lengths = new Map<string, Map<number, number>>();
  readonly #whole = new Set<string>();

  of(event: AgentEvent): DeltaOffset | 'stale' | undefined {
    if (event.type === 'stream_end') this.#lengths.clear();
    if (event.type !== 'message') return undefined;
    const { messageId } = notesOf(event);
    if (typeof messageId !== 'string') return undefined;
    if (!event.partial) {
      this.#lengths.delete(messageId);
      this.#whole.add(messageId);
      const oldest = this.#whole.size > MAX_WHOLE ? this.#whole.keys().next().value : undefined;
      if (oldest !== undefined) this.#whole.delete(oldest);
      return undefined;
    }
    if (this.#whole.has(messageId)) return 'stale';
    const part = Number(notesOf(event).part ?? 0);
    let lengths = this.#lengths.get(messageId);
    if (!lengths) {
      if (this.#lengths.size >= MAX_GROWING) return 'stale';
      lengths = new Map();
      this.#lengths.set(messageId, lengths);
    }
    if (lengths.size >= MAX_GROWING && !lengths.has(part)) return 'stale';
    const at = lengths.get(part) ?? 0;
    const [delta] = event.content;
    const type = delta?.type;
    lengths.set(part, at + lengthOf(delta));
    const joins = type === 'text' || type === 'thought' ? `${messageId}/${part}/${type}` : '';
    return { at, joins };
  }
}

/** A delta as it is sent: JSON of its event, and what adjacent ones share that may be joined. */
export interface SentDelta {
  readonly text: string;
  readonly joins?: string | undefined;
}

/** Deltas that are joined into one, at most. */
export const MAX_JOINED_DELTAS = 64;

/** Adjacent deltas of one part as one delta: for whoever is behind. */
export function joinedDeltas(
  first: SentDelta,
  after: (index: number) => SentDelta | undefined,
): { text: string; count: number } {
  const event = JSON.parse(first.text) as { content: [Record<string, string>] };
  const [part] = event.content;
  const field = part.type === 'thought' ? 'thought' : 'text';
  let count = 1;
  for (; count < MAX_JOINED_DELTAS; count++) {
    const next = after(count);
    if (!next || next.joins !== first.joins) break;
    part[field] += (JSON.parse(next.text) as typeof event).content[0][field] ?? '';
  }
  return count === 1 ? { text: first.text, count } : { text: JSON.stringify(event), count };
}

/**
 * Puts frames back together so that whoever reads deltas gets each character once, whatever was lost on the way: a
 * delta that follows a hole is held back, and what was missed comes with the whole message, as one last delta.
 */
export class Assembler {
  /** Characters shown of each part of each message that is not whole yet. */
  readonly #shown = new Map<string, Map<number, number>>();
  readonly #holed = new Set<string>();

  /** Frames were lost. */
  gap(): void {
    for (const messageId of this.#shown.keys()) this.#holed.add(messageId);
  }

  /** The events that a frame comes to. */
  take({ event, at }: EventFrame): AgentEvent[] {
    if (event.type === 'stream_end') {
      this.#shown.clear();
      this.#holed.clear();
    }
    if (event.type !== 'message') return [event];
    const { messageId } = notesOf(event);
    if (typeof messageId !== 'string') return [event];
    if (!event.partial) return [...this.#rest(event, messageId), event];
    const part = Number(notesOf(event).part ?? 0);
    const length = lengthOf(event.content[0]);
    const known = this.#shown.get(messageId);
    // A server that is as it should be sends no deltas of more.
    if (known ? known.size >= MAX_GROWING && !known.has(part) : this.#shown.size >= MAX_GROWING) return [];
    const parts = known ?? new Map<number, number>();
    const shown = parts.get(part) ?? 0;
    if (at !== undefined && at !== shown) {
      if (at > shown) {
        this.#holed.add(messageId);
        this.#shown.set(messageId, parts);
      }
      return [];
    }
    this.#shown.set(messageId, parts.set(part, shown + length));
    return [event];
  }

  #rest(event: Extract<AgentEvent, { type: 'message' }>, messageId: string): AgentEvent[] {
    const parts = this.#shown.get(messageId);
    const isHoled = this.#holed.delete(messageId);
    this.#shown.delete(messageId);
    if (!parts || parts.size === 0 || !isHoled) return [];
    return event.content.flatMap((part, index) => {
      const rest = restOf(part, parts.get(index) ?? 0);
      if (!rest) return [];
      const { seq: _, cursor: __, ...base } = event;
      return [
        { ...base, id: `${event.id}~${index}`, partial: true, content: [rest], _meta: { messageId, part: index } },
      ];
    });
  }
}

function lengthOf(part: ContentPart | undefined): number {
  if (part?.type === 'text') return part.text.length;
  return part?.type === 'thought' ? part.thought.length : 1;
}

function restOf(part: ContentPart, shown: number): ContentPart | undefined {
  if (part.type === 'text') return part.text.length > shown ? { ...part, text: part.text.slice(shown) } : undefined;
  if (part.type !== 'thought') return shown === 0 ? part : undefined;
  return part.thought.length > shown ? { ...part, thought: part.thought.slice(shown) } : undefined;
}
