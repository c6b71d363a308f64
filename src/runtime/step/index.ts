/** One step of a model: request, stream, answer. */
export { compactNow } from './compaction.ts';
export { fillTemplate } from './instructions.ts';
export { ModelCalls } from './model-calls.ts';
export { modelStep } from './model-step.ts';
export type { CompactionOptions, Instruction, ModelUser, RequestProcessor, StepFacts } from './model-user.ts';
export {
  basicProcessor,
  contentsProcessor,
  defaultProcessors,
  instructionsProcessor,
  toolsProcessor,
  transferProcessor,
} from './processors.ts';
export { needsReader, readResultTool } from './read-result.ts';
export { steersFor, takeSteers } from './steers.ts';
export type { TransferRules } from './transfer.ts';
export { isConversational, startingAgent, TRANSFER_TOOL, transferTargets, transferTool } from './transfer.ts';
