/** The runtime as AgentSessions. */
export * from './adk-session.ts';
export * from './descriptor.ts';
export * from './project.ts';
export * from './source.ts';
export { endData } from './stream-end.ts';
