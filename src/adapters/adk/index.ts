/** The adapter of this package's own runtime: its agents as AgentSessions. Google's ADK, another product, is in `../google-adk`. */

export type { DescribeOptions } from '../../runtime/session/index.ts';
export { describeAgent, endData, forkAt, settling } from '../../runtime/session/index.ts';
export { cursorOf, parseCursor } from '../../session/resume/index.ts';
export * from './adk-session.ts';
export * from './project.ts';
export { sessionProvider } from './session-provider.ts';
export { snapshotOf } from './snapshot.ts';
export * from './source.ts';
