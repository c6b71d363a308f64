/** Results of tools: normalised, capped, as a response for the model. */
export type { ResultArtifacts, ResultBounds } from './bounded-result.ts';
export { boundedResult, boundsIn } from './bounded-result.ts';
export type { CapLimit, CapOptions } from './cap-result.ts';
export { capResult, capText, MAX_RESULT_BYTES } from './cap-result.ts';
export { cleanUpdate } from './clean-update.ts';
export { errorResult, normaliseReturn, structuredReturn } from './normalise.ts';
export type { ToolResponseFields } from './tool-response.ts';
export { fromResponse, toResponse } from './tool-response.ts';
export type { Truncated } from './truncated.ts';
export { keptWithin, truncatedOf, withoutTruncated, withTruncatedOf } from './truncated.ts';
