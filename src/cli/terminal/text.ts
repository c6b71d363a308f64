import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/** Colour where stderr is a terminal that wants it (NO_COLOR, FORCE_COLOR). */
export function paint(format: Format, text: string): string {
  return styleText(format, text, { stream: process.stderr });
}

// Everything that moves a cursor or turns text around, but for the tab and the line feed.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Text of a model, a tool or a file as a terminal may be given it: an escape sequence in it could forge a question
 * or hide what a person is asked about.
 */
export function clean(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(control, '\ufffd');
}

/** One line of at most `width` characters. */
export function oneLine(text: string, width: number): string {
  const flat = clean(text.replaceAll(/\s*\n\s*/g, ' ').trim());
  const characters = [...flat];
  return characters.length > width ? `${characters.slice(0, Math.max(1, width - 1)).join('')}…` : flat;
}

/** Arguments of a call in one line: `path="todo.md" content="# TODO…"`. */
export function argsLine(args: Record<string, unknown> | undefined, width: number, each = 60): string {
  const parts = Object.entries(args ?? {}).map(
    ([key, value]) => `${key}=${oneLine(JSON.stringify(value) ?? '', each)}`,
  );
  return oneLine(parts.join(' '), width);
}

/** Characters of a line of the terminal. */
export function lineWidth(): number {
  return Math.max(40, process.stderr.columns || 100);
}
