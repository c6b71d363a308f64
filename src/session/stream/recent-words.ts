/** Characters that are kept of what an agent says in one stream. */
export const MAX_WORDS = 4 * 1024 * 1024;

/** The last words of a text that is too long, and a line that says so. */
export function clipped(text: string, max = MAX_WORDS): string {
  if (text.length <= max) return text;
  const cut = text.length - max;
  // Not amid a character.
  const code = text.charCodeAt(cut);
  const start = code >= 0xdc00 && code <= 0xdfff ? cut + 1 : cut;
  return `${leftOut(start)}${text.slice(start)}`;
}

/** Texts in the order in which they came: the newest up to a bound, and a line that says what is left out before them. */
export class RecentWords {
  readonly #texts: string[] = [];
  readonly #max: number;
  #first = 0;
  #chars = 0;
  #dropped = 0;

  constructor(max = MAX_WORDS) {
    this.#max = max;
  }

  /** An empty text says nothing. */
  say(text: string): void {
    if (text === '') return;
    this.#texts.push(text);
    this.#chars += text.length;
    // The newest stays, whatever its size.
    while (this.#chars > this.#max && this.#first < this.#texts.length - 1) {
      const oldest = this.#texts[this.#first] ?? '';
      this.#texts[this.#first++] = '';
      this.#chars -= oldest.length;
      this.#dropped += oldest.length;
    }
    if (this.#first * 2 > this.#texts.length) {
      this.#texts.splice(0, this.#first);
      this.#first = 0;
    }
    const newest = this.#texts.length - 1;
    if (this.#chars <= this.#max) return;
    this.#texts[newest] = clipped(text, this.#max);
    this.#chars = this.#max;
  }

  get text(): string {
    const text = this.#texts.slice(this.#first).join('\n\n');
    return this.#dropped === 0 ? text : `${leftOut(this.#dropped)}${text}`;
  }
}

function leftOut(chars: number): string {
  return `[${chars} earlier characters are left out]\n\n`;
}
