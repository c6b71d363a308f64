import { isObject } from '../../base/index.ts';
import { parseJson } from '../../contracts/index.ts';
import type { ChainHead, ChainRow, StoredEvent } from '../../runtime/index.ts';
import { digestOf, verifyRows } from '../../runtime/index.ts';
import { checkIs, text as isText, iterable } from '../../session/index.ts';
import type { AuditFault, AuditReport } from './report.ts';
import { FORMAT, Sums } from './sums.ts';

type Members = Record<string, unknown>;

/**
 * Checks an exported file by itself: its lines, the digests of what is shown whole, the chain, and that its end is
 * there. The head that it gives is an anchor for {@link verifySession}.
 * @example
 * ```ts
 * import { createReadStream } from 'node:fs';
 * import { createInterface } from 'node:readline';
 * import { verifyExport } from 'coxswain/audit';
 *
 * const { ok, faults } = await verifyExport(createInterface({ input: createReadStream('audit.jsonl') }));
 * console.log(ok, faults);
 * ```
 */
export async function verifyExport(lines: Iterable<string> | AsyncIterable<string>): Promise<AuditReport> {
  checkIs(lines, 'verifyExport: lines', iterable);
  const faults: AuditFault[] = [];
  const rows: ChainRow[] = [];
  const lineOf = new Map<number, number>();
  const sums = new Sums();
  let line = 0;
  let redacted = 0;
  let end: Members | undefined;
  for await (const text of lines) {
    checkIs(text, 'verifyExport: a line', isText);
    if (text.trim() === '') continue;
    line++;
    const value = parse(text);
    const seq = typeof value?.seq === 'number' ? value.seq : 0;
    const fault = (message: string, kind: AuditFault['fault'] = 'malformed') =>
      faults.push({ seq, line, fault: kind, message });
    if (!value) fault('the line is no JSON object');
    else if (!sums.fits(value))
      fault('the line does not fit its sum: it was changed, or one before it is missing', 'changed');
    if (!value) continue;
    if (line === 1) {
      if (value.format !== FORMAT.format || value.version !== FORMAT.version)
        fault('the line is no header of an export');
    } else if (end) fault('there is a line behind the end');
    else if (value.end === true) end = value;
    else {
      const row = rowOf(value);
      if (!row) {
        fault('the line is no audited event');
        continue;
      }
      if (value.redacted === true) redacted++;
      else if (!fitsDigest(value, row)) fault(`event ${row.seq} does not fit its digest`, 'changed');
      rows.push(row);
      lineOf.set(row.seq, line);
    }
  }
  const report = verifyRows(rows);
  for (const fault of report.faults) {
    const at = lineOf.get(fault.seq);
    faults.push({ ...fault, ...(at === undefined ? {} : { line: at }) });
  }
  checkEnd(end, rows, report.head, faults, line);
  faults.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  return { ...report, ok: report.ok && faults.length === 0, faults, redacted };
}

function checkEnd(
  end: Members | undefined,
  rows: readonly ChainRow[],
  head: ChainHead | undefined,
  faults: AuditFault[],
  line: number,
): void {
  const seq = rows.at(-1)?.seq ?? 0;
  if (!end) faults.push({ seq, line, fault: 'missing', message: 'the end of the export is missing' });
  else if (end.rows !== rows.length) {
    faults.push({
      seq,
      line,
      fault: 'missing',
      message: `the export has ${rows.length} of ${String(end.rows)} events`,
    });
  } else if (head && (end.head as ChainHead | undefined)?.hash !== head.hash) {
    faults.push({ seq, line, fault: 'changed', message: 'the end names another head than the chain comes to' });
  }
}

function parse(text: string): Members | undefined {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function rowOf({ seq, id, digest, chain, event }: Members): ChainRow | undefined {
  if (typeof seq !== 'number' || typeof id !== 'string' || typeof digest !== 'string' || !isObject(event)) {
    return undefined;
  }
  if (chain === undefined) return { seq, id, digest };
  if (!isObject(chain) || typeof chain.after !== 'string' || typeof chain.hash !== 'string') return undefined;
  return { seq, id, digest, chain: { after: chain.after, hash: chain.hash, batch: chain.batch === true } };
}

function fitsDigest({ event }: Members, { id, seq, digest }: ChainRow): boolean {
  try {
    return digestOf({ ...(event as unknown as StoredEvent), id, seq }) === digest;
  } catch {
    return false;
  }
}
