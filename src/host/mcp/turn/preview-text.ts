import type { DisplayContent } from '../../../contracts/index.ts';
import { visible } from '../../../session/index.ts';

/**
 * What a person sees before saying yes, whole: the tool's preview, else its arguments. A yes counts for all of it, so
 * what a form cannot show is no question for it: `why` says so.
 */
export function previewText(
  preview: readonly DisplayContent[],
  args: Record<string, unknown> | undefined,
): { text: string } | { why: string } {
  const parts = preview.length > 0 ? preview.map(textOf) : [JSON.stringify(args ?? {}, null, 2)];
  const other = preview.find((_, n) => parts[n] === undefined);
  if (other) return { why: `part of what it would do is ${other.type}, which a form cannot show` };
  return { text: visible(parts.join('\n')) };
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
      return [columns, ...rows].map((row) => row.map(cellOf).join(' | ')).join('\n');
    }
    default:
      return undefined;
  }
}

const cellOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
