/** The one place where a handler is called, and wrappers of tools. */
export type { OperationKind, OperationMessage } from './operation.ts';
export { Operation } from './operation.ts';
export type { RetryToolOptions } from './retry-tool.ts';
export { retryTool } from './retry-tool.ts';
export type { CallEnd, CallRun, HooksBehind } from './run-call.ts';
export { isTooLate, resultAfter, resultInstead, runCall, valueInstead } from './run-call.ts';
export { providedTool, runHandler } from './run-handler.ts';
export { DEFAULT_TOOL_CONCURRENCY, mayBegin, RunQueue, runInTurn } from './run-queue.ts';
export type { HandlerEnd, RunBounds } from './run-within.ts';
export { runWithin } from './run-within.ts';
export type { Flights, SharedRuns } from './share-runs.ts';
export { shareRuns } from './share-runs.ts';
export { misfit, unfitReturn } from './unfit-return.ts';
