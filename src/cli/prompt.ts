import { fstatSync } from 'node:fs';
import { text } from 'node:stream/consumers';

/** What was asked for: words of the command line, else what is piped in; undefined: nothing. */
export async function promptOf(words: readonly string[]): Promise<string | undefined> {
  const given = words.join(' ').trim();
  if (given !== '') return given;
  if (!isPiped()) return undefined;
  const piped = (await text(process.stdin)).trim();
  return piped === '' ? undefined : piped;
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
