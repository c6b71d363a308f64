import type { AgentEvent, AgentSession } from '../contracts/index.ts';
import { isCoxswainError } from '../contracts/index.ts';

/**
 * How far a log was read: its newest event, and the cursor before that. Cursors are places: a session that was deleted and
 * made again under its id has the same ones, and another event there.
 */
export interface LogMark {
  readonly id: string;
  readonly cursor: string;
  readonly before: string | undefined;
}

/** Behind an event that was read; one without a cursor has no place. */
export function markAt(mark: LogMark | undefined, { id, cursor }: AgentEvent): LogMark | undefined {
  return cursor === undefined ? mark : { id, cursor, before: mark?.cursor };
}

/**
 * Hands on what a log has behind a mark. False: the mark is none, or of another log under the same name; nothing was handed on.
 */
export async function readBehind(
  session: Pick<AgentSession, 'events'>,
  mark: LogMark | undefined,
  see: (event: AgentEvent) => void,
): Promise<boolean> {
  if (!mark) return false;
  const { id, before } = mark;
  let isFirst = true;
  try {
    for await (const event of session.events(before === undefined ? {} : { after: before })) {
      if (!isFirst) see(event);
      else if (event.id !== id) return false;
      isFirst = false;
    }
    return !isFirst;
  } catch (error) {
    if (isFirst && isCoxswainError(error) && error.code === 'E_BAD_INPUT') return false;
    throw error;
  }
}
