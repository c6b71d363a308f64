/** Models of the AI SDK's providers. */
export type { AiSdkOptions, LanguageModel } from './ai-sdk.ts';
export { aiSdkModel } from './ai-sdk.ts';
