/** One turn: pipelines, buses, context, watchdog. */
export type {
  DispatchStatus,
  FunctionalEvents,
  LogEntry,
  LogLevel,
  ObservabilityEvents,
  StreamedContent,
  StreamedToolCall,
  Violation,
} from './buses.ts';
export { DispatchBuses } from './buses.ts';
export type { DispatchExecutorFn, DispatchOptions } from './dispatch.ts';
export type { DispatchContext } from './dispatch-context.ts';
export type { GenerationStats } from './generation-stats.ts';
export { statsOfUsage, usageOfStats } from './generation-stats.ts';
export type { DispatchExecutorHelpers, ReportOptions, ToolCallReport } from './helpers.ts';
export { inMemoryCallbacks } from './in-memory-callbacks.ts';
export { eventIdOf, recordEvent, recordsOf, steersOf } from './log-records.ts';
export type { Middleware } from './pipeline.ts';
export { ShownReports } from './shown-reports.ts';
export type { TurnOptions, TurnOutcome } from './turn.ts';
export { runTurn } from './turn.ts';
export type { ForeignEvent, TurnBackend, TurnInit } from './turn-context.ts';
export { storeEvent, TurnContext } from './turn-context.ts';
export type { TurnCallbacks, TurnInput, TurnRunnerConfig } from './turn-runner.ts';
export { TurnRunner } from './turn-runner.ts';
export type { WatchdogOptions } from './watchdog.ts';
export { checkWatchdog } from './watchdog.ts';
