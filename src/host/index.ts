/** The host's side: who is in control. */

export type { AgentHost, AuditOptions, OpenOptions } from './agent-host.ts';
export type { ApprovalFilter, ApprovalPlace, OpenApproval, SessionPlace } from './approvals/approvals.ts';
export { Approvals } from './approvals/approvals.ts';
export type { Recovery } from './approvals/unfinished.ts';
export { createHost } from './host.ts';
export { HostedSession } from './hosted/hosted-session.ts';
export * from './policy/index.ts';
export { createSessionFactory } from './session-factory.ts';
export type { AnswerFor, ApprovalQuestion, HostOptions } from './terms/options.ts';
export { type Subagent, type SubagentOptions, type SubagentTool, subagentTool } from './tools/subagent-tool.ts';
