// What moves a cursor, turns text around or takes no room, but for the tab and the line feed.
const unseen =
  /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u17b4\u17b5\u{1d159}\u{1d173}-\u{1d17a}]/gu;

const joining =
  '[\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Mymr}\\p{scx=Khmr}]';
const picture = '\\p{Extended_Pictographic}';

/** Joiners of scripts and pictures that would read otherwise without them, and the selector of a coloured picture. */
const needed = new RegExp(
  `(?<=${joining})[\\u200c\\u200d](?=${joining})|(?<=${picture}[\\ufe0f\\u{1f3fb}-\\u{1f3ff}]?)\\u200d(?=${picture})|(?<=${picture})\\ufe0f|(?<=[0-9#*])\\ufe0f(?=\\u20e3)`,
  'uy',
);

/**
 * Text of an agent, a tool or a server as a person may be shown it who says yes to it: a character that nobody sees could
 * hide what the yes is for.
 * @param instead what stands for one. Default: its number, `\u200b` or `\u{e0041}`
 */
export function visible(text: string, instead: (character: string) => string = numbered): string {
  return text.replaceAll('\r\n', '\n').replaceAll(unseen, (character, at: number, whole: string) => {
    needed.lastIndex = at;
    return needed.test(whole) ? character : instead(character);
  });
}

function numbered(character: string): string {
  const number = (character.codePointAt(0) ?? 0).toString(16);
  return number.length > 4 ? `\\u{${number}}` : `\\u${number.padStart(4, '0')}`;
}
