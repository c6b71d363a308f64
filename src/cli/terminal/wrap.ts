/** Width of a line of stdout, in columns. */
const columns = (): number => Math.max(20, process.stdout.columns || 100);

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const NONE = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** Columns of a text on a terminal. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += NONE.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** What is wider than a line is broken by the terminal. */
const lastColumn = (column: number, width: number): number => (column > width ? ((column - 1) % width) + 1 : column);

/**
 * Words that come in pieces: a line that the terminal would break within a word is broken before it. The last word is
 * kept back until its end is known.
 */
export class WordWrap {
  readonly #width: () => number;
  #column = 0;
  #kept = '';

  constructor(width: () => number = columns) {
    this.#width = width;
  }

  /** What can be written by now. */
  push(text: string): string {
    this.#kept += text;
    let ready = '';
    for (;;) {
      // Spaces belong to the word behind them: they go where a line is broken.
      const [token] = /^(?:\n|[ \t]*[^ \t\n]+(?=[ \t\n])|[ \t]+(?=\n))/.exec(this.#kept) ?? [];
      if (token === undefined) return ready;
      this.#kept = this.#kept.slice(token.length);
      ready += this.#placed(token);
    }
  }

  /** The last word, whatever comes after it. */
  flush(): string {
    const rest = this.#kept;
    this.#kept = '';
    return rest === '' ? '' : this.#placed(rest);
  }

  /** The line was ended by something else. */
  restart(): void {
    this.#column = 0;
  }

  #placed(token: string): string {
    if (token === '\n') {
      this.#column = 0;
      return token;
    }
    const width = this.#width();
    const own = widthOf(token);
    if (this.#column === 0 || this.#column + own <= width) {
      this.#column = lastColumn(this.#column + own, width);
      return token;
    }
    const word = token.trimStart();
    this.#column = lastColumn(widthOf(word), width);
    return word === '' ? '' : `\n${word}`;
  }
}
