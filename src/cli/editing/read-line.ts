import type { Key } from 'node:readline';
import type { Focus } from '../terminal/index.ts';
import { keyboard } from '../terminal/index.ts';
import { LineInput } from './line-input.ts';

export interface LineOptions {
  /** Text that stands there already. */
  prefill?: string;
  /** What is typed is not shown. */
  hidden?: boolean;
  signal?: AbortSignal;
}

/** An answer that is typed, of one line. Undefined: Ctrl-D, or the signal has fired; `interrupted`: Ctrl-C. */
export function readLine(
  prompt: string,
  { prefill, hidden = false, signal }: LineOptions = {},
): Promise<{ text: string } | 'interrupted' | undefined> {
  return new Promise((resolve) => {
    const end = (result: { text: string } | 'interrupted' | undefined) => {
      signal?.removeEventListener('abort', leave);
      release();
      input.close();
      if (hidden || result === undefined || result === 'interrupted') process.stderr.write('\n');
      resolve(result);
    };
    const leave = () => end(undefined);
    const input = new LineInput({ prompt, onLine: (text) => end({ text }) });
    const focus: Focus = {
      key(text, key) {
        if (isCtrl(key, 'c')) end('interrupted');
        else if (isCtrl(key, 'd') && input.text === '') end(undefined);
        else input.feed(text, key);
      },
      gone: leave,
      paste: (text) => input.insert(text.replace(/\n$/, '')),
    };
    // Before the prompt, so that the terminal itself shows nothing of what is hidden.
    const release = keyboard.take(focus);
    if (prefill) input.set(prefill);
    if (hidden) process.stderr.write(prompt);
    else input.draw();
    signal?.addEventListener('abort', leave, { once: true });
    if (signal?.aborted) leave();
  });
}

export function isCtrl(key: Key, name: string): boolean {
  return key.ctrl === true && key.name === name;
}
