/** Lines and characters up to which a text stands in the line as it is. */
const MAX_LINES = 8;
const MAX_CHARACTERS = 1000;

/**
 * Long texts of a conversation's line: one that is taller than the terminal could not be drawn under what is written.
 * A name stands for each, and whoever deletes the name deletes the text.
 */
export class Pastes {
  readonly #texts = new Map<string, string>();

  /** The text, or the name that stands for it. */
  fold(text: string): string {
    const lines = text.split('\n').length;
    if (lines <= MAX_LINES && text.length <= MAX_CHARACTERS) return text;
    const known = [...this.#texts].find(([, one]) => one === text)?.[0];
    const name = known ?? `[text ${this.#texts.size + 1}: ${lines} lines, ${text.length} characters]`;
    this.#texts.set(name, text);
    return name;
  }

  /** What is meant by a text with names in it. */
  unfold(text: string): string {
    return text.replaceAll(/\[text \d+: \d+ lines, \d+ characters\]/g, (name) => this.#texts.get(name) ?? name);
  }
}
