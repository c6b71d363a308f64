import type { Report, ReportRow, RequirementVerdict } from './verdict.ts';

const words: Record<RequirementVerdict, string> = {
  passed: 'ok',
  failed: 'FAILED',
  advice: 'advice',
  untested: 'untested',
  expected: 'known',
  stale: 'STALE',
};

/** A report for people: a line each, then what is wrong with its transcript, then the sums. */
export function tableOf({ target, requirements, rows, conformant }: Report): string {
  const lines = [`${target}: requirements ${requirements}`, ''];
  for (const row of rows) {
    const why = row.verdict === 'expected' || row.verdict === 'stale' ? row.reason : row.note;
    const note = why === undefined ? '' : ` (${why})`;
    lines.push(`${words[row.verdict].padEnd(9)}${row.id.padEnd(14)}${row.tier.padEnd(14)}${row.title}${note}`);
  }
  const told = rows.filter(({ verdict }) => verdict === 'failed' || verdict === 'advice');
  for (const row of told) lines.push('', describeFinding(row));
  lines.push('', `${sums(rows)}: ${conformant ? 'conformant' : 'NOT conformant'}`);
  return `${lines.join('\n')}\n`;
}

function sums(rows: readonly ReportRow[]): string {
  const order: RequirementVerdict[] = ['passed', 'failed', 'stale', 'expected', 'advice', 'untested'];
  const counted = order.map((verdict) => [verdict, rows.filter((row) => row.verdict === verdict).length] as const);
  return counted.flatMap(([verdict, count]) => (count > 0 ? [`${count} ${verdict}`] : [])).join(', ');
}

/** A failure as text: requirement, expectation, what was found, transcript. */
export function describeFinding(finding: Omit<ReportRow, 'verdict'>): string {
  const { id, title, tier, cites, expected, found, transcript } = finding;
  const lines = [`${id} (${tier}) ${title}`, `  from:     ${cites}`, `  expected: ${expected}`, `  found:    ${found}`];
  if (transcript.length > 0) lines.push('  transcript:', ...transcript.map((line) => `    ${line}`));
  return lines.join('\n');
}
