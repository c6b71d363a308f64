import type { AgentEvent, ContentPart, EventFrame } from '../../contracts/index.ts';
import { notesOf } from '../../contracts/index.ts';

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
    const parts = this.#shown.get(messageId) ?? new Map<number, number>();
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
