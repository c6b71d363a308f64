/** Tools of an executor, and where large results are kept. */
export { isErrorResult, responseTo, valueOfResponse } from './call-value.ts';
export { FileSpoolStore } from './file-spool-store.ts';
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
export { agentContract, mediaOfResponse } from './media-results.ts';
export type { SpoolStore } from './spool-store.ts';
export { InMemorySpoolStore } from './spool-store.ts';
export type { RawTool, ToolRunner, ToolRunOptions, TypedTool } from './tool.ts';
export { runToolKey, Tool } from './tool.ts';
export type { Collision } from './tool-registry.ts';
export { ToolRegistry } from './tool-registry.ts';
