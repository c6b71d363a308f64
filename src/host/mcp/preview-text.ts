import type { DisplayContent } from '../../contracts/index.ts';

/** Characters of a question that a client is given. */
const MAX = 4_000;

/** What a person sees before saying yes: the tool's preview, else its arguments. */
export function previewText(preview: readonly DisplayContent[], args: Record<string, unknown> | undefined): string {
  const text = preview.length > 0 ? preview.map(textOf).join('\n') : JSON.stringify(args ?? {}, null, 2);
  if (text.length <= MAX) return text;
  return `${text.slice(0, MAX)}\n… ${text.length - MAX} more characters`;
}

type Display<T extends string> = Extract<DisplayContent, { type: T }>;

function textOf(part: DisplayContent): string {
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
      return `<${part.type}>`;
  }
}
