import { isObject } from '../../base/index.ts';
import type { ContentPart, FunctionResponsePart, ToolResult } from '../../contracts/index.ts';
import { partText, textPart, toDisplay } from '../values/index.ts';

type Attachments = NonNullable<FunctionResponsePart['content']>;

/** The fields of a `function_response` that say what a tool call came to. */
export interface ToolResponseFields {
  response: Record<string, unknown>;
  content?: Attachments;
}

/**
 * A result as a model gets it: an object as it is, an error without one as `{error: text}`, everything else as
 * `{content: value}`. Media and references go beside it, as does text that says something else than the value's
 * own JSON. `display` is not part of it.
 */
export function toResponse(result: ToolResult): ToolResponseFields {
  const text = result.content.flatMap((part) => partText(part) ?? []).join('\n');
  const attachments: Attachments = result.content.filter((part) => part.type === 'media' || part.type === 'reference');
  const { structuredContent } = result;
  if (structuredContent === undefined) {
    return fields(result.isError ? { error: text } : { content: text }, attachments);
  }
  const isWrapped = !isObject(structuredContent);
  const response = isWrapped ? { content: structuredContent } : structuredContent;
  const isSaid = text === '' || text === JSON.stringify(structuredContent);
  // Said again where reading it back would otherwise take a value of this shape for a wrapped one.
  const isAmbiguous = isWrapped ? typeof structuredContent === 'string' : looksWrapped(response, result.isError);
  if (!isSaid || isAmbiguous) {
    attachments.unshift({ type: 'text', text, ...(isWrapped && { _meta: { wrapped: true } }) });
  }
  return fields(response, attachments);
}

function fields(response: Record<string, unknown>, content: Attachments): ToolResponseFields {
  return content.length > 0 ? { response, content } : { response };
}

function looksWrapped(response: Record<string, unknown>, isError: boolean | undefined): boolean {
  const names = Object.keys(response);
  return names.length === 1 && (names[0] === 'content' || (isError === true && typeof response.error === 'string'));
}

/**
 * The result that a stored `function_response` was made from: text, structured value, attachments, `isError`,
 * `errorType`, and the display kept in `_meta.display`. Several text parts come back as one.
 */
export function fromResponse(part: FunctionResponsePart): ToolResult {
  const { response } = part;
  const texts = (part.content ?? []).filter((item) => item.type === 'text');
  const others: ContentPart[] = (part.content ?? []).filter((item) => item.type !== 'text');
  const result: ToolResult = { content: others };
  const isWrapped = texts.length > 0 ? texts[0]?._meta?.wrapped === true : looksWrapped(response, part.isError);
  const value = isWrapped ? Object.values(response)[0] : response;
  if (texts.length > 0 || typeof value !== 'string') result.structuredContent = value;
  const text = texts.length > 0 ? texts.map((item) => item.text).join('\n') : textOfValue(value);
  if (text !== '' || others.length === 0) others.unshift(textPart(text));
  if (part.isError) result.isError = true;
  if (part.errorType !== undefined) result.errorType = part.errorType;
  const display = part._meta?.display === undefined ? undefined : toDisplay(part._meta.display);
  if (display) result.display = display;
  return result;
}

function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
