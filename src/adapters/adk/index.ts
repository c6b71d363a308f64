/** The runtime as AgentSessions. */
export * from './adk-session.ts';
export * from './descriptor.ts';
export * from './project.ts';
export { sessionProvider } from './session-provider.ts';
export { settling } from './settling.ts';
export { snapshotOf } from './snapshot.ts';
export * from './source.ts';
export { endData } from './stream-end.ts';
