/** zod 4 schemas of everything that crosses a boundary. Importing this loads zod; importing the contracts does not. */
export * from './approvals.ts';
export * from './content.ts';
export * from './descriptor.ts';
export * from './events.ts';
export * from './json-schema.ts';
export * from './open.ts';
export * from './policy.ts';
export * from './protocol.ts';
export * from './session.ts';
export * from './tools.ts';
