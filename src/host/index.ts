/** The host's side: who is in control. */

export type { AgentHost } from './agent-host.ts';
export type {
  ApprovalFilter,
  ApprovalPlace,
  Approvals,
  OpenApproval,
  Recovery,
} from './approvals/index.ts';
export type {
  GivenUpWebhook,
  Schedule,
  ScheduleState,
  Schedules,
  SubmitOptions,
  SubmittedTurn,
  Webhooks,
  Work,
  WorkOptions,
} from './background/index.ts';
export { createHost } from './host.ts';
export * from './policy/index.ts';
export { createSessionFactory } from './session-factory.ts';
export type { AnswerFor, AuditOptions, HostOptions, OpenOptions } from './terms/index.ts';
export type { Subagent, SubagentOptions, SubagentTool } from './tools/index.ts';
export { subagentTool } from './tools/index.ts';
