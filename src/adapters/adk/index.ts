/** The adapter of this package's own runtime: its agents as AgentSessions. Google's ADK, another product, is in `../google-adk`. */

export { settling } from '../../runtime/session/index.ts';
export * from './adk-session.ts';
export * from './descriptor.ts';
export * from './project.ts';
export { sessionProvider } from './session-provider.ts';
export { snapshotOf } from './snapshot.ts';
export * from './source.ts';
export { endData } from './stream-end.ts';
