import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import { text } from 'node:stream/consumers';

/** Milliseconds after which it is said that a pipe is being waited for, or it is not waited for any more. */
const PATIENCE_MS = 2000;

/**
 * What was asked for: words of the command line, else what is piped in; undefined: nothing. `waits`: until the pipe
 * ends; else only while something comes out of it.
 */
export async function promptOf(words: readonly string[], { waits }: { waits: boolean }): Promise<string | undefined> {
  const given = words.join(' ').trim();
  if (given !== '') return given;
  if (!isPiped()) return undefined;
  if (!(await isReady())) {
    if (!waits) return undefined;
    process.stderr.write('coxswain: there is no prompt yet: it is read from standard input, until that ends\n');
  }
  const piped = (await text(process.stdin)).trim();
  return piped === '' ? undefined : piped;
}

/** Something has come, or the end. */
async function isReady(): Promise<boolean> {
  const { stdin } = process;
  if (stdin.readableLength > 0 || stdin.readableEnded) return true;
  const late = AbortSignal.timeout(PATIENCE_MS);
  const seen = await once(stdin, 'readable', { signal: late }).catch((error: unknown) => {
    if (!late.aborted) throw error;
  });
  return seen !== undefined;
}

/** Neither a terminal nor /dev/null. */
function isPiped(): boolean {
  if (process.stdin.isTTY) return false;
  try {
    const kind = fstatSync(0);
    return kind.isFIFO() || kind.isFile() || kind.isSocket();
  } catch {
    return false;
  }
}
