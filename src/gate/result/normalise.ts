import { isObject } from '../../base/index.ts';
import type { ContentPart, ToolErrorType, ToolResult } from '../../contracts/index.ts';
import {
  BYTES_MIME,
  base64OfBytes,
  isKnownPartType,
  textPart,
  toDisplay,
  toJsonValue,
  toParts,
} from '../values/index.ts';
import type { CapLimit } from './cap-result.ts';
import { capSync } from './cap-result.ts';
import { withoutTruncated } from './truncated.ts';

/**
 * A tool's return value as a {@link ToolResult} that is JSON at every depth. Never throws.
 *
 * | returned | content | structuredContent |
 * |---|---|---|
 * | undefined, function, symbol | empty text | – |
 * | string | that text | – |
 * | bigint, Date (valid), RegExp | its text | – |
 * | bytes | media, base64, `application/octet-stream` | – |
 * | number, boolean, null (and NaN, invalid Date: null) | its JSON | the value |
 * | array, Set, object, Map, class instance | its JSON | the value |
 * | Error | its message; `isError`, `errorType: 'failed'` | – |
 * | ToolResult (also by the names `llmContent`, `displayContent`) | cleaned copy | cleaned copy |
 *
 * Values inside follow the table of `toJsonValue`. An object counts as a ToolResult if it has no member that a
 * ToolResult does not have and `content` is an array of parts with a string `type`, or one of the other names that
 * no plain value has is there.
 *
 * Its `_meta.truncated` is left out: that is said by who bounds a result.
 *
 * With `maxBytes` the result is cut as by `capResult` without a place to keep the rest.
 */
export function normaliseReturn(value: unknown, options: CapLimit = {}): ToolResult {
  let result: ToolResult;
  try {
    result = normalise(value);
  } catch {
    // Only what cannot even be looked at (a revoked proxy) or written down (longer than a string can be).
    result = errorResult('failed', 'The tool returned a value that cannot be read.');
  }
  return options.maxBytes === undefined ? result : capSync(result, options);
}

function normalise(value: unknown): ToolResult {
  if (typeof value === 'string') return { content: [textPart(value)] };
  const bytes = base64OfBytes(value);
  if (bytes !== undefined) return { content: [{ type: 'media', mimeType: BYTES_MIME, data: bytes }] };
  if (value instanceof Error) return errorResult('failed', String(value.message));
  if (isToolResult(value)) return cleanResult(value);
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol') {
    return { content: [textPart('')] };
  }
  return structured(toJsonValue(value));
}

/** The value that a return stands for; undefined for a whole result without one, or one that says that it has failed. */
export function structuredReturn(value: unknown): { value: unknown } | undefined {
  if (value instanceof Error) return undefined;
  if (!isToolResult(value)) return { value: toJsonValue(value) };
  return value.structuredContent === undefined || saysFailed(value)
    ? undefined
    : { value: toJsonValue(value.structuredContent) };
}

function structured(value: unknown): ToolResult {
  if (typeof value === 'string') return { content: [textPart(value)] };
  return { content: [textPart(JSON.stringify(value))], structuredContent: value };
}

/** A result that says what went wrong; the model reads `message`. */
export function errorResult(
  errorType: ToolErrorType,
  message: string,
  extra: Partial<Omit<ToolResult, 'isError' | 'errorType'>> = {},
): ToolResult {
  return { content: [textPart(message)], ...extra, isError: true, errorType };
}

const resultNames = new Set(
  'content structuredContent display isError errorType tailCalls _meta llmContent displayContent'.split(' '),
);
/** Names that say by themselves that this is a result. */
const tellingNames = ['structuredContent', 'llmContent', 'displayContent', 'tailCalls'];

function isToolResult(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const names = Object.keys(value);
  if (names.length === 0 || !names.every((name) => resultNames.has(name))) return false;
  if (tellingNames.some((name) => value[name] !== undefined))
    return value.content === undefined || isContent(value.content);
  // A document of somebody else's, say `{content: [{type: 'paragraph', …}]}`, is a value.
  const isOurs = (part: { type: string }) => isKnownPartType(part.type);
  return isContent(value.content) && (names.length > 1 || value.content.length === 0 || value.content.some(isOurs));
}

function isContent(value: unknown): value is { type: string }[] {
  return Array.isArray(value) && value.every((part) => isObject(part) && typeof part.type === 'string');
}

function cleanResult(value: Record<string, unknown>): ToolResult {
  const content: ContentPart[] = toParts(value.content ?? value.llmContent);
  const result: ToolResult = { content };
  if (value.structuredContent !== undefined) {
    result.structuredContent = toJsonValue(value.structuredContent);
    if (content.length === 0) content.push(textPart(JSON.stringify(result.structuredContent)));
  }
  const display = toDisplay(value.display ?? value.displayContent);
  if (display) result.display = display;
  if (saysFailed(value)) result.isError = true;
  if (typeof value.errorType === 'string') result.errorType = value.errorType;
  if (Array.isArray(value.tailCalls)) {
    result.tailCalls = (toJsonValue(value.tailCalls) as unknown[]).flatMap((call) =>
      isObject(call) && typeof call.name === 'string'
        ? [{ name: call.name, args: isObject(call.args) ? call.args : {} }]
        : [],
    );
  }
  const meta = toJsonValue(value._meta);
  if (isObject(meta)) result._meta = meta;
  return withoutTruncated(result);
}

/** Whatever stands in `isError` and is not a plain no is a failure; the name of an error without a verdict is one too. */
function saysFailed({ isError, errorType }: Record<string, unknown>): boolean {
  if (isError === undefined || isError === null) return typeof errorType === 'string';
  return isError !== false;
}
