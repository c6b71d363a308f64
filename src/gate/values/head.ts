/** The longest beginning whose JSON takes at most so many bytes, without half a character at its end. */
export function headOf(text: string, maxBytes: number): string {
  let bytes = 2;
  let end = 0;
  for (const character of text) {
    bytes += costOf(character);
    if (bytes > maxBytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** The end of a text that takes so many bytes at most as a JSON string, cut at a character. */
export function tailOf(text: string, maxBytes: number): string {
  let bytes = 2;
  let start = text.length;
  while (start > 0) {
    const from = start - (isPair(text, start - 2) ? 2 : 1);
    bytes += costOf(text.slice(from, start));
    if (bytes > maxBytes) break;
    start = from;
  }
  return text.slice(start);
}

function isPair(text: string, at: number): boolean {
  return at >= 0 && (text.codePointAt(at) ?? 0) > 0xffff;
}

/** Bytes that a character takes in JSON; a lone surrogate is escaped. */
function costOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x22 || code === 0x5c) return 2;
  if (code < 0x20) return '\b\t\n\f\r'.includes(character) ? 2 : 6;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  if (code >= 0xd800 && code <= 0xdfff) return 6;
  return code < 0x10000 ? 3 : 4;
}

/** Bytes of a value's JSON, UTF-8. */
export function jsonBytes(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}
