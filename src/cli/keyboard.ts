import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

/** Milliseconds within which what was typed ahead of a question comes out of the terminal. */
const TYPED_AHEAD_MS = 60;

/** Somebody at the keyboard. */
export function hasKeyboard(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/**
 * Reads single key presses, until closed. What was typed before nobody asked for is thrown away: it was not meant as
 * an answer.
 */
export class Keys {
  readonly #waiting: ((key: string) => void)[] = [];
  readonly #read: (chunk: string) => void;

  private constructor() {
    this.#read = (chunk) => {
      const key = keyOf(chunk);
      if (key !== undefined) this.#waiting.shift()?.(key);
    };
    process.stdin.setEncoding('utf8');
    process.stdin.setRawMode(true);
    process.stdin.on('data', this.#read);
    process.stdin.resume();
  }

  static async open(): Promise<Keys> {
    const keys = new Keys();
    await wait(TYPED_AHEAD_MS);
    return keys;
  }

  /** One key; `ctrl-c`, `ctrl-d`, or `?` for what cannot be told apart. Undefined once the signal has fired. */
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
    });
  }

  close(): void {
    process.stdin.off('data', this.#read);
    process.stdin.setRawMode(false);
    process.stdin.pause();
  }
}

function keyOf(chunk: string): string | undefined {
  if (chunk.includes('\u0003')) return 'ctrl-c';
  if (chunk.includes('\u0004')) return 'ctrl-d';
  // Arrows and the like.
  if (chunk.startsWith('\u001b')) return undefined;
  const text = chunk.length > 1 ? chunk.replace(/[\r\n]+$/, '') : chunk;
  // Several characters at once are a paste, not an answer.
  return [...text].length === 1 ? text : '?';
}

export interface LineOptions {
  /** Text that stands there already. */
  prefill?: string;
  /** Earlier lines, newest first; the new one is added. */
  history?: string[];
  /** What is typed is not shown. */
  hidden?: boolean;
  signal?: AbortSignal;
}

/** One line of text. Undefined: Ctrl-D, or the signal has fired; `interrupted`: Ctrl-C. */
export function readLine(
  prompt: string,
  { prefill, history, hidden = false, signal }: LineOptions = {},
): Promise<{ text: string } | 'interrupted' | undefined> {
  return new Promise((resolve) => {
    const lines = createInterface({
      input: process.stdin,
      output: hidden ? nowhere() : process.stderr,
      terminal: true,
      ...(history ? { history: [...history] } : { historySize: 0 }),
    });
    const end = (result: { text: string } | 'interrupted' | undefined) => {
      signal?.removeEventListener('abort', leave);
      resolve(result);
      lines.close();
      if (hidden) process.stderr.write('\n');
    };
    const leave = () => end(undefined);
    signal?.addEventListener('abort', leave, { once: true });
    lines.on('SIGINT', () => end('interrupted'));
    lines.on('close', () => end(undefined));
    // Asked once the terminal shows nothing by itself any more.
    if (hidden) process.stderr.write(prompt);
    lines.question(prompt, (text) => {
      if (text.trim() !== '') history?.unshift(text);
      end({ text });
    });
    if (prefill) lines.write(prefill);
    if (signal?.aborted) leave();
  });
}

function nowhere(): Writable {
  return new Writable({ write: (_, __, done) => done() });
}
