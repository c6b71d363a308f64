/** Tools that the host runs, and the gate call for one request. */
export { previewDigest } from './digest.ts';
export { approvalOf, askedByHook, asTaken, floorOf, gateCall } from './gate-call.ts';
export type { Grounds, HostRules } from './grounds.ts';
export { validatorOf } from './grounds.ts';
export type { Subagent, SubagentOptions, SubagentTool } from './subagent-tool.ts';
export { Suspended, subagentOf, subagentTool } from './subagent-tool.ts';
export type { HostTool } from './tool-registry.ts';
export { HostToolRegistry } from './tool-registry.ts';
export type { HostCall, RunToolOptions, ToolOutcome } from './tool-runner.ts';
export { runHostTool, supports, undeclaredCalls } from './tool-runner.ts';
