/**
 * The audit events of a session: verified in the store, exported, verified in an export.
 * Stability: stable.
 *
 * @packageDocumentation
 */
export type { AuditReport } from '../adapters/audit/index.ts';
export { exportAudit, verifyExport, verifySession } from '../adapters/audit/index.ts';
