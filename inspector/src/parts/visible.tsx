import type { JSX } from 'preact';

/**
 * Characters that are not seen, or that change the order of others: controls, soft hyphens, marks and overrides of
 * direction, joiners, separators, tags, half characters. What is shown must be what would run.
 */
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const names: Readonly<Record<string, string>> = {
  '\u200b': 'zero-width space',
  '\u200c': 'zero-width non-joiner',
  '\u200d': 'zero-width joiner',
  '\u200e': 'left-to-right mark',
  '\u200f': 'right-to-left mark',
  '\u202a': 'left-to-right embedding',
  '\u202b': 'right-to-left embedding',
  '\u202c': 'end of a direction',
  '\u202d': 'left-to-right override',
  '\u202e': 'right-to-left override',
  '\u2066': 'left-to-right isolate',
  '\u2067': 'right-to-left isolate',
  '\u2068': 'isolate',
  '\u2069': 'end of an isolate',
  '\ufeff': 'zero-width no-break space',
  '\u00ad': 'soft hyphen',
};

const codeOf = (character: string) =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Text of somebody else's: its direction stays inside of it, and what is not seen in it is shown as its number. */
export function Visible({ text, dir = 'auto' }: { text: string; dir?: 'auto' | 'ltr' }): JSX.Element {
  const parts: (string | JSX.Element)[] = [];
  let at = 0;
  for (const match of text.matchAll(UNSEEN)) {
    const [character] = match;
    parts.push(text.slice(at, match.index));
    const name = names[character] ?? 'invisible character';
    parts.push(
      <span class="unseen" title={name}>
        {codeOf(character)}
      </span>,
    );
    at = match.index + character.length;
  }
  parts.push(text.slice(at));
  return (
    <bdi class="visible" dir={dir}>
      {parts}
    </bdi>
  );
}
