import type { SessionKey, SessionService, StoredEvent } from '../../runtime/index.ts';
import { digestOf, evidenceOf, isAudited, sessionService, storeRefusal, verifyLog } from '../../runtime/index.ts';
import type { RedactionOptions } from '../../session/index.ts';
import { checkIs, checkRedaction } from '../../session/index.ts';
import { redactEvent, redactionsOf } from './redact-event.ts';
import { FORMAT, Sums } from './sums.ts';

export interface AuditExportOptions extends RedactionOptions {}

/**
 * The audit events of a session as JSON lines: a header, each audited event with its digest and link, and an end with the
 * head of the chain. Each line has a sum over itself and all lines before it. What the viewer may not see is hidden;
 * such a line says so, and keeps the digest of the whole.
 * @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND`
 * @example
 * ```ts
 * import { exportAudit } from 'coxswain/audit';
 * import { openSqlite } from 'coxswain/stores/sqlite';
 *
 * const key = { app: 'shop', userId: 'anna', id: 'order-7' };
 * for await (const line of exportAudit(openSqlite('shop.db'), key, { viewer: { id: 'kim', roles: ['auditor'] } })) {
 *   console.log(line);
 * }
 * ```
 */
export async function* exportAudit(
  service: SessionService,
  key: SessionKey,
  options: AuditExportOptions = {},
): AsyncGenerator<string> {
  checkIs(service, 'exportAudit: service', sessionService);
  checkRedaction(options, 'exportAudit: options');
  const record = await service.get(key);
  if (!record) throw storeRefusal.missing(key);
  const { events, lastSeq } = record;
  const { viewer } = options;
  const sums = new Sums();
  yield sums.line({ ...FORMAT, session: { ...key }, ...(viewer ? { viewer: viewer.id } : {}) });
  const redactions = redactionsOf(events, options);
  const audited = evidenceOf(events);
  for (const event of audited) yield sums.line(rowOf(event, redactEvent(withoutWords(event), redactions)));
  const { head } = verifyLog(events, { lastSeq });
  yield sums.line({ end: true, rows: audited.length, lastSeq, ...(head ? { head } : {}) });
}

/** Of an event that is evidence for its terms only, what was said with them is nobody's here. */
function withoutWords(event: StoredEvent): StoredEvent {
  if (isAudited(event) || !event.content) return event;
  const { content: _, ...rest } = event;
  return rest;
}

function rowOf(event: StoredEvent, shown: StoredEvent): Record<string, unknown> {
  const { seq, id, chain } = event;
  const { seq: _, id: __, chain: ___, ...content } = shown;
  return {
    seq,
    id,
    digest: digestOf(event),
    ...(chain ? { chain } : {}),
    ...(shown === event ? {} : { redacted: true }),
    event: content,
  };
}
