/**
 * The evidence of a session: checked where it is stored, exported, checked there.
 * Stability: stable.
 *
 * @packageDocumentation
 */
export type { AuditReport } from '../adapters/audit/index.ts';
export { describeReport, exportAudit, verifyExport, verifySession } from '../adapters/audit/index.ts';
