import { isObject } from '../../base/index.ts';
import type { ContentPart, DisplayContent } from '../../contracts/index.ts';
import { BYTES_MIME, base64OfBytes, toJsonValue } from './json-value.ts';
import { fitsDisplay, fitsPart } from './part-shapes.ts';

type Members = Record<string, unknown>;

export const textPart = (text: string): ContentPart => ({ type: 'text', text });

/** Longer lists of parts are a mistake, or an array of nothing. */
const MAX_PARTS = 10_000;

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? Array.from(value.slice(0, MAX_PARTS)) : [value]);

const isTyped = (value: unknown): value is Members & { type: string } =>
  isObject(value) && typeof value.type === 'string';

/** Content parts of what was meant as content: a string, a part, or a list of either. */
export function toParts(value: unknown): ContentPart[] {
  if (value === undefined || value === null) return [];
  return listOf(value).map(toPart);
}

function toPart(value: unknown): ContentPart {
  if (typeof value === 'string') return textPart(value);
  const bytes = base64OfBytes(value);
  if (bytes !== undefined) return { type: 'media', mimeType: BYTES_MIME, data: bytes };
  const part = toJsonValue(isObject(value) ? withEncodedData(value) : value);
  if (!isTyped(part)) return textPart(JSON.stringify(part));
  if (part.type === 'media' && part.mimeType === undefined) part.mimeType = BYTES_MIME;
  // A part of no use as what it says it is still says something.
  const words = JSON.stringify(part);
  return fitsPart(part) ? (part as unknown as ContentPart) : textPart(words);
}

/** Media data may come as bytes. */
function withEncodedData(value: Members): Members {
  try {
    const data = base64OfBytes(value.data);
    return data === undefined ? value : { ...value, data };
  } catch {
    return value;
  }
}

/** What people are shown: a string, one display, or a list; what is neither is left out. */
export function toDisplay(value: unknown): DisplayContent[] | undefined {
  const displays = listOf(value).flatMap((item): DisplayContent[] => {
    if (typeof item === 'string') return [{ type: 'text', text: item }];
    const display = toJsonValue(item);
    return isTyped(display) && fitsDisplay(display) ? [display as unknown as DisplayContent] : [];
  });
  return displays.length > 0 ? displays : undefined;
}

/** What a part says in words; undefined for parts that say nothing to a model. */
export function partText(part: ContentPart): string | undefined {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text;
    case 'code':
      return part.code;
    case 'code_result':
      return part.output;
    case 'citation':
      return [part.title, part.text, part.uri].filter(Boolean).join(' ');
    case 'media':
    case 'reference':
    case 'thought':
    case 'function_call':
    case 'function_response':
      return undefined;
    default:
      return JSON.stringify(part);
  }
}
