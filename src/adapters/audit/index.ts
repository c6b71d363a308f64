/** The evidence of a session: checked where it is stored, carried elsewhere, checked there. */
export type { AuditExportOptions } from './export.ts';
export { exportAudit } from './export.ts';
export type { AuditFault, AuditReport } from './report.ts';
export { describeReport } from './report.ts';
export { verifyExport } from './verify-export.ts';
export { verifySession } from './verify-session.ts';
