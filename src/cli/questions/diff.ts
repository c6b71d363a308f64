/** A line of a difference: kept, taken out or put in; `gap`: so many lines are left out. */
export type DiffLine = { mark: ' ' | '-' | '+'; text: string } | { mark: 'gap'; count: number };

const CONTEXT = 2;
/** Lines times lines above which the middle is shown as replaced whole. */
const MAX_CELLS = 4_000_000;

/** What changes between two texts, line by line, with a little of what stays around it. */
export function diffLines(oldText: string | undefined, newText: string): DiffLine[] {
  const before = linesOf(oldText ?? '');
  const after = linesOf(newText);
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end++;
  }
  const middle = changed(before.slice(start, before.length - end), after.slice(start, after.length - end));
  const kept = (lines: string[]): DiffLine[] => lines.map((text) => ({ mark: ' ', text }));
  return withGaps([...kept(before.slice(0, start)), ...middle, ...kept(before.slice(before.length - end))]);
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** By the longest common subsequence. */
function changed(before: string[], after: string[]): DiffLine[] {
  const rows = before.length;
  const columns = after.length;
  if (rows * columns > MAX_CELLS) {
    return [
      ...before.map((text): DiffLine => ({ mark: '-', text })),
      ...after.map((text): DiffLine => ({ mark: '+', text })),
    ];
  }
  const width = columns + 1;
  const length = new Uint32Array((rows + 1) * width);
  const at = (row: number, column: number) => length[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      length[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: DiffLine[] = [];
  let row = 0;
  let column = 0;
  while (row < rows || column < columns) {
    const old = before[row];
    const fresh = after[column];
    if (row < rows && column < columns && old === fresh) {
      lines.push({ mark: ' ', text: old ?? '' });
      row++;
      column++;
    } else if (row < rows && (column >= columns || at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ mark: '-', text: old ?? '' });
      row++;
    } else {
      lines.push({ mark: '+', text: fresh ?? '' });
      column++;
    }
  }
  return lines;
}

function withGaps(lines: DiffLine[]): DiffLine[] {
  const near = new Set<number>();
  for (const [index, line] of lines.entries()) {
    if (line.mark === ' ') continue;
    for (let i = index - CONTEXT; i <= index + CONTEXT; i++) near.add(i);
  }
  const shown: DiffLine[] = [];
  for (const [index, line] of lines.entries()) {
    const last = shown.at(-1);
    if (near.has(index)) shown.push(line);
    else if (last?.mark === 'gap') last.count++;
    else shown.push({ mark: 'gap', count: 1 });
  }
  return shown;
}
