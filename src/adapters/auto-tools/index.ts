/** Automatic tool execution: ask a model, run what it calls, ask again. The runtime's own loop and scheduler. */
export type { RetryToolOptions } from '../../gate/index.ts';
export { retryTool } from '../../gate/index.ts';
export type { ToolCache, ToolCacheOptions } from './cache.ts';
export { cacheToolResults } from './cache.ts';
export type { AutoToolsInput, ChatCall, ChatResult, ChatTurn } from './chat.ts';
export { Chat } from './chat.ts';
export { executeCalls } from './execute-calls.ts';
export { AutoToolsError } from './failure.ts';
export { generateContent, generateWithAutoTools } from './generate.ts';
export type {
  AutoToolsOptions,
  AutoToolsPhase,
  CallToApprove,
  ExecuteOptions,
  GenerateOptions,
} from './options.ts';
export type { AutoToolsResponse } from './response.ts';
export { extractCalls, extractText } from './response.ts';
export type { AutoToolsStreamEvent } from './stream.ts';
export { AutoToolsStream, streamContent, streamWithAutoTools } from './stream.ts';
export type { FunctionDeclaration, ToolFunction } from './tools.ts';
export { FunctionTools } from './tools.ts';
