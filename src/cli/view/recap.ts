import type { Session } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import type { Screen } from '../terminal/index.ts';
import { clean, lineWidth, oneLine, paint } from '../terminal/index.ts';

/** Lines of an answer that are shown again. */
const ANSWER_LINES = 12;

/** Shows where a session stands that somebody comes back to: its last exchange, and how much there is before it. */
export async function recap(session: Session, screen: Screen): Promise<void> {
  let count = 0;
  let asked: string | undefined;
  let answered: string | undefined;
  for await (const event of session.events()) {
    if (event.type !== 'message' || event.partial || event.threadId !== undefined) continue;
    const text = textOfParts(event.content);
    count++;
    if (event.role !== 'agent') [asked, answered] = [text, undefined];
    else if (text !== '') answered = text;
  }
  screen.line(paint('dim', `resumed, ${count} ${count === 1 ? 'message' : 'messages'}`));
  if (asked !== undefined) screen.line(paint('dim', `> ${oneLine(asked, lineWidth() - 3)}`));
  if (answered === undefined) return;
  const lines = clean(answered).trimEnd().split('\n');
  for (const line of lines.slice(0, ANSWER_LINES)) screen.line(line);
  if (lines.length > ANSWER_LINES) screen.line(paint('dim', `… ${lines.length - ANSWER_LINES} more lines`));
}
