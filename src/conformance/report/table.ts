import type { Report, ReportRow, RequirementVerdict } from './verdict.ts';

const words: Record<RequirementVerdict, string> = {
  passed: 'ok',
  failed: 'FAILED',
  advice: 'advice',
  untested: 'untested',
  expected: 'known',
  stale: 'STALE',
};

/**
 * A report for people: a line each, those that were not tested by reason, then what is wrong with its transcript, then
 * the sums.
 */
export function tableOf({ target, requirements, rows, conformant }: Report): string {
  const lines = [`${target}: requirements ${requirements}`, ''];
  for (const row of rows) {
    if (row.verdict === 'untested') continue;
    const why = row.verdict === 'expected' || row.verdict === 'stale' ? row.reason : row.note;
    const note = why === undefined ? '' : ` (${why})`;
    lines.push(`${words[row.verdict].padEnd(9)}${row.id.padEnd(14)}${row.tier.padEnd(14)}${row.title}${note}`);
  }
  lines.push(...untestedLines(rows));
  const told = rows.filter(({ verdict }) => verdict === 'failed' || verdict === 'advice');
  for (const row of told) lines.push('', describeFinding(row));
  lines.push('', `${sums(rows)}: ${conformant ? 'conformant' : 'NOT conformant'}`);
  const [first] = rows.flatMap(({ needs }) => needs ?? []);
  if (first !== undefined) lines.push(`begin with ${first}: what needs it was not tested`);
  return `${lines.join('\n')}\n`;
}

const MAX_IDS = 6;

/** One line for each reason. */
function untestedLines(rows: readonly ReportRow[]): string[] {
  const byReason = new Map<string, string[]>();
  for (const { id, verdict, note = 'no reason is given' } of rows) {
    if (verdict !== 'untested') continue;
    byReason.set(note, [...(byReason.get(note) ?? []), id]);
  }
  return [...byReason].map(([note, ids]) => {
    const shown =
      ids.length > MAX_IDS
        ? `${ids.slice(0, MAX_IDS - 1).join(', ')} and ${ids.length - MAX_IDS + 1} more`
        : ids.join(', ');
    return `${words.untested.padEnd(9)}${ids.length}: ${note} (${shown})`;
  });
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
