/** What a model is asked and what it answers. */
export type { FinishReason } from './finish-reason.ts';
export { finishReasonOf, isTruncated, unknownEnd } from './finish-reason.ts';
export type { CallMeter, Model, ModelCallOptions, ModelRequest, ModelResponse } from './model.ts';
export {
  CONTEXT_OVERFLOW,
  isOverflow,
  isResponse,
  modelFailure,
  thrownFailure,
  unknownEndOf,
} from './model-failure.ts';
export type { RequestDraft } from './request-draft.ts';
