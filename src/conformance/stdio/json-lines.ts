import type { Readable } from 'node:stream';

/** Characters of one line; a longer one is no message but a fault. */
export const MAX_LINE = 16 * 1024 * 1024;

/** Splits a byte stream into its lines, `\n` or `\r\n`; the last one needs no end. */
export async function* linesOf(input: Readable, maxLine = MAX_LINE): AsyncGenerator<string> {
  input.setEncoding('utf8');
  // Pieces are joined once a line, or a long line that comes in small pieces would be copied over and over.
  let pieces: string[] = [];
  let length = 0;
  for await (const chunk of input as AsyncIterable<string>) {
    let from = 0;
    for (let at = chunk.indexOf('\n'); at >= 0; at = chunk.indexOf('\n', from)) {
      pieces.push(chunk.slice(from, at));
      const line = pieces.join('').replace(/\r$/, '');
      if (line.trim() !== '') yield line;
      pieces = [];
      length = 0;
      from = at + 1;
    }
    if (from >= chunk.length) continue;
    pieces.push(chunk.slice(from));
    length += chunk.length - from;
    if (length > maxLine) throw new RangeError(`a line of more than ${maxLine} characters`);
  }
  if (length > 0) yield pieces.join('');
}
