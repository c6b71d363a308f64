import type { Content, ContentPart, TextPart } from '../../contracts/index.ts';
import { nameOfPrincipal, visible } from '../../session/index.ts';
import type { StoredEvent } from './event.ts';

/**
 * Words that were added to a turn, as a model reads them where `delivering` says that it does. Those that came too late
 * for their turn stand before the message of the next one: where somebody else has begun that, they are named, and not
 * taken for words of whoever the turn acts for. Each of their lines is marked, so that none of them can be read as the end
 * of what they have said.
 */
export function deliveredWords(steer: StoredEvent, { actions }: StoredEvent): Content | undefined {
  const { content } = steer;
  const saidBy = steer.customMetadata?.saidBy;
  if (!content || !actions.turn || typeof saidBy !== 'string') return content;
  const principal = actions.terms?.principal;
  if (principal && nameOfPrincipal(principal) === saidBy) return content;
  const name = visible(saidBy).replaceAll('\n', ' ');
  const heading = `[Said by ${name} before this turn began, and not for it; its lines begin with ">":\n`;
  return { ...content, parts: [text(heading), ...content.parts.map(marked), text('\n]')] };
}

/** Members of parts that models read as text of several lines, and those that are of one. */
const long = ['text', 'thought', 'code', 'output'];
const short = ['title', 'uri', 'language', 'mimeType'];
const lineBreak = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

function marked(part: ContentPart): ContentPart {
  const copy: Record<string, unknown> & ContentPart = { ...part };
  for (const name of long) if (typeof copy[name] === 'string') copy[name] = markedLines(copy[name], '> ');
  for (const name of short) if (typeof copy[name] === 'string') copy[name] = copy[name].replaceAll(lineBreak, ' ');
  return copy;
}

/** The text with `mark` before each of its lines, whatever a model may read as the end of one. */
export function markedLines(words: string, mark: string): string {
  return mark + words.replaceAll(lineBreak, (found) => found + mark);
}

const text = (words: string): TextPart => ({ type: 'text', text: words });
