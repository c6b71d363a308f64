import type { Content, TextPart } from '../../contracts/index.ts';
import { nameOfPrincipal, visible } from '../../session/index.ts';
import type { StoredEvent } from './event.ts';

/**
 * Words that were added to a turn, as a model reads them where `delivering` says that it does. Those that came too late
 * for their turn stand before the message of the next one: where somebody else has begun that, they are named, and not
 * taken for words of whoever the turn acts for.
 */
export function deliveredWords(steer: StoredEvent, { actions }: StoredEvent): Content | undefined {
  const { content } = steer;
  const saidBy = steer.customMetadata?.saidBy;
  if (!content || !actions.turn || typeof saidBy !== 'string') return content;
  const principal = actions.terms?.principal;
  if (principal && nameOfPrincipal(principal) === saidBy) return content;
  const name = visible(saidBy).replaceAll('\n', ' ');
  return {
    ...content,
    parts: [text(`[Said by ${name} before this turn began, and not for it:\n`), ...content.parts, text('\n]')],
  };
}

const text = (words: string): TextPart => ({ type: 'text', text: words });
