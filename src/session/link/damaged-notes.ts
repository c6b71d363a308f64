import type { JournalKey } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';

/**
 * What a host has noted of a session is not all there, or not as a host has written it: nothing is done by what is left.
 * @param what completes "is damaged: …"; names the record
 * @param remedy what to do about it
 */
export function damagedNotes(
  key: JournalKey,
  what: string,
  { cause, seq, remedy = 'restore its rows from a backup, or delete it' }: NotesFault = {},
): CoxswainError {
  const { app, userId, sessionId, agent } = key;
  return new CoxswainError(
    'DATA_LOSS',
    'E_STORE',
    `what the host noted of session ${app}/${userId}/${sessionId} of ${agent} is damaged: ${what}; ${remedy}`,
    {
      details: { key: { app, userId, sessionId, agent }, ...(seq === undefined ? {} : { seq }) },
      ...(cause === undefined ? {} : { cause }),
    },
  );
}

export interface NotesFault {
  /** Number of the record, from 1. */
  seq?: number;
  cause?: unknown;
  remedy?: string;
}
