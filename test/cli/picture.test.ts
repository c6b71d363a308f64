import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { linesOf, pictureFile, terminalPicture } from '../../scripts/terminal-picture.ts';
import { noTerminal } from './coxswain.ts';

const missing = noTerminal();

test.skipIf(missing !== undefined)(
  `the picture in README is what a terminal shows: \`npm run picture\` writes it${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  async () => {
    const kept = readFileSync(pictureFile, 'utf8');
    expect(await terminalPicture()).toBe(kept);
    expect(kept).not.toMatch(/(href|src|url\(|@import|<script)/);
  },
);

test('a screen is read as a terminal shows it: a line that is begun again, cleared, coloured', () => {
  const lines = linesOf('one\r\n\u001b[36mwait\u001b[39m\r\u001b[K\u001b[1;32mdone\u001b[22m!\u001b[39m');
  const shown = lines.map((line) => line.map(({ text, style }) => `${text}${style && `(${style})`}`).join(''));
  expect(shown).toEqual(['one', 'd(b g)o(b g)n(b g)e(b g)!(g)']);
});
