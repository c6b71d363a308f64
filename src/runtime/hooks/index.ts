/** Plugins and callbacks: what they are given and may return. */
export type { CallSignals, ToolEffects } from './callback-context.ts';
export { CallbackContext, signalsOf, ToolContext } from './callback-context.ts';
export type { EditableRequest } from './editable-request.ts';
export { Editing } from './editable-request.ts';
export { editEvent } from './event-hooks.ts';
export { hookContent, hookResponse } from './hook-values.ts';
export { failClosed, withGrace } from './hook-wait.ts';
export { hooksPlugin } from './hooks-plugin.ts';
export type { AgentNames, AgentNode, InvocationInfo } from './invocation-info.ts';
export type { AgentCallbacks, AgentHooks, BeforeToolReturn, HookName, Plugin } from './plugin.ts';
export { HookChain } from './plugin.ts';
export { securityPlugin } from './security-plugin.ts';
export { hookUserMessage } from './user-message-hooks.ts';
