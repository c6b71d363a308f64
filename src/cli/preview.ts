import type { DisplayContent } from '../contracts/index.ts';
import { diffLines } from './diff.ts';
import { clean, lineWidth, oneLine, paint } from './text.ts';

/** What a person sees before saying yes, in lines ready for the terminal. Nothing is left out of a changed line. */
export function previewLines(preview: readonly DisplayContent[]): string[] {
  return preview.flatMap((part) => linesOf(part));
}

function linesOf(part: DisplayContent): string[] {
  switch (part.type) {
    case 'diff':
      return diff(part as Extract<DisplayContent, { type: 'diff' }>);
    case 'text':
      return clean((part as { text: string }).text).split('\n');
    case 'terminal': {
      const { text, exitCode } = part as { text: string; exitCode?: number };
      return [...clean(text).split('\n'), ...(exitCode === undefined ? [] : [paint('dim', `exit code ${exitCode}`)])];
    }
    case 'table': {
      const { columns, rows } = part as { columns: string[]; rows: unknown[][] };
      const line = (cells: unknown[]) => oneLine(cells.map(String).join(' | '), lineWidth());
      return [paint('bold', line(columns)), ...rows.map(line)];
    }
    default:
      return [paint('dim', `(${clean(part.type)}: cannot be shown here)`)];
  }
}

function diff({ path, oldText, newText }: Extract<DisplayContent, { type: 'diff' }>): string[] {
  const title = oldText === undefined ? `${clean(path)} (new file)` : clean(path);
  const lines = diffLines(oldText, newText).map((line) => {
    if (line.mark === 'gap') return paint('dim', `  … ${line.count} unchanged`);
    const text = `${line.mark} ${clean(line.text)}`;
    if (line.mark === ' ') return text;
    return paint(line.mark === '+' ? 'green' : 'red', text);
  });
  return [paint('bold', title), ...(lines.length > 0 ? lines : [paint('dim', '  (no change)')])];
}
