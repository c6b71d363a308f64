/** The host's side: who is in control. */

export type { AgentHost, AuditOptions, OpenOptions } from './agent-host.ts';
export type { ApprovalFilter, ApprovalPlace, OpenApproval, SessionPlace } from './approvals.ts';
export { Approvals } from './approvals.ts';
export { createHost } from './host.ts';
export { HostedSession } from './hosted-session.ts';
export type { AnswerFor, ApprovalQuestion, HostOptions } from './options.ts';
export * from './policy/index.ts';
export { createSessionFactory } from './session-factory.ts';
export { type Subagent, type SubagentOptions, type SubagentTool, subagentTool } from './subagent.ts';
export type { Recovery } from './unfinished.ts';
