import type { Row } from './result.ts';

const head = ['', 'subject', 'measure', 'regime', 'value', 'CPU', 'floor', '× floor', '× loop', 'peer', 'target', ''];

/** The rows as text, columns aligned. */
export function table(rows: readonly Row[]): string {
  const lines = [head, ...rows.map(cells)];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          column > 3 && column < 11 ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cells(row: Row): string[] {
  const { limit, of } = row.target;
  return [
    row.workload,
    row.subject,
    row.measure,
    row.regime,
    figure(row.value, row.unit),
    row.cpu === null ? '' : figure(row.cpu, 'ms'),
    row.floor === null ? '' : figure(row.floor, row.unit),
    row.ratio === null ? '' : `${round(row.ratio)}×`,
    row.loops === null ? '' : `${round(row.loops)}×`,
    row.peer === null ? '' : figure(row.peer, row.unit),
    `≤ ${of === 'value' ? figure(limit, row.unit) : `${limit}×${of === 'peer' ? ' peer' : ''}`}`,
    row.pass ? 'met' : 'missed',
  ];
}

function figure(value: number, unit: Row['unit']): string {
  return unit === 'times' ? `${round(value)}×` : `${round(value)} ${unit}`;
}

/** Three digits that mean something. */
function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(value < 0.01 ? 2 : 3)));
}
