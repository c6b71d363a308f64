/** A line of a value as it is shown. */
export interface JsonRow {
  depth: number;
  /** Name of the member, as JSON writes it. */
  name?: string;
  text: string;
  kind: 'string' | 'number' | 'word' | 'bracket' | 'more';
  /** What stands behind it: a comma, or nothing. */
  end: string;
}

/** Characters of a text in one line: it has to fit on a small screen. */
const PIECE = 400;

/**
 * A value as JSON in lines, all of it: nothing is folded or left out. A long text takes several lines, so that a screen
 * shows one whole.
 */
export function jsonRows(value: unknown): JsonRow[] {
  const rows: JsonRow[] = [];
  add(rows, value, 0, undefined, '');
  return rows;
}

function add(rows: JsonRow[], value: unknown, depth: number, name: string | undefined, end: string): void {
  const named = name === undefined ? {} : { name: JSON.stringify(name) };
  if (typeof value === 'object' && value !== null) {
    const isList = Array.isArray(value);
    const [open, close] = isList ? ['[', ']'] : ['{', '}'];
    const members: [string | undefined, unknown][] = isList
      ? value.map((item) => [undefined, item])
      : Object.entries(value);
    if (members.length === 0) {
      rows.push({ depth, ...named, text: `${open}${close}`, kind: 'bracket', end });
      return;
    }
    rows.push({ depth, ...named, text: open, kind: 'bracket', end: '' });
    for (const [index, [key, member]] of members.entries()) {
      add(rows, member, depth + 1, key, index < members.length - 1 ? ',' : '');
    }
    rows.push({ depth, text: close, kind: 'bracket', end });
    return;
  }
  if (typeof value !== 'string') {
    const text = JSON.stringify(value) ?? 'undefined';
    rows.push({ depth, ...named, text, kind: typeof value === 'number' ? 'number' : 'word', end });
    return;
  }
  const text = JSON.stringify(value);
  for (let at = 0; at < text.length; at += PIECE) {
    const piece = text.slice(at, at + PIECE);
    const isLast = at + PIECE >= text.length;
    rows.push({
      depth,
      ...(at === 0 ? named : {}),
      text: piece,
      kind: at === 0 ? 'string' : 'more',
      end: isLast ? end : '',
    });
  }
}
