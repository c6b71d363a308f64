import type { Key } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import type { Focus } from './keyboard.ts';
import { keyboard } from './keyboard.ts';

/** Milliseconds within which what was typed ahead of a question comes out of the terminal. */
const TYPED_AHEAD_MS = 60;

/**
 * Single key presses, until closed. What was typed before anybody was asked is no answer, and neither is a paste: both
 * go to the line below, if somebody types one.
 */
export class Keys implements Focus {
  readonly takesSingleKeys = true;
  /** Nobody has a line to keep them in. */
  droppedSome = false;
  readonly #waiting: ((key: string) => void)[] = [];
  #isGone = false;
  #release: () => void = () => {};

  private constructor() {}

  static async open(): Promise<Keys> {
    const keys = new Keys();
    const ahead: Focus = {
      key: (text, key) => keys.#keep(ahead, (focus) => focus.key(text, key)),
      paste: (text) => keys.#keep(ahead, (focus) => focus.paste(text)),
      gone: () => {},
    };
    const release = keyboard.take(ahead);
    await wait(TYPED_AHEAD_MS);
    keys.#release = keyboard.take(keys);
    release();
    return keys;
  }

  /** One key; `ctrl-c`, `ctrl-d`, or `?` for what means nothing. Undefined once the signal has fired. */
  next(signal: AbortSignal): Promise<string | undefined> {
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve(undefined);
        return;
      }
      const take = (key: string) => {
        signal.removeEventListener('abort', leave);
        resolve(key);
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1);
        resolve(undefined);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(take);
      if (this.#isGone) this.gone();
    });
  }

  key(text: string | undefined, key: Key): void {
    const pressed = nameOf(text, key);
    if (pressed !== undefined) this.#waiting.shift()?.(pressed);
  }

  paste(text: string): void {
    if (text.includes('\u0003')) this.#waiting.shift()?.('ctrl-c');
    else if (text.includes('\u0004')) this.#waiting.shift()?.('ctrl-d');
    else {
      this.#keep(this, (focus) => focus.paste(text));
      this.#waiting.shift()?.('?');
    }
  }

  gone(): void {
    this.#isGone = true;
    for (const take of this.#waiting.splice(0)) take('ctrl-d');
  }

  close(): void {
    this.#release();
  }

  #keep(from: Focus, give: (focus: Focus) => void): void {
    const below = keyboard.below(from);
    if (below) give(below);
    else this.droppedSome = true;
  }
}

function nameOf(text: string | undefined, { ctrl, meta, name }: Key): string | undefined {
  if (ctrl && (name === 'c' || name === 'd')) return `ctrl-${name}`;
  // Arrows and the like.
  if (text === undefined || ctrl || meta) return undefined;
  return /\s/.test(text) ? '?' : text;
}
