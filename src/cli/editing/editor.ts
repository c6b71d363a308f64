import type { Key } from 'node:readline';
import type { Focus, Footer, Screen } from '../terminal/index.ts';
import { clean, keyboard, oneLine, paint } from '../terminal/index.ts';
import type { LineHistory } from './history.ts';
import { LineInput } from './line-input.ts';
import { Pastes } from './pastes.ts';
import { isCtrl } from './read-line.ts';

export interface EditorOptions {
  history: LineHistory;
  completer: (line: string) => [string[], string];
  /** Ctrl-C while something runs. */
  stop: () => void;
}

/** A text that was sent off; `leave`: Ctrl-D; `abort`: Ctrl-C, twice. */
export type Typed = { text: string } | 'leave' | 'abort';

/**
 * The line of a conversation. It is there all the time: what is typed while an answer comes stands under it, and is
 * sent when the turn is over.
 */
export class Editor implements Focus, Footer {
  readonly #screen: Screen;
  readonly #options: EditorOptions;
  readonly #input: LineInput;
  readonly #release: () => void;
  readonly #queue: string[] = [];
  readonly #pastes = new Pastes();
  #waiting: ((typed: Typed) => void) | undefined;
  #isGone = false;
  /** Ctrl-C was pressed at an empty line, and nothing since. */
  #isWarned = false;

  constructor(screen: Screen, options: EditorOptions) {
    this.#screen = screen;
    this.#options = options;
    this.#input = new LineInput({
      prompt: '> ',
      completer: options.completer,
      onLine: (text) => this.#sent(text),
    });
    this.#release = keyboard.take(this);
  }

  /** The next text, at once if one is queued. */
  next(): Promise<Typed> {
    const queued = this.#queue.shift();
    if (queued !== undefined) {
      this.#screen.line(`> ${this.#pastes.fold(queued)}`);
      return Promise.resolve({ text: queued });
    }
    if (this.#isGone) return Promise.resolve('leave');
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#isWarned = false;
      this.#screen.put(this);
    });
  }

  /** Texts that were queued come back into the line: they may not be meant any more. */
  takeBack(): void {
    if (this.#queue.length === 0) return;
    this.#screen.line(paint('dim', 'what was queued is back in the line, not sent'));
    for (const text of this.#queue.splice(0).reverse()) this.putBack(text);
  }

  /** A text that was not sent after all stands in the line again, before what was typed since. */
  putBack(text: string): void {
    const typed = this.#input.text;
    const shown = this.#pastes.fold(text);
    this.#input.set(typed === '' ? shown : `${shown}\n${typed}`);
    this.#show();
  }

  draw(): void {
    this.#input.draw();
  }

  erase(): void {
    this.#input.erase();
  }

  close(): void {
    this.#screen.put(undefined);
    const draft = this.#pastes.unfold(this.#input.text);
    this.#release();
    this.#input.close();
    this.#options.history.add(draft);
    for (const text of [...this.#queue, draft]) {
      if (text.trim() !== '')
        this.#screen.now(`${paint('dim', `not sent, but in the history: ${oneLine(text, 60)}`)}\n`);
    }
  }

  key(text: string | undefined, key: Key): void {
    if (isCtrl(key, 'c')) {
      this.#interrupt();
      return;
    }
    if (isCtrl(key, 'z')) {
      this.#suspend();
      return;
    }
    this.#isWarned = false;
    if (isCtrl(key, 'd') && this.#input.text === '') this.#end('leave');
    else if (key.name === 'return' || key.name === 'enter') this.#enter(key);
    else if (key.name === 'up' || isCtrl(key, 'p')) this.#step(-1);
    else if (key.name === 'down' || isCtrl(key, 'n')) this.#step(1);
    else this.#input.feed(text, key);
    this.#show();
  }

  paste(text: string): void {
    this.#isWarned = false;
    this.#input.insert(this.#pastes.fold(clean(text.replace(/\n$/, ''))));
    this.#show();
  }

  gone(): void {
    this.#isGone = true;
    this.#end('leave');
  }

  /** At the prompt the line is always seen, beside that while something stands in it. */
  #show(): void {
    this.#screen.put(this.#waiting || this.#input.text !== '' ? this : undefined);
  }

  #enter(key: Key): void {
    const { text, cursor } = this.#input;
    if (key.meta) this.#input.insert('\n');
    else if (text.endsWith('\\') && cursor === text.length) this.#input.set(`${text.slice(0, -1)}\n`);
    else if (this.#waiting) {
      this.#screen.leave();
      this.#send();
    } else if (text.trim() === '') this.#input.set('');
    else this.#screen.aside(paint('dim', `queued until the turn is over: ${oneLine(text, 60)}`), () => this.#send());
  }

  #send(): void {
    this.#input.feed(undefined, { name: 'return' });
    this.#input.hide();
  }

  #sent(line: string): void {
    const text = this.#pastes.unfold(line);
    this.#options.history.add(text);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting({ text });
    else this.#queue.push(text);
  }

  #end(how: 'leave' | 'abort'): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) {
      this.#screen.leave();
      this.#input.hide();
      process.stderr.write('\n');
    }
    waiting?.(how);
  }

  #interrupt(): void {
    if (!this.#waiting) this.#options.stop();
    else if (this.#input.text !== '') {
      // Through readline, which gives back with Ctrl-Y what it cut.
      this.#input.set(this.#input.text);
      this.#input.feed(undefined, { ctrl: true, name: 'u' });
      this.#screen.line(paint('dim', 'cleared; Ctrl-Y brings it back'));
    } else if (this.#isWarned) this.#end('abort');
    else {
      this.#isWarned = true;
      this.#screen.line(paint('dim', 'Ctrl-C once more leaves'));
    }
  }

  #step(by: -1 | 1): void {
    const { text, cursor } = this.#input;
    const to = beside(text, cursor, by);
    if (to !== undefined) {
      this.#input.set(text, to);
      return;
    }
    const entry = this.#options.history.step(by, text);
    if (entry !== undefined) this.#input.set(this.#pastes.fold(entry));
  }

  #suspend(): void {
    this.#screen.put(undefined);
    keyboard.suspend(() => this.#show());
  }
}

/** The same column of the line above (-1) or below (1) in a text of several; undefined: there is none. */
function beside(text: string, cursor: number, by: -1 | 1): number | undefined {
  const start = text.lastIndexOf('\n', cursor - 1) + 1;
  const column = cursor - start;
  if (by < 0) {
    if (start === 0) return undefined;
    const above = start < 2 ? 0 : text.lastIndexOf('\n', start - 2) + 1;
    return Math.min(above + column, start - 1);
  }
  const end = text.indexOf('\n', cursor);
  if (end < 0) return undefined;
  const below = text.indexOf('\n', end + 1);
  return Math.min(end + 1 + column, below < 0 ? text.length : below);
}
