import { onTestFinished } from 'vitest';

/** Unhandled rejections from now until the answer is asked for. */
export function watchRejections(): () => Promise<unknown[]> {
  const seen: unknown[] = [];
  const note = (reason: unknown) => void seen.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  return async () => {
    // They are raised after the microtasks of a turn of the event loop.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    return seen;
  };
}
