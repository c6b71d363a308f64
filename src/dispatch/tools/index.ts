/** Tools of an executor, and where large results are kept. */
export { isErrorResult, responseTo, valueOfResponse } from './call-value.ts';
export { FileSpoolStore } from './file-spool-store.ts';
export type { UnsupportedMediaPolicy } from './media-rendering.ts';
export { DEFAULT_STASH_KEYS, UNTRUSTED_NOTE, attributesOf, envelopeMarks, enveloped, isFirstParty, safeFilename, safeMimeType, textInsteadOf } from './media-rendering.ts';
export { agentContract, mediaOfResponse } from './media-results.ts';
export type { SpoolStore } from './spool-store.ts';
export { InMemorySpoolStore } from './spool-store.ts';
export type { Collision } from './tool-registry.ts';
export { ToolRegistry } from './tool-registry.ts';
export type { RawTool, ToolRunOptions, ToolRunner, TypedTool } from './tool.ts';
export { Tool, runTool } from './tool.ts';
