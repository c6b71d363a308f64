import { styleText } from 'node:util';
import { visible } from '../../session/index.ts';

type Format = Parameters<typeof styleText>[0];

/** Colour where stderr is a terminal that wants it (NO_COLOR, FORCE_COLOR). */
export function paint(format: Format, text: string): string {
  return styleText(format, text, { stream: process.stderr });
}

/**
 * Text of a model, a tool or a file as a terminal may be given it: an escape sequence in it could forge a question
 * or hide what a person is asked about.
 */
export function clean(text: string): string {
  return visible(text, () => '\ufffd');
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
