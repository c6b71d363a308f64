/** Bring your own executor: a loop of one's own, with sessions, policy, approvals and events around it. */

export type { DispatchAgent, DispatchAgentOptions } from './agent/index.ts';
export { dispatchAgent } from './agent/index.ts';
export type { ByteSource, MediaKind, MediaStashEntry, MessageRole, ModalityHazard, RawMedia, RawMessage, RawThought, RawToolCall, SpoolReader, SpooledArtifactConstructor, TrustTier } from './records/index.ts';
export { MEDIA_KINDS, MODALITY_HAZARDS, Media, Message, Records, Registry, SpooledArtifact, TRUST_TIERS, Thought, ToolCall, bytesInMemory, mergeTiers, toolCallChecksum } from './records/index.ts';
export type { Collision, RawTool, SpoolStore, ToolRunOptions, ToolRunner, TypedTool, UnsupportedMediaPolicy } from './tools/index.ts';
export { DEFAULT_STASH_KEYS, FileSpoolStore, InMemorySpoolStore, Tool, ToolRegistry, UNTRUSTED_NOTE, attributesOf, envelopeMarks, enveloped, isErrorResult, isFirstParty, safeFilename, safeMimeType, textInsteadOf } from './tools/index.ts';
export type { DispatchContext, DispatchExecutorFn, DispatchExecutorHelpers, DispatchOptions, DispatchStatus, ForeignEvent, FunctionalEvents, GenerationStats, LogEntry, LogLevel, Middleware, ObservabilityEvents, ReportOptions, StreamedContent, StreamedToolCall, ToolCallReport, TurnCallbacks, TurnContext, TurnInput, TurnOptions, TurnOutcome, TurnRunnerConfig, Violation, WatchdogOptions } from './turn/index.ts';
export { DispatchBuses, TurnRunner, inMemoryCallbacks, storeEvent } from './turn/index.ts';
