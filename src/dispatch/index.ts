/** Bring your own executor: a loop of one's own, with sessions, policy, approvals and events around it. */

export type { DispatchAgent, DispatchAgentOptions } from './agent/dispatch-agent.ts';
export { dispatchAgent } from './agent/dispatch-agent.ts';
export type { ByteSource } from './records/bytes.ts';
export { bytesInMemory } from './records/bytes.ts';
export { toolCallChecksum } from './records/checksum.ts';
export { mergeTiers } from './records/config-tiers.ts';
export type { MediaKind, MediaStashEntry, ModalityHazard, RawMedia, TrustTier } from './records/media.ts';
export { MEDIA_KINDS, Media, MODALITY_HAZARDS, TRUST_TIERS } from './records/media.ts';
export type { MessageRole, RawMessage } from './records/message.ts';
export { Message } from './records/message.ts';
export { Records } from './records/records.ts';
export { Registry } from './records/registry.ts';
export type { SpooledArtifactConstructor, SpoolReader } from './records/spooled-artifact.ts';
export { SpooledArtifact } from './records/spooled-artifact.ts';
export type { RawThought } from './records/thought.ts';
export { Thought } from './records/thought.ts';
export type { RawToolCall } from './records/tool-call.ts';
export { ToolCall } from './records/tool-call.ts';
export { isErrorResult } from './tools/call-value.ts';
export { FileSpoolStore } from './tools/file-spool-store.ts';
export type { UnsupportedMediaPolicy } from './tools/media-rendering.ts';
export {
  attributesOf,
  DEFAULT_STASH_KEYS,
  enveloped,
  envelopeMarks,
  isFirstParty,
  safeFilename,
  safeMimeType,
  textInsteadOf,
  UNTRUSTED_NOTE,
} from './tools/media-rendering.ts';
export type { SpoolStore } from './tools/spool-store.ts';
export { InMemorySpoolStore } from './tools/spool-store.ts';
export type { RawTool, ToolRunner, ToolRunOptions, TypedTool } from './tools/tool.ts';
export { Tool } from './tools/tool.ts';
export type { Collision } from './tools/tool-registry.ts';
export { ToolRegistry } from './tools/tool-registry.ts';
export type {
  DispatchStatus,
  FunctionalEvents,
  GenerationStats,
  LogEntry,
  LogLevel,
  ObservabilityEvents,
  StreamedContent,
  StreamedToolCall,
  Violation,
} from './turn/buses.ts';
export { DispatchBuses } from './turn/buses.ts';
export type { DispatchExecutorFn, DispatchOptions } from './turn/dispatch.ts';
export type { DispatchContext } from './turn/dispatch-context.ts';
export type { DispatchExecutorHelpers, ReportOptions, ToolCallReport } from './turn/helpers.ts';
export { inMemoryCallbacks } from './turn/in-memory-callbacks.ts';
export type { Middleware } from './turn/pipeline.ts';
export type { TurnOptions, TurnOutcome } from './turn/turn.ts';
export type { ForeignEvent, TurnContext } from './turn/turn-context.ts';
export { storeEvent } from './turn/turn-context.ts';
export type { TurnCallbacks, TurnInput, TurnRunnerConfig } from './turn/turn-runner.ts';
export { TurnRunner } from './turn/turn-runner.ts';
export type { WatchdogOptions } from './turn/watchdog.ts';
