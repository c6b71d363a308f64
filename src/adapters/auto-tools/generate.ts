import type { ModelResponse } from '../../runtime/index.ts';
import type { AutoToolsInput } from './chat.ts';
import { conversationOf } from './conversation.ts';
import type { AutoToolsOptions, GenerateOptions } from './options.ts';
import { rawFrames } from './raw.ts';
import { modelOfOptions, request } from './request.ts';
import type { AutoToolsResponse } from './response.ts';

/**
 * Asks a model, runs the tools that it calls, asks again, until it answers without calls: that answer is what comes
 * back. The error of a failing tool goes to the model and ends nothing.
 * @throws AutoToolsError `RESOURCE_EXHAUSTED / E_MAX_LLM_CALLS` beyond `turnLimit`, `E_MODEL`, `ABORTED / E_ABORTED`, …
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for contents and options that cannot be used
 * @example
 * ```ts
 * import { FunctionTools, generateWithAutoTools } from 'coxswain/auto-tools';
 *
 * const tools = new FunctionTools().register(
 *   { name: 'clock', description: 'The time.', parameters: { type: 'object' }, annotations: { readOnly: true } },
 *   () => new Date().toISOString(),
 * );
 * const { text } = await generateWithAutoTools('What time is it?', { model: 'claude-sonnet-5', tools });
 * console.log(text);
 * ```
 */
export async function generateWithAutoTools(
  input: AutoToolsInput,
  options: AutoToolsOptions | Partial<AutoToolsOptions>,
): Promise<AutoToolsResponse> {
  return request(conversationOf(input, options), false, {});
}

/**
 * One model call: the answer as it is, calls included; nothing runs. A provider's failure is in the answer.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`, `NOT_FOUND / E_NO_MODEL`; the signal's reason on abort
 */
export async function generateContent(
  input: AutoToolsInput,
  options: GenerateOptions | Partial<GenerateOptions>,
): Promise<ModelResponse> {
  const conversation = conversationOf(input, options);
  const model = await modelOfOptions(conversation.options);
  let last: ModelResponse | undefined;
  for await (const frame of rawFrames(model, conversation, false)) if (!frame.partial) last = frame;
  return last ?? { errorCode: 'empty', errorMessage: 'the model ended without an answer', retryable: true };
}
