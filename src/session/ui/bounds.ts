/** Calls and questions that one stream of a page knows as shown: of more, the newest. */
export const MOST_KNOWN = 10_000;

/** Messages that grow at a time, and parts of one. */
const MOST_GROWING = 1_000;

/** Whether the words of a part are shown while they come: of what is more, they are shown when the message is whole. */
export function mayGrow(
  messages: ReadonlyMap<string, ReadonlyMap<number, unknown>>,
  messageId: string,
  part: number,
): boolean {
  const parts = messages.get(messageId);
  if (!parts) return messages.size < MOST_GROWING;
  return parts.size < MOST_GROWING || parts.has(part);
}

/** Characters of words that grow, of one stream together. */
const MOST_CHARS = 4 * 1024 * 1024;
/** Characters, as JSON, of arguments of calls that one stream remembers, together. */
const MOST_ARGS = 4 * 1024 * 1024;

/** What one stream of a page remembers of words that were shown in part: of more, they are shown when the message is whole. */
export class GrowingChars {
  #chars = 0;
  #isFull = false;

  /** False: there is no room for so many, and for none that come later: words with a hole in them are nobody's. */
  take(chars: number): boolean {
    this.#isFull ||= this.#chars + chars > MOST_CHARS;
    if (!this.#isFull) this.#chars += chars;
    return !this.#isFull;
  }

  /** Of a message that is whole, or of all where the stream is over. */
  giveBack(parts: Iterable<{ readonly text: string }>): void {
    for (const { text } of parts) this.#chars -= text.length;
  }
}

/** Calls that one stream of a page has shown: of the newest the arguments too, as JSON. */
export class ShownCalls {
  readonly #calls = new Map<string, { name: string; input: string } | undefined>();
  /** The same, of those whose arguments are remembered. */
  readonly #inputs = new Map<string, number>();
  #chars = 0;

  constructor(known: readonly string[] = []) {
    for (const id of known) this.#calls.set(id, undefined);
  }

  has(id: string): boolean {
    return this.#calls.has(id);
  }

  /** Undefined: it was not shown here, or too much has come since. */
  get(id: string): { readonly name: string; readonly input: string } | undefined {
    return this.#calls.get(id);
  }

  set(id: string, name: string, input: string): void {
    this.#forget(id);
    this.#calls.delete(id);
    this.#calls.set(id, { name, input });
    this.#inputs.set(id, input.length);
    this.#chars += input.length;
    for (const [oldest] of this.#inputs) {
      if (this.#chars <= MOST_ARGS) break;
      this.#forget(oldest);
      if (this.#calls.has(oldest)) this.#calls.set(oldest, undefined);
    }
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size <= MOST_KNOWN) break;
      this.#forget(oldest);
      this.#calls.delete(oldest);
    }
  }

  #forget(id: string): void {
    this.#chars -= this.#inputs.get(id) ?? 0;
    this.#inputs.delete(id);
  }
}
