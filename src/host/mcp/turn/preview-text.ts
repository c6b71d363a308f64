import type { DisplayContent } from '../../../contracts/index.ts';

/** Characters of a question that a client is given. */
const MAX = 20_000;

/** What moves a cursor, turns text around or takes no room: it could hide what a yes is for. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is made visible
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Text of an agent, a tool or a server as a client may be given it: what cannot be seen is written out. */
export function visible(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * What a person sees before saying yes, whole: the tool's preview, else its arguments. A yes counts for all of it, so
 * what a form cannot show whole is no question for it: `why` says so.
 */
export function previewText(
  preview: readonly DisplayContent[],
  args: Record<string, unknown> | undefined,
): { text: string } | { why: string } {
  const parts = preview.length > 0 ? preview.map(textOf) : [JSON.stringify(args ?? {}, null, 2)];
  const other = preview.find((_, n) => parts[n] === undefined);
  if (other) return { why: `part of what it would do is ${other.type}, which a form cannot show` };
  const text = visible(parts.join('\n'));
  if (text.length <= MAX) return { text };
  return { why: `what it would do takes ${text.length} characters, and a form shows ${MAX}` };
}

type Display<T extends string> = Extract<DisplayContent, { type: T }>;

function textOf(part: DisplayContent): string | undefined {
  switch (part.type) {
    case 'text':
    case 'terminal':
      return (part as Display<'text'>).text;
    case 'diff': {
      const { path, oldText, newText } = part as Display<'diff'>;
      const lines = (text: string, sign: string) => text.split('\n').map((line) => sign + line);
      return [path, ...(oldText === undefined ? [] : lines(oldText, '- ')), ...lines(newText, '+ ')].join('\n');
    }
    case 'table': {
      const { columns, rows } = part as Display<'table'>;
      return [columns, ...rows].map((row) => row.map(String).join(' | ')).join('\n');
    }
    default:
      return undefined;
  }
}
