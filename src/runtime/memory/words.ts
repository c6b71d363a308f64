/** One form for all spellings of a text: compatibility composition, case folded. */
export function fold(text: string): string {
  // Upper before lower: ß and ẞ, final and inner sigma come out alike.
  return text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}

const word = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts that write words without spaces, or glue particles to them. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;

/** Distinct words of a query that are looked for; later ones are not. */
export const MAX_QUERY_WORDS = 1000;

/** A word that is also found within another, since its script puts no spaces between words. */
export function isUnspaced(text: string): boolean {
  return unspaced.test(text);
}

/** The distinct words of a text, folded. */
export function wordsOf(text: string): Set<string> {
  return new Set(fold(text).match(word) ?? []);
}

/** A text made ready to be searched. */
export interface Searchable {
  readonly folded: string;
  readonly words: ReadonlySet<string>;
}

export function searchable(text: string): Searchable {
  return { folded: fold(text), words: wordsOf(text) };
}

/** How many of the words a text has: whole words, or pieces of text in scripts without spaces. */
export function hits(query: ReadonlySet<string>, text: Searchable): number {
  let count = 0;
  for (const one of query) {
    if (text.words.has(one) || (unspaced.test(one) && text.folded.includes(one))) count++;
  }
  return count;
}
