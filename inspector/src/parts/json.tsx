import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { jsonRows } from './json-rows.ts';
import { Lines } from './lines.tsx';
import type { Seen } from './seen.ts';
import { Visible } from './visible.tsx';

const MAX_INDENT = 24;

/** A value as JSON, whole. */
export function Json({
  value,
  part,
  label,
  seen,
}: {
  value: unknown;
  part: string;
  label: string;
  seen?: Seen;
}): JSX.Element {
  const rows = useMemo(() => jsonRows(value), [value]);
  return (
    <Lines
      part={part}
      label={label}
      count={rows.length}
      class="json"
      {...(seen ? { seen } : {})}
      line={(index) => {
        const row = rows[index];
        if (!row) return null;
        return (
          <span class="row" style={{ paddingInlineStart: `${Math.min(row.depth, MAX_INDENT) * 1.25}em` }}>
            {row.depth > MAX_INDENT && <span class="depth">{row.depth}▸ </span>}
            {row.name !== undefined && (
              <span class="name">
                <Visible text={row.name} dir="ltr" />:{' '}
              </span>
            )}
            <span class={row.kind}>
              <Visible text={row.text} dir="ltr" />
            </span>
            {row.end}
          </span>
        );
      }}
    />
  );
}
