import type { FunctionResponsePart } from '../../contracts/index.ts';
import { fromResponse, truncatedOf } from '../../gate/index.ts';
import type { StoredEvent } from '../log/index.ts';

/** The tool by which a model reads again what was taken out of its history. */
export const READ_RESULT = 'read_result';

/** All that a result says as text: its own, or its value as JSON. */
export function textOfResult(part: FunctionResponsePart): string {
  const { content, structuredContent } = fromResponse(part);
  const text = content.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n');
  return text === '' && structuredContent !== undefined ? JSON.stringify(structuredContent) : text;
}

/** Names of the artifacts that have what a bound has cut off a result: only those that its event says were saved with it. */
export function keptOf(part: FunctionResponsePart, { actions }: Pick<StoredEvent, 'actions'>): string[] {
  const names = truncatedOf(part)?.artifacts ?? [];
  return names.filter((name) => Object.hasOwn(actions.artifactDelta, name));
}

/** A result of which so many characters are left: half of its beginning and half of its end. */
export function clearedResult(part: FunctionResponsePart, left: number): FunctionResponsePart {
  const { content, ...rest } = part;
  const text = textOfResult(part);
  const attached = (content ?? []).filter(({ type }) => type !== 'text').length;
  const beside = attached === 0 ? '' : `, and ${attached} attachment(s)`;
  const note = `[left out to save room: a result of ${text.length} characters${beside}; ${READ_RESULT} with call ${JSON.stringify(part.id)} reads it again]`;
  const words = left === 0 ? note : excerpt(text, left, note);
  return { ...rest, response: part.isError ? { error: words } : { content: words } };
}

/** The beginning and the end of a text, with a note between the two. */
export function excerpt(text: string, left: number, note: string): string {
  if (text.length <= left) return text;
  const half = Math.floor(left / 2);
  return `${sliceOf(text, 0, half)}\n${note}\n${sliceOf(text, text.length - half, text.length)}`;
}

/** A piece of a text that begins and ends with whole characters. */
function sliceOf(text: string, from: number, to: number): string {
  const start = from > 0 && isSecondHalf(text, from) ? from + 1 : from;
  const end = to < text.length && isSecondHalf(text, to) ? to - 1 : to;
  return text.slice(start, Math.max(start, end));
}

function isSecondHalf(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
