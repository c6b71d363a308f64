import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTerminal, Place, workspaceAgent } from '../test/cli/coxswain.ts';

/**
 * Makes `docs/images/terminal.svg` of a real run at a pseudo-terminal: `npm run picture`. Text stays text, and nothing is
 * loaded from elsewhere. The same program gives the same picture: what differs each time, the id of a session, is not shown.
 */
export const pictureFile = join(import.meta.dirname, '../docs/images/terminal.svg');

const prompt = 'replace "latin-1" with "utf-8" in shed.yaml';
const COLUMNS = 100;
const CELL = { width: 8.4, height: 19 };
const EDGE = 16;

/** What a terminal shows by the codes that the command line writes. */
const styles: Readonly<Record<string, string>> = { 1: 'b', 2: 'd', 31: 'r', 32: 'g', 33: 'y', 36: 'c' };
const ends: Readonly<Record<string, readonly string[]>> = { 22: ['b', 'd'], 39: ['r', 'g', 'y', 'c'] };

interface Cell {
  text: string;
  style: string;
}

export async function terminalPicture(): Promise<string> {
  using place = new Place();
  const args = ['run', workspaceAgent, prompt, '--workspace', place.files];
  const { raw, code } = await onTerminal(place, args, [['? help]', 'y']]);
  if (code !== 0) throw new Error(`the run ended with ${code}: ${raw}`);
  const typed = [...`$ npx coxswain run agent.ts '${prompt}'`].map((text) => ({ text, style: 'b' }));
  const lines = [typed, ...linesOf(raw)].filter((line) => !/^session [0-9a-f-]{36}$/.test(textOf(line)));
  return svgOf(lines.flatMap(wrapped));
}

/** The screen, line by line: a return begins the line again, and `CSI K` clears what stands behind. */
export function linesOf(raw: string): Cell[][] {
  const lines: Cell[][] = [[]];
  let column = 0;
  const on = new Set<string>();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal acts upon
  for (const [token, codes, action] of raw.matchAll(/\u001b\[([0-9;?]*)([A-Za-z])|[\s\S]/gu)) {
    const line = lines.at(-1) ?? [];
    if (action === 'K') line.length = Math.min(line.length, column);
    else if (action === 'm') {
      for (const each of (codes ?? '').split(';')) {
        const style = styles[each];
        if (style !== undefined) on.add(style);
        for (const gone of ends[each] ?? []) on.delete(gone);
      }
    } else if (token === '\r') column = 0;
    else if (token === '\n') {
      lines.push([]);
      column = 0;
    } else if (action === undefined) line[column++] = { text: token, style: [...on].sort().join(' ') };
  }
  return lines;
}

const textOf = (line: readonly Cell[]): string => line.map(({ text }) => text).join('');

function wrapped(line: Cell[]): Cell[][] {
  if (line.length <= COLUMNS) return [line];
  return [line.slice(0, COLUMNS), ...wrapped(line.slice(COLUMNS))];
}

function svgOf(all: readonly Cell[][]): string {
  const lines = all.slice(0, all.findLastIndex((line) => line.length > 0) + 1);
  const width = Math.round(COLUMNS * CELL.width + 2 * EDGE);
  const height = lines.length * CELL.height + 2 * EDGE;
  const rows = lines.map((line, at) => {
    const y = EDGE + 14 + at * CELL.height;
    return `<text x="${EDGE}" y="${y}" xml:space="preserve">${spans(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
<title id="title">A terminal: an agent wants to change a file, shows the change, and changes it after an approval</title>
<style>
text { font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6e6e6; white-space: pre }
.b { font-weight: bold } .d { fill: #9aa0a6 } .r { fill: #ff8a80 } .g { fill: #8bd49c } .y { fill: #f2cc60 } .c { fill: #7fd5ea }
</style>
<rect width="100%" height="100%" rx="8" fill="#1c1f24"/>
${rows.join('\n')}
</svg>
`;
}

function spans(line: readonly Cell[]): string {
  const runs: Cell[] = [];
  for (const { text, style } of line) {
    const last = runs.at(-1);
    if (last?.style === style) last.text += text;
    else runs.push({ text, style });
  }
  return runs
    .map(({ text, style }) => (style === '' ? escaped(text) : `<tspan class="${style}">${escaped(text)}</tspan>`))
    .join('');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

if (process.argv[1] === import.meta.filename) {
  mkdirSync(dirname(pictureFile), { recursive: true });
  writeFileSync(pictureFile, await terminalPicture());
}
