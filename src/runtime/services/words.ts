import { checkIs, text } from '../../base/index.ts';

/** Written without spaces between words, or with particles glued to them: found within one another. */
const unspaced = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Bopomofo}\p{sc=Hangul}\p{sc=Yi}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}\p{sc=Tai_Le}\p{sc=New_Tai_Lue}\p{sc=Tai_Tham}\p{sc=Tai_Viet}\p{sc=Ahom}\p{sc=Javanese}\p{sc=Balinese}`;
const letter = String.raw`\p{L}\p{N}\p{M}`;
const glued = `[[${unspaced}]&&[${letter}]]`;
const emoji = String.raw`\p{Regional_Indicator}{2}|\p{Extended_Pictographic}\p{Emoji_Modifier}?`;

/** A word ends where its script does: Latin names stand in Chinese text without spaces around them. */
const word = new RegExp(String.raw`${glued}[${glued}\p{M}]*|[[${letter}]--${glued}]+|${emoji}`, 'gv');
/** Long enough to hold several words. */
const inner = new RegExp(`${glued}.`, 'sv');
const piece = new RegExp(`${glued}|${emoji}`, 'v');
/** A space of no width stands between words of these scripts, or does not: it makes no difference. */
const innerSpace = new RegExp(`(?<=[${unspaced}])\u200b+(?=[${unspaced}])`, 'gv');
const wordSpace = '\u200b';
/** Joiners, soft hyphens, variation selectors: how a word looks, not which it is. */
const ignorable = /(?!\u200b)\p{Default_Ignorable_Code_Point}/gu;

/** One form for all spellings of a text: compatibility composition, case folded. */
export function fold(text: string): string {
  const plain = text.normalize('NFKC').replace(ignorable, '');
  // Up and down again, so that ß, ẞ and ss come out alike; σ is one letter wherever it stands; i is one with or without
  // its dot, since a Turkish name is searched for on any keyboard.
  const cased = plain.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').replaceAll('i\u0307', 'i');
  const folded = cased.normalize('NFKC');
  return folded.includes(wordSpace) ? folded.replace(innerSpace, '') : folded;
}

/** Distinct words of a query that are looked for; later ones are not. */
export const MAX_QUERY_WORDS = 1000;

/** What is also found within another word: text of a script without spaces, an emoji. */
export function isPiece(text: string): boolean {
  return piece.test(text);
}

/** The distinct words of a text, folded; each emoji is one. */
export function wordsOf(text: string): Set<string> {
  return new Set(fold(text).match(word) ?? []);
}

let segmenter: Intl.Segmenter | undefined;

/**
 * What a query is looked for with: its words, and the words within those that are written without spaces, so that a
 * whole sentence finds what shares words with it. The sentence itself counts too: who has it as it stands comes first.
 */
export function queryWords(query: string): Set<string> {
  checkIs(query, 'search: query', text);
  const found = new Set<string>();
  for (const [one] of fold(query).matchAll(word)) {
    if (found.has(one)) continue;
    found.add(one);
    if (inner.test(one)) {
      segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
      for (const { segment } of segmenter.segment(one)) {
        found.add(segment);
        if (found.size >= MAX_QUERY_WORDS) break;
      }
    }
    if (found.size >= MAX_QUERY_WORDS) break;
  }
  return found;
}

/** A text made ready to be searched. */
export interface Searchable {
  readonly folded: string;
  readonly words: ReadonlySet<string>;
}

export function searchable(text: string): Searchable {
  return { folded: fold(text), words: wordsOf(text) };
}

/** How many of the words a text has: whole words, or pieces of it. */
export function hits(query: ReadonlySet<string>, text: Searchable): number {
  let count = 0;
  for (const one of query) {
    if (text.words.has(one) || (isPiece(one) && text.folded.includes(one))) count++;
  }
  return count;
}
