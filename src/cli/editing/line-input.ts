import type { Interface, Key } from 'node:readline';
import { createInterface } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import { clean } from '../terminal/index.ts';

/** Where readline draws: the terminal, while it may. What it draws beside that is not seen. */
class Gate extends Writable {
  isOpen = false;
  readonly #resized = () => this.emit('resize');

  constructor() {
    super({ decodeStrings: false });
    process.stderr.on('resize', this.#resized);
  }

  get columns(): number {
    return process.stderr.columns || 80;
  }

  override _write(chunk: unknown, _: unknown, done: () => void): void {
    if (this.isOpen) process.stderr.write(String(chunk));
    done();
  }

  override _final(done: () => void): void {
    process.stderr.off('resize', this.#resized);
    done();
  }
}

export interface LineInputOptions {
  prompt: string;
  /** Words that the line may go on with, and the part of it that they stand for. */
  completer?: (line: string) => [string[], string];
  onLine: (text: string) => void;
}

/**
 * One text that is edited at the terminal, of one line or several. Node's readline edits it; it is handed the keys, so
 * that whoever owns the keyboard decides which, and it draws only while it is shown.
 */
export class LineInput {
  readonly #keys = new PassThrough();
  readonly #gate = new Gate();
  readonly #lines: Interface;

  constructor({ prompt, completer, onLine }: LineInputOptions) {
    this.#lines = createInterface({
      input: this.#keys,
      output: this.#gate,
      terminal: true,
      // Its own history cannot hold texts of several lines in all versions of Node.
      historySize: 0,
      prompt,
      ...(completer ? { completer } : {}),
    });
    this.#lines.on('line', onLine);
  }

  get text(): string {
    return this.#lines.line;
  }

  get cursor(): number {
    return this.#lines.cursor;
  }

  /** A key that readline knows what to do with. */
  feed(text: string | undefined, key: Key): void {
    this.#keys.emit('keypress', text, key);
  }

  insert(text: string): void {
    const { line, cursor } = this.#lines;
    const added = clean(text);
    this.set(line.slice(0, cursor) + added + line.slice(cursor), cursor + added.length);
  }

  set(text: string, cursor = text.length): void {
    const buffer: { line: string; cursor: number } = this.#lines;
    buffer.line = text;
    buffer.cursor = cursor;
    this.#lines.prompt(true);
  }

  /** Shows the prompt and the text, from the beginning of a line. */
  draw(): void {
    this.#lines.prompt(true);
    // Readline goes up to where it thinks that the text begins.
    process.stderr.write('\n'.repeat(this.#lines.getCursorPos().rows));
    this.#gate.isOpen = true;
    this.#lines.prompt(true);
  }

  /** Takes both from the terminal; the cursor is where they began. */
  erase(): void {
    this.#lines.prompt(true);
    this.hide();
    const { rows } = this.#lines.getCursorPos();
    process.stderr.write(`${rows > 0 ? `\u001b[${rows}A` : ''}\r\u001b[J`);
  }

  /** What is on the terminal stays there. */
  hide(): void {
    this.#gate.isOpen = false;
  }

  close(): void {
    this.hide();
    this.#lines.close();
    this.#gate.end();
  }
}
