import type { ChainFault, ChainReport } from '../../runtime/index.ts';

export interface AuditFault extends Omit<ChainFault, 'fault'> {
  fault: ChainFault['fault'] | 'malformed';
  /** Of an exported file. */
  line?: number;
}

export interface AuditReport extends Omit<ChainReport, 'faults'> {
  faults: AuditFault[];
  /** Exported events that are not shown whole: their place is checked, their content is the exporter's word. */
  redacted: number;
}

/** A line for each fault, then what was found. */
export function describeReport({ ok, audited, linked, redacted, head, faults }: AuditReport): string[] {
  const lines = faults.map(
    ({ line, fault, message }) => `${line === undefined ? '' : `line ${line}: `}${fault}: ${message}`,
  );
  const what = `${audited} audited events, ${linked} linked${redacted > 0 ? `, ${redacted} redacted` : ''}`;
  if (!ok && faults.length === 0) lines.push('there is no chain: the log was written by a version that kept none');
  return [...lines, `${ok ? 'ok' : 'NOT OK'}: ${what}${head ? `; head ${head.seq}:${head.hash}` : ''}`];
}
