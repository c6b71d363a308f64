import type { Shape } from '../../../session/index.ts';
import {
  amount,
  bag,
  checkIs,
  checkOptions,
  flag,
  fn,
  name,
  object,
  oneOf,
  text,
  texts,
} from '../../../session/index.ts';
import type { AnthropicOptions } from '../anthropic/anthropic.ts';
import type { OpenAIChatOptions } from '../openai/chat.ts';
import type { OpenAIResponsesOptions } from '../openai/responses.ts';
import type { ModelOptions } from './options.ts';
import type { RetryOptions } from './retry.ts';
import { checkSetup } from './sdk.ts';

const common: Shape<ModelOptions> = {
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
const anthropic: Shape<AnthropicOptions> = { ...common, maxTokens: amount };
const responses: Shape<OpenAIResponsesOptions> = { ...common, strictTools: flag };
const chat: Shape<OpenAIChatOptions> = {
  ...common,
  strictTools: flag,
  streamUsage: flag,
  replayReasoning: oneOf('auto', 'always', 'never'),
  unmarkedEnd: oneOf('fail', 'accept'),
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`, `FAILED_PRECONDITION / E_MODEL_SETUP` */
export const modelInput = {
  anthropic: (model: string, options: AnthropicOptions): void => check(model, options, 'anthropicModel', anthropic),
  chat: (model: string, options: OpenAIChatOptions): void => check(model, options, 'openaiChatModel', chat),
  responses: (model: string, options: OpenAIResponsesOptions): void =>
    check(model, options, 'openaiResponsesModel', responses),
  gemini: (model: string, options: ModelOptions): void => check(model, options, 'geminiModel', common),
};

function check<T extends ModelOptions>(model: string, options: T, maker: string, shape: Shape<T>): void {
  checkIs(model, `${maker}: name`, name);
  checkOptions<T>(options, `${maker}: options`, shape);
  if (options.retry) checkOptions<RetryOptions>(options.retry, `${maker}: options.retry`, retry);
  checkSetup(model, options);
}
