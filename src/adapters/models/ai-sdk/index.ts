/** Models of the AI SDK's providers, and agents as such models. */
export { agentLanguageModel } from './agent-model.ts';
export type { AgentAsModel } from './agent-types.ts';
export type { AiSdkOptions, LanguageModel } from './ai-sdk.ts';
export { aiSdkModel } from './ai-sdk.ts';
