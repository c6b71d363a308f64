/** One call of an agent over MCP: turn, questions, result. */
export type { AgentTool } from './agent-tool.ts';
export { mcpToolOf, outputSchema } from './agent-tool.ts';
export { byParking, byPushing } from './asking.ts';
export type { Answers, CallFrame } from './call.ts';
export { AgentCall } from './call.ts';
export { bad, checkNumbers, factoryOptions, hostNames, mcpInput, pagesOf } from './check-options.ts';
export { HeldSessions } from './held-sessions.ts';
export { TurnPlaces } from './logged-turns.ts';
export type { McpHttpOptions, McpOptions, McpServeOptions, McpStdioOptions, OpenQuestion } from './options.ts';
export { DEFAULT_ANSWER_MS } from './options.ts';
export type { ParkedCall } from './request-state.ts';
export { parkedCalls } from './request-state.ts';
export { loadNodeSdk, loadServerSdk, loadStdioSdk } from './sdk.ts';
