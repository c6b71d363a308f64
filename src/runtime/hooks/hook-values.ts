import type { Content } from '../../contracts/index.ts';
import { copyJson } from '../../contracts/index.ts';
import type { ModelResponse } from '../model/index.ts';
import { hookFailed } from './hook-wait.ts';

/**
 * The content that a hook gave; text is short for content of one part.
 * @throws CoxswainError `INTERNAL / E_HOOK_FAILED`, `INVALID_ARGUMENT / E_NOT_JSON` for what is none
 */
export function hookContent(given: unknown, role: Content['role'], point: string): Content {
  if (typeof given === 'string') return { role, parts: [{ type: 'text', text: given }] };
  const { parts } = Object(given) as { parts?: unknown };
  if (!isParts(parts)) throw hookFailed(point, 'what it gave is neither text nor content with parts');
  return { role, parts: copyJson(parts, `content of a ${point} hook`) };
}

/**
 * The model's response that a hook gave; text or content is short for a response that says so and no more.
 * @throws CoxswainError `INTERNAL / E_HOOK_FAILED` for what is none: an answer must not be lost behind it
 */
export function hookResponse(given: unknown, point: string): ModelResponse {
  const response = Object(given) as ModelResponse & { parts?: unknown };
  if (typeof given === 'string' || (response.content === undefined && isParts(response.parts))) {
    return { content: hookContent(given, 'model', point), turnComplete: true, finishReason: 'stop' };
  }
  if (typeof response.errorCode === 'string' || isParts((Object(response.content) as { parts?: unknown }).parts)) {
    return response;
  }
  throw hookFailed(point, 'what it gave is no response: give {content: {role, parts}}, or an errorCode');
}

function isParts(value: unknown): value is Content['parts'] {
  return Array.isArray(value) && value.every((part) => typeof (Object(part) as { type?: unknown }).type === 'string');
}
