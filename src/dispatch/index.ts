/** Bring your own executor: a loop of one's own, with sessions, policy, approvals and events around it. */
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
} from './buses.ts';
export { DispatchBuses } from './buses.ts';
export type { ByteSource } from './bytes.ts';
export { bytesInMemory } from './bytes.ts';
export { isErrorResult } from './call-value.ts';
export { toolCallChecksum } from './checksum.ts';
export { mergeTiers } from './config-tiers.ts';
export type { DispatchExecutorFn, DispatchOptions } from './dispatch.ts';
export type { DispatchAgent, DispatchAgentOptions } from './dispatch-agent.ts';
export { dispatchAgent } from './dispatch-agent.ts';
export type { DispatchContext } from './dispatch-context.ts';
export { FileSpoolStore } from './file-spool-store.ts';
export type { DispatchExecutorHelpers, ReportOptions, ToolCallReport } from './helpers.ts';
export { inMemoryCallbacks } from './in-memory-callbacks.ts';
export type { MediaKind, MediaStashEntry, ModalityHazard, RawMedia, TrustTier } from './media.ts';
export { MEDIA_KINDS, Media, MODALITY_HAZARDS, TRUST_TIERS } from './media.ts';
export type { UnsupportedMediaPolicy } from './media-rendering.ts';
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
} from './media-rendering.ts';
export type { MessageRole, RawMessage } from './message.ts';
export { Message } from './message.ts';
export type { Middleware } from './pipeline.ts';
export { Records } from './records.ts';
export { Registry } from './registry.ts';
export type { SpoolStore } from './spool-store.ts';
export { InMemorySpoolStore } from './spool-store.ts';
export type { SpooledArtifactConstructor, SpoolReader } from './spooled-artifact.ts';
export { SpooledArtifact } from './spooled-artifact.ts';
export type { RawThought } from './thought.ts';
export { Thought } from './thought.ts';
export type { RawTool, ToolRunner, ToolRunOptions, TypedTool } from './tool.ts';
export { Tool } from './tool.ts';
export type { RawToolCall } from './tool-call.ts';
export { ToolCall } from './tool-call.ts';
export type { Collision } from './tool-registry.ts';
export { ToolRegistry } from './tool-registry.ts';
export type { TurnOptions, TurnOutcome } from './turn.ts';
export type { ForeignEvent, TurnContext } from './turn-context.ts';
export { storeEvent } from './turn-context.ts';
export type { TurnCallbacks, TurnInput, TurnRunnerConfig } from './turn-runner.ts';
export { TurnRunner } from './turn-runner.ts';
export type { WatchdogOptions } from './watchdog.ts';
