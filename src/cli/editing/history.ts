import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';

/** Entries that are kept. */
const MAX_ENTRIES = 500;
/** Characters beyond which a text is not worth keeping. */
const MAX_CHARACTERS = 10_000;

/** What was typed before, newest last; in a file, a JSON string a line, if there is one. */
export class LineHistory {
  readonly #entries: string[];
  readonly #file: string | undefined;
  /** What is shown: the number of entries is the text that is being typed. */
  #at: number;
  #draft = '';

  constructor(file?: string) {
    this.#file = file;
    this.#entries = file === undefined ? [] : entriesIn(file);
    this.#at = this.#entries.length;
  }

  add(text: string): void {
    const isNew = text.trim() !== '' && text.length <= MAX_CHARACTERS && text !== this.#entries.at(-1);
    if (isNew) {
      this.#entries.push(text);
      if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
      this.#store(text);
    }
    this.#at = this.#entries.length;
  }

  /** The entry before (-1) or after (1) the one that is shown; undefined: there is none. */
  step(by: -1 | 1, shown: string): string | undefined {
    const to = this.#at + by;
    if (to < 0 || to > this.#entries.length) return undefined;
    if (this.#at === this.#entries.length) this.#draft = shown;
    this.#at = to;
    return to === this.#entries.length ? this.#draft : this.#entries[to];
  }

  /** Appended, so that two conversations in one folder lose nothing of one another. */
  #store(text: string): void {
    if (this.#file === undefined) return;
    try {
      appendFileSync(this.#file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
    } catch {
      // A folder that cannot be written to is no reason to end a conversation.
    }
  }
}

function entriesIn(file: string): string[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    const entries = lines.flatMap(entryOf).slice(-MAX_ENTRIES);
    // Cut at twice the bound, so that it is not written anew at every start.
    if (lines.length > 2 * MAX_ENTRIES) {
      writeFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 });
    }
    return entries;
  } catch {
    return [];
  }
}

function entryOf(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'string' ? [entry] : [];
  } catch {
    return [];
  }
}
