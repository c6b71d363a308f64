import type { Shape } from '../../../session/index.ts';
import { amount, bag, checkIs, checkOptions, fn, name, object, text, texts } from '../../../session/index.ts';
import type { ModelOptions } from './options.ts';
import type { RetryOptions } from './retry.ts';
import { checkSetup } from './sdk.ts';

/** Options that the models of all providers take. */
export const modelShape: Shape<ModelOptions> = {
  apiKey: text,
  baseUrl: text,
  headers: texts,
  timeoutMs: amount,
  retry: object,
  fetch: fn,
  provider: name,
  prices: object,
  config: bag,
};
const retry: Shape<RetryOptions> = {
  retries: amount,
  initialDelayMs: amount,
  maxDelayMs: amount,
  maxRetryAfterMs: amount,
  sleep: fn,
  random: fn,
  now: fn,
};

/**
 * Checks what a model is made with.
 * @param maker name of the function that makes it, for messages
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`, `FAILED_PRECONDITION / E_MODEL_SETUP`
 */
export function checkModel<T extends ModelOptions>(model: string, options: T, maker: string, shape: Shape<T>): void {
  checkIs(model, `${maker}: name`, name);
  checkOptions<T>(options, `${maker}: options`, shape);
  checkRetry(options.retry, maker);
  checkSetup(model, options);
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkRetry(options: RetryOptions | undefined, maker: string): void {
  if (options) checkOptions<RetryOptions>(options, `${maker}: options.retry`, retry);
}
