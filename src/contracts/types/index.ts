/** Types of what crosses a boundary, with pure rules about them. */
export * from './answer-limits.ts';
export type * from './approvals.ts';
export * from './content.ts';
export type * from './descriptor.ts';
export * from './event-notes.ts';
export type * from './events.ts';
export type * from './journal.ts';
export * from './lifecycle.ts';
export type * from './model.ts';
export * from './open-request.ts';
export type * from './policy.ts';
export * from './prices.ts';
export type * from './schema-like.ts';
export type * from './session.ts';
export type * from './telemetry.ts';
export * from './tools.ts';
export type * from './with-deps.ts';
export type * from './with-output.ts';
