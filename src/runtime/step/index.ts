/** One step of a model: request, stream, answer. */
export { fillTemplate } from './instructions.ts';
export { ModelCalls } from './model-calls.ts';
export { modelStep } from './model-step.ts';
export type { Instruction, ModelUser, RequestProcessor, StepFacts } from './model-user.ts';
export {
  basicProcessor,
  contentsProcessor,
  defaultProcessors,
  instructionsProcessor,
  toolsProcessor,
  transferProcessor,
} from './processors.ts';
export { steersFor, takeSteers } from './steers.ts';
export type { TransferRules } from './transfer.ts';
export { isConversational, startingAgent, TRANSFER_TOOL, transferTargets, transferTool } from './transfer.ts';
