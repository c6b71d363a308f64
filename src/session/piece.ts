/** A part of a text that is read at several times. */
export interface Piece {
  text: string;
  /** It is all that there is. */
  isWhole: boolean;
  /** What is said behind it: where it begins and ends, and where the next one begins. */
  note: string;
}

/**
 * A piece of a text, which begins and ends with whole characters: pieces of which each begins where the one before it ends
 * are the text. `length` in UTF-16 units; a piece has one more or one less where a character would be cut in two.
 */
export function pieceOf(text: string, offset: number, length: number): Piece {
  let from = Math.min(offset, text.length);
  if (isWithin(text, from)) from--;
  let to = Math.min(from + length, text.length);
  if (isWithin(text, to)) to = to - 1 > from ? to - 1 : to + 1;
  const next = to < text.length ? `; the next piece begins at ${to}` : '';
  return {
    text: text.slice(from, to),
    isWhole: from === 0 && to === text.length,
    note: `[characters ${from} to ${to} of ${text.length}${next}]`,
  };
}

/** A half of a character is on each side. */
function isWithin(text: string, at: number): boolean {
  return at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff;
}
