import { CoxswainError, messageOf } from '../../contracts/index.ts';
import type { Finding } from '../kit/index.ts';
import { isFailure, kitInput } from '../kit/index.ts';

/** Known deviations: the reason of each, by id of the requirement. */
export type ExpectedFailures = Readonly<Record<string, string>>;

/**
 * `advice`: an advisory or informational requirement that does not hold. `expected`: it fails as is known. `stale`: it
 * is said to fail, and does not (any more), or there is no such requirement.
 */
export type RequirementVerdict = 'passed' | 'failed' | 'advice' | 'untested' | 'expected' | 'stale';

export interface ReportRow extends Finding {
  verdict: RequirementVerdict;
  /** Of an expected failure. */
  reason?: string;
}

export interface Report {
  target: string;
  requirements: string;
  rows: ReportRow[];
  /** No mandatory or advertised requirement fails unexpectedly, and no expectation is stale. */
  conformant: boolean;
}

/** Joins what was found with what is known. */
export function makeReport(
  target: string,
  requirements: string,
  findings: readonly Finding[],
  expected: ExpectedFailures = {},
): Report {
  const rows = findings.map((finding) => rowOf(withoutExcuse(finding, expected), expected[finding.id]));
  const found = new Set(findings.map(({ id }) => id));
  for (const [id, reason] of Object.entries(expected)) {
    if (found.has(id)) continue;
    const base = { id, title: 'no such requirement', tier: 'MANDATORY' as const, cites: '' };
    rows.push({ ...base, status: 'untested', verdict: 'stale', reason, note: 'it was not tested', transcript: [] });
  }
  const conformant = rows.every(({ verdict }) => verdict !== 'failed' && verdict !== 'stale');
  return { target, requirements, rows, conformant };
}

/** What was not tested because of a known deviation could hide any other. */
function withoutExcuse(finding: Finding, expected: ExpectedFailures): Finding {
  if (finding.needs === undefined || expected[finding.needs] === undefined) return finding;
  const found = `it was not tested: ${finding.note}; give the known ones to runConformance as "known"`;
  return { ...finding, status: 'failed', expected: 'a requirement that is tested', found };
}

function rowOf(finding: Finding, reason: string | undefined): ReportRow {
  if (reason !== undefined) return { ...finding, reason, verdict: finding.status === 'failed' ? 'expected' : 'stale' };
  if (finding.status !== 'failed') return { ...finding, verdict: finding.status };
  return { ...finding, verdict: isFailure(finding) ? 'failed' : 'advice' };
}

/**
 * Reads a file of expected failures: a JSON object of id to reason.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 */
export function parseExpectedFailures(text: string, where: string): ExpectedFailures {
  kitInput.text(text, 'parseExpectedFailures: text');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw bad(`${where} is not JSON: ${messageOf(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bad(`${where} is not an object of requirement ids and reasons`);
  }
  for (const [id, reason] of Object.entries(value)) {
    if (typeof reason !== 'string' || reason.trim() === '')
      throw bad(`${where}: ${id} has no reason; say why it fails`);
  }
  return value as ExpectedFailures;
}

function bad(message: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}
