/** What works over any AgentSession, whoever implements it. */
export * from './admission.ts';
export * from './answer.ts';
export * from './audit.ts';
export * from './input.ts';
export * from './lazy.ts';
export * from './mode.ts';
export { nearest } from './nearest.ts';
export * from './pipe.ts';
export * from './principal.ts';
export * from './queue.ts';
export * from './redact.ts';
export * from './run.ts';
export * from './session-doors.ts';
export * from './shape.ts';
export * from './time.ts';
export * from './trace.ts';
export * from './usage.ts';
export * from './view.ts';
