import { structuredPatch } from 'diff';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { Lines } from './lines.tsx';
import type { Seen } from './seen.ts';
import { Visible } from './visible.tsx';

interface DiffRow {
  mark: ' ' | '+' | '-' | '…';
  text: string;
}

/** Characters of a line that are shown in one. */
const PIECE = 400;
/** Milliseconds after which the whole is shown as replaced. */
const TIMEOUT_MS = 1000;
const words: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', ' ': '', '…': '' };

/** What changes between two texts, line by line. */
export function diffRows(oldText: string, newText: string): DiffRow[] {
  const patch = structuredPatch('', '', oldText, newText, '', '', { context: 3, timeout: TIMEOUT_MS });
  if (!patch) return [...cut('-', oldText), ...cut('+', newText)];
  let at = 1;
  return patch.hunks.flatMap(({ oldStart, oldLines, lines }) => {
    const gap = oldStart - at;
    at = oldStart + oldLines;
    const rows = lines
      .filter((line) => !line.startsWith('\\'))
      .flatMap((line) => cut(line[0] as DiffRow['mark'], line.slice(1)));
    return gap > 0 ? [{ mark: '…' as const, text: `${gap} unchanged lines` }, ...rows] : rows;
  });
}

function cut(mark: DiffRow['mark'], text: string): DiffRow[] {
  return text.split('\n').flatMap((line) => {
    const pieces: DiffRow[] = [];
    for (let at = 0; at === 0 || at < line.length; at += PIECE) pieces.push({ mark, text: line.slice(at, at + PIECE) });
    return pieces;
  });
}

export function Diff({
  path,
  oldText,
  newText,
  part,
  seen,
}: {
  path: string;
  oldText?: string | undefined;
  newText: string;
  part: string;
  seen?: Seen;
}): JSX.Element {
  const rows = useMemo(() => diffRows(oldText ?? '', newText), [oldText, newText]);
  return (
    <figure class="diff">
      <figcaption>
        <code>
          <Visible text={path} />
        </code>
        {oldText === undefined && <span class="chip">new file</span>}
      </figcaption>
      <Lines
        part={part}
        label={`Changes of ${path}`}
        count={rows.length}
        {...(seen ? { seen } : {})}
        line={(index) => {
          const row = rows[index];
          if (!row) return null;
          return (
            <span class={`row mark-${row.mark === '+' ? 'in' : row.mark === '-' ? 'out' : 'same'}`}>
              <span class="mark" aria-hidden="true">
                {row.mark}
              </span>
              {words[row.mark] && <span class="said">{words[row.mark]}: </span>}
              <Visible text={row.text} />
            </span>
          );
        }}
      />
    </figure>
  );
}
