import type { DisplayContent, ReportedRequest } from '../../contracts/index.ts';
import { argsLine, clean, lineWidth, paint } from '../terminal/index.ts';
import { diffLines } from './diff.ts';

/**
 * What a person sees before saying yes, in lines ready for the terminal: the preview, and the arguments whole where one
 * line has no room for them. A yes counts for all of them, and many tools have no preview. A diff alone stands for
 * them; with `all` not even that does.
 */
export function questionLines(
  { name = '', args, approval }: Pick<ReportedRequest, 'name' | 'args' | 'approval'>,
  { all = false } = {},
): string[] {
  const preview = approval?.preview ?? [];
  const lines = previewLines(preview);
  const isShown =
    !isCut(name, args, all ? describedWidth() : argsWidth(name)) ||
    (!all && preview.length > 0 && preview.every(({ type }) => type === 'diff'));
  return isShown ? lines : [...lines, ...argumentLines(args)];
}

/** The line that names the call leaves out some of its arguments. */
export function isCut(name: string, args: Record<string, unknown> | undefined, width = argsWidth(name)): boolean {
  return argsLine(args, width) !== argsLine(args, Infinity, Infinity);
}

/** Characters for arguments after the name of a call. */
export function argsWidth(name: string): number {
  return lineWidth() - name.length - 4;
}

/** Characters for arguments where a request is described in a line of its own. */
export function describedWidth(): number {
  return lineWidth() - 30;
}

function argumentLines(args: Record<string, unknown> | undefined): string[] {
  return Object.entries(args ?? {}).flatMap(([key, value]) => {
    const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
    const [first = '', ...rest] = clean(text).split('\n');
    return [`  ${paint('bold', clean(key))}: ${first}`, ...rest.map((line) => `    ${line}`)];
  });
}

/** Nothing is left out of a line. */
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
      // Whole: the terminal wraps what is wider than itself.
      const line = (cells: unknown[]) => cells.map(cellText).join(' | ');
      return [paint('bold', line(columns)), ...rows.map(line)];
    }
    default:
      return [paint('dim', `(${clean(part.type)}: cannot be shown here)`)];
  }
}

function cellText(cell: unknown): string {
  const text = typeof cell === 'object' && cell !== null ? JSON.stringify(cell) : String(cell);
  return clean(text.replaceAll(/\s*\n\s*/g, ' '));
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
