/**
 * Whether what was printed is what a page shows: line by line, `…` for any part of a line, and a line of `…` alone for any
 * number of lines.
 */
export function isAsShown(shown: string, printed: string): boolean {
  const pattern = linesOf(shown).map((line) =>
    line.trim() === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(escaped).join('.*')}\\n`,
  );
  return new RegExp(`^${pattern.join('')}$`).test(`${linesOf(printed).join('\n')}\n`);
}

function linesOf(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd());
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
