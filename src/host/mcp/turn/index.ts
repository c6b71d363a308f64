/** One call of an agent over MCP: turn, questions, result. */
export type { AgentTool } from './agent-tool.ts';
export { mcpToolOf, outputSchema } from './agent-tool.ts';
export { byParking, byPushing, modesOf, showsCards } from './asking.ts';
export { AgentCall, moot } from './call.ts';
export type { Answers, Asking, CallFrame, CallWatcher } from './call-frame.ts';
export { UNWATCHED } from './call-frame.ts';
export { bad, checkNumbers, factoryOptions, hostNames, mcpInput, pagesOf } from './check-options.ts';
export { HeldSessions } from './held-sessions.ts';
export { LoggedTurns, TurnPlaces } from './logged-turns.ts';
export { isAsked, openQuestions } from './open-questions.ts';
export type {
  McpHttpOptions,
  McpOptions,
  McpServeOptions,
  McpStdioOptions,
  McpTaskOptions,
  OpenQuestion,
  TaskSupport,
} from './options.ts';
export { DEFAULT_ANSWER_MS, DEFAULT_TASK_AFTER_MS, DEFAULT_TASKS } from './options.ts';
export type { Reply } from './questions.ts';
export { answerOfForm } from './questions.ts';
export type { ParkedCall } from './request-state.ts';
export { parkedCalls } from './request-state.ts';
export { callToolResult, openLines } from './result.ts';
export { loadNodeSdk, loadServerSdk, loadStdioSdk } from './sdk.ts';
export type { Turn } from './turn.ts';
export type { AskingModes, ClientQuestion } from './url-question.ts';
export { answerOfAddress, clientQuestion, isUrlQuestion } from './url-question.ts';
