/** HTTP to a provider: retries, event streams, options. */
export { MAX_EVENT_BYTES, repairEvents, upTo } from './event-stream.ts';
export type { Decoder } from './exchange.ts';
export { exchange, partsIn } from './exchange.ts';
export { checkModel, checkRetry, modelShape } from './model-shape.ts';
export type { Fetch, ModelOptions } from './options.ts';
export { providerName, toldOf } from './options.ts';
export type { HeadersLike, RetryOptions } from './retry.ts';
export { retryAfter } from './retry.ts';
export { notInstalled } from './sdk.ts';
export { windowOf } from './windows.ts';
export type { Wire } from './wire.ts';
