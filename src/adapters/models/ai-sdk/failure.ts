import { messageOf } from '../../../contracts/index.ts';
import type { ModelFailure } from '../content/index.ts';
import { fromBody, modelFailureOf } from '../content/index.ts';
import type { HeadersLike } from '../wire/index.ts';

/** Errors of the AI SDK by their names, which are the same whichever copy of its packages threw them. */
const garbled = new Set([
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_InvalidResponseDataError',
  'AI_EmptyResponseBodyError',
  'AI_NoContentGeneratedError',
]);
const ours: Readonly<Record<string, string>> = {
  AI_UnsupportedFunctionalityError: 'unsupported',
  AI_InvalidPromptError: 'invalid_prompt',
  AI_InvalidArgumentError: 'invalid_argument',
  AI_LoadAPIKeyError: 'no_api_key',
  AI_LoadSettingError: 'no_setting',
  AI_NoSuchModelError: 'no_such_model',
};
const passing = /overload|rate.?limit|unavailable|capacity|time.?out|internal|try again/i;

/** What a model of the AI SDK threw, or gave as an error in its stream. */
export function sdkFailureOf(thrown: unknown): ModelFailure & { headers?: HeadersLike } {
  if (typeof thrown === 'string') return { code: 'request_error', message: thrown, retryable: passing.test(thrown) };
  const { name, statusCode, responseBody, responseHeaders, data, cause } = fieldsOf(thrown);
  const own = typeof name === 'string' ? ours[name] : undefined;
  if (own !== undefined) return { code: own, message: messageOf(thrown), retryable: false };
  if (typeof name === 'string' && garbled.has(name)) return unread(thrown);
  if (name !== 'AI_APICallError') return thrown instanceof Error ? modelFailureOf(thrown) : fromBody(thrown, undefined);
  if (typeof statusCode !== 'number') return modelFailureOf(thrown);
  if (statusCode < 300) return garbled.has(String(fieldsOf(cause).name)) ? unread(thrown) : modelFailureOf(thrown);
  const body = parsed(responseBody) ?? data ?? messageOf(thrown);
  const headers = responseHeaders as HeadersLike | undefined;
  return { ...fromBody(body, statusCode), ...(headers ? { headers } : {}) };
}

/** Of an error: the provider does not take something of the request, which has not been sent. */
export function isUnsupported(thrown: unknown): boolean {
  return fieldsOf(thrown).name === 'AI_UnsupportedFunctionalityError';
}

/** Its message would repeat the whole answer. */
function unread(thrown: unknown): ModelFailure {
  const [first = ''] = messageOf(thrown).split('\n');
  return { code: 'bad_response', message: `the response cannot be read: ${first.slice(0, 200)}`, retryable: true };
}

function parsed(body: unknown): unknown {
  if (typeof body !== 'string' || body === '') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
