import type { Content, ContentPart } from '../../contracts/index.ts';
import { excerpt, textOfResult } from '../history/index.ts';

/** Characters of one part below which nothing is taken out of it. */
const LEAST = 400;

/**
 * Messages as one text, for whoever sums them up: as text, since a model that is given calls without their tools, or a
 * part of a batch, refuses them. Longer than `most` characters it is not: of the longest parts the middle is left out, then
 * of the text itself.
 */
export function transcriptOf(contents: readonly Content[], most: number): string {
  const whole = contents.map((content) => linesOf(content, most));
  const length = whole.reduce((sum, lines) => sum + lines.join('\n').length, 0);
  if (length <= most) return joined(whole);
  const parts = whole.reduce((sum, lines) => sum + lines.length, 0);
  const share = Math.max(LEAST, Math.floor(most / Math.max(1, parts)));
  return excerpt(joined(contents.map((content) => linesOf(content, share))), most, '[… some messages left out …]');
}

function joined(messages: readonly string[][]): string {
  return messages.flat().join('\n\n');
}

function linesOf({ role, parts }: Content, most: number): string[] {
  return parts.flatMap((part) => {
    const text = textOf(part, role);
    return text === undefined ? [] : [excerpt(text, most, '[…]')];
  });
}

function textOf(part: ContentPart, role: Content['role']): string | undefined {
  switch (part.type) {
    case 'text':
      return part.text === '' ? undefined : `${role === 'user' ? 'User' : 'Assistant'}: ${part.text}`;
    case 'refusal':
      return `Assistant refused: ${part.text}`;
    case 'function_call':
      return `Assistant called ${part.name} (call ${part.id}) with ${JSON.stringify(part.args)}`;
    case 'function_response':
      return `${part.name} (call ${part.id}) ${part.isError ? 'failed' : 'returned'}: ${textOfResult(part)}`;
    case 'media':
    case 'reference':
      return `[${role === 'user' ? 'User' : 'Assistant'} gave ${part.mimeType ?? part.type}${part.uri === undefined ? '' : ` ${part.uri}`}]`;
    default:
      // Thoughts and what belongs to a provider are of no use to anybody else.
      return undefined;
  }
}
