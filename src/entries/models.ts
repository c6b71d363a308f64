/**
 * Models of providers. A vendor’s package is loaded by the first request to it.
 * Stability: stable.
 *
 * @packageDocumentation
 */
export type { AgentAsModel, ModelFromEnv, ModelRegistry } from '../adapters/models/index.ts';
export {
  agentLanguageModel,
  aiSdkModel,
  anthropicModel,
  fallbackModel,
  geminiModel,
  modelFromEnv,
  modelRegistry,
  openaiChatModel,
  openaiResponsesModel,
  scaleImages,
} from '../adapters/models/index.ts';
