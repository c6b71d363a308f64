import type { Key } from 'node:readline';
import { emitKeypressEvents } from 'node:readline';

/** Whoever is given what is typed. */
export interface Focus {
  key(text: string | undefined, key: Key): void;
  /** Text that came in one piece, with its line feeds: it is nobody's key presses. */
  paste(text: string): void;
  /** The terminal is not there any more: nobody will type anything. */
  gone(): void;
  /** Several characters that come at once are a paste too, whatever they are. */
  readonly takesSingleKeys?: boolean;
}

/** Somebody at the keyboard. */
export function hasKeyboard(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

const ENDS = ['end', 'error'];
const NOT_STOPPED_MS = 200;
const CTRL_C = '\u0003';
const BRACKETS_ON = '\u001b[?2004h';
const BRACKETS_OFF = '\u001b[?2004l';

/**
 * The terminal's keys and pastes, for whoever took them last. Without anybody stdin is left alone, as other programs
 * expect it.
 */
class Keyboard {
  readonly #stack: Focus[] = [];
  /** A paste whose end has not come yet. */
  #pasted: string | undefined;
  /** What the keys of this piece spell was given away as a paste already. */
  #isGiven = false;
  #isGone = false;
  readonly #restore = () => this.#leaveTerminal();

  /** Gives the keys to somebody; the function that is returned takes them back. */
  take(focus: Focus): () => void {
    this.#stack.push(focus);
    if (this.#isGone) queueMicrotask(() => focus.gone());
    else if (this.#stack.length === 1) this.#open();
    return () => {
      const at = this.#stack.lastIndexOf(focus);
      if (at < 0) return;
      this.#stack.splice(at, 1);
      if (this.#stack.length === 0) this.#close();
    };
  }

  /** Who is given the keys once `focus` has given them back. */
  below(focus: Focus): Focus | undefined {
    return this.#stack[this.#stack.lastIndexOf(focus) - 1];
  }

  /** Stops the process as Ctrl-Z does elsewhere; `back` is called when it goes on. */
  suspend(back: () => void): void {
    if (process.platform === 'win32') return;
    this.#leaveTerminal();
    const goOn = () => {
      process.off('SIGCONT', goOn);
      clearTimeout(timer);
      if (this.#stack.length === 0 || this.#isGone) return;
      this.#enterTerminal();
      back();
    };
    process.on('SIGCONT', goOn);
    // Where nobody could wake it the system does not stop a process.
    const timer = setTimeout(goOn, NOT_STOPPED_MS);
    process.kill(process.pid, 'SIGTSTP');
  }

  /** Leaves the terminal to another program; the function that is returned takes it back. */
  lend(): () => void {
    if (this.#stack.length === 0) return () => {};
    this.#close();
    return () => {
      if (this.#stack.length > 0 && !this.#isGone) this.#open();
    };
  }

  #open(): void {
    process.stdin.setEncoding('utf8');
    // Before the listener that makes keys of it.
    process.stdin.prependListener('data', this.#seePiece);
    emitKeypressEvents(process.stdin);
    process.stdin.on('keypress', this.#seeKey);
    for (const end of ENDS) process.stdin.on(end, this.#seeEnd);
    process.once('exit', this.#restore);
    this.#enterTerminal();
    process.stdin.resume();
  }

  #close(): void {
    process.stdin.off('data', this.#seePiece);
    process.stdin.off('keypress', this.#seeKey);
    if (!this.#isGone) for (const end of ENDS) process.stdin.off(end, this.#seeEnd);
    process.off('exit', this.#restore);
    this.#pasted = undefined;
    this.#leaveTerminal();
    process.stdin.pause();
  }

  #enterTerminal(): void {
    process.stdin.setRawMode(true);
    if (process.env.TERM !== 'dumb') process.stderr.write(BRACKETS_ON);
  }

  #leaveTerminal(): void {
    if (process.env.TERM !== 'dumb') process.stderr.write(BRACKETS_OFF);
    if (!this.#isGone) process.stdin.setRawMode(false);
  }

  readonly #seeEnd = (): void => {
    if (this.#isGone) return;
    this.#isGone = true;
    for (const focus of [...this.#stack]) focus.gone();
  };

  /** Terminals that put no brackets around a paste send it in few pieces; nobody types several lines at once. */
  readonly #seePiece = (piece: string): void => {
    this.#isGiven = false;
    const focus = this.#stack.at(-1);
    if (this.#pasted !== undefined) {
      // A terminal that never ends a paste would take the keyboard away for ever.
      if (piece === CTRL_C) this.#endPaste();
      return;
    }
    if (!focus || piece.includes('\u001b')) return;
    const text = asText(piece);
    const isPaste = focus.takesSingleKeys ? [...text.replace(/\n$/, '')].length > 1 : isPasted(text);
    if (!isPaste) return;
    this.#isGiven = true;
    focus.paste(text);
  };

  readonly #seeKey = (text: string | undefined, key: Key): void => {
    if (key.name === 'paste-start') this.#pasted ??= '';
    else if (key.name === 'paste-end') this.#endPaste();
    else if (this.#pasted !== undefined) this.#pasted += key.sequence ?? '';
    else if (!this.#isGiven) this.#stack.at(-1)?.key(text, key);
  };

  #endPaste(): void {
    const text = asText(this.#pasted ?? '');
    this.#pasted = undefined;
    if (text !== '') this.#stack.at(-1)?.paste(text);
  }
}

/** Lines that come at once, and a tab among other characters: alone it is a key. */
function isPasted(text: string): boolean {
  return /\n./s.test(text) || (text.length > 1 && text.includes('\t'));
}

function asText(piece: string): string {
  return piece.replaceAll(/\r\n?/g, '\n');
}

export const keyboard = new Keyboard();
