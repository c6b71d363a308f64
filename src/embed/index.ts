/** A host over agents of the runtime, in one program. */
export type { AgentModule, AgentModuleContext } from './agent-module.ts';
export { createHost, type EmbeddedHostOptions, type HostOf } from './create-host.ts';
