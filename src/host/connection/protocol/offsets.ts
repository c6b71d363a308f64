import type { AgentEvent } from '../../../contracts/index.ts';
import { notesOf } from '../../../contracts/index.ts';

/** Messages that are remembered as shown whole. */
const MAX_WHOLE = 64;

export interface DeltaOffset {
  /** Characters of the part that came before this delta. */
  at: number;
  /** Same for deltas that may be joined. */
  joins: string;
}

/** Where each delta belongs in its message. */
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
      lengths = new Map();
      this.#lengths.set(messageId, lengths);
    }
    const at = lengths.get(part) ?? 0;
    const [delta] = event.content;
    const type = delta?.type;
    lengths.set(
      part,
      at + (delta?.type === 'text' ? delta.text.length : delta?.type === 'thought' ? delta.thought.length : 1),
    );
    const joins = type === 'text' || type === 'thought' ? `${messageId}/${part}/${type}` : '';
    return { at, joins };
  }
}
