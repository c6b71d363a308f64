import { unreachable } from '../../base/index.ts';
import { describeFinding } from './table.ts';
import type { Report, ReportRow } from './verdict.ts';

/** A report in the XML that continuous integration reads. */
export function junitOf({ target, requirements, rows }: Report): string {
  const failures = rows.filter(isWrong).length;
  const skipped = rows.filter((row) => !isWrong(row) && row.verdict !== 'passed').length;
  const name = `conformance ${requirements}: ${target}`;
  const sums = `tests="${rows.length}" failures="${failures}" errors="0" skipped="${skipped}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${xml(name)}" ${sums}>`,
    `  <testsuite name="${xml(name)}" ${sums}>`,
    ...rows.map((row) => caseOf(row)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

const isWrong = ({ verdict }: ReportRow) => verdict === 'failed' || verdict === 'stale';

function caseOf(row: ReportRow): string {
  const open = `    <testcase classname="${row.tier}" name="${xml(`${row.id} ${row.title}`)}"`;
  switch (row.verdict) {
    case 'passed':
      return `${open}/>`;
    case 'failed':
      return `${open}><failure message="${xml(`expected ${row.expected}`)}">${xml(describeFinding(row))}</failure></testcase>`;
    case 'stale':
      return `${open}><failure message="an expected failure that is none">${xml(row.reason ?? '')}</failure></testcase>`;
    case 'advice':
    case 'untested':
    case 'expected':
      return `${open}><skipped message="${xml(`${row.verdict}: ${row.reason ?? row.note ?? row.found ?? ''}`)}"/></testcase>`;
    default:
      return unreachable(row.verdict, 'a verdict');
  }
}

const marks: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML 1.0, section 2.2: most control characters and lone surrogates may not stand in a document at all. */
function xml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[&<>"]/g, (mark) => marks[mark] ?? mark)
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd');
}
