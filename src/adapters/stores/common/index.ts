/** Stored events as data: checked, copied, taken back. */
export type { RestoredSession, SessionMaintenance } from './maintenance.ts';
export { exportSession, hasMaintenance, importSession, rewind, turnStarts } from './maintenance.ts';
