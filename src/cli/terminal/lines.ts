/**
 * The lines of a file. A line ends with `\n` (and a `\r` before it) and with nothing else: `node:readline` also ends
 * one at U+2028 and U+2029, which may stand in JSON. A failing input fails the loop.
 */
export async function* linesIn(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let begun: string[] = [];
  const whole = (end: string): string => {
    const line = begun.length === 0 ? end : [...begun, end].join('');
    begun = [];
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  };
  for await (const piece of input) {
    const text = typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
    let from = 0;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      yield whole(text.slice(from, at));
      from = at + 1;
    }
    if (from < text.length) begun.push(text.slice(from));
  }
  const rest = whole(decoder.decode());
  if (rest !== '') yield rest;
}
