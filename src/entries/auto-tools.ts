/**
 * Ask a model, run what it calls, ask again: without session or host.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export type { AutoToolsResponse, ToolCache } from '../adapters/auto-tools/index.ts';
export {
  AutoToolsError,
  AutoToolsStream,
  Chat,
  cacheToolResults,
  executeCalls,
  extractCalls,
  extractText,
  FunctionTools,
  generateContent,
  generateWithAutoTools,
  retryTool,
  streamContent,
  streamWithAutoTools,
} from '../adapters/auto-tools/index.ts';
