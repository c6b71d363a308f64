import type { HostJournal, JournalKey } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';

/** Owner of what a host notes of no session: no user, since it is no safe id. */
export const HOST_NOTES = '/host';

/** Books of what receivers are owed: whoever adds to one waits for nobody who adds to another. */
export const OUTCOME_BOOKS: readonly string[] = Array.from({ length: 8 }, (_, n) => `outcomes-${n}`);
export const SCHEDULE_BOOK = 'schedules';

/** How often a change is tried that others come before. */
export const BOOK_TRIES = 50;

/** A name and what it stands for; null: nothing any more. */
export interface BookEntry<State> {
  name: string;
  state: State | null;
}

/** Where a host keeps what it knows by names. */
export function hostBook(app: string, about: string): JournalKey {
  return { app, userId: HOST_NOTES, agent: `/${about}`, sessionId: `/${about}` };
}

/** Of what is written in a book of a host: whose it is. */
interface Owned {
  /** Of what a receiver is owed. */
  place?: { userId?: string };
  /** Of a schedule. */
  set?: { userId?: string };
}

const ownerOf = ({ place, set }: Owned): string | undefined => place?.userId ?? set?.userId;

/**
 * Removes the schedules of a user and what receivers are owed of their turns, former states of these included: for stores, whose
 * `eraseUser` removes everything of a user.
 * @throws CoxswainError `ABORTED / E_SESSION_CONFLICT`
 */
export async function eraseFromBooks(
  journal: HostJournal,
  { app, userId }: { app: string; userId: string },
): Promise<void> {
  for (const about of [SCHEDULE_BOOK, ...OUTCOME_BOOKS]) await eraseFrom(journal, hostBook(app, about), userId);
}

async function eraseFrom(journal: HostJournal, key: JournalKey, userId: string): Promise<void> {
  for (let tries = 0; tries < BOOK_TRIES; tries++) {
    const { id, records } = await journal.read(key, { id: '', length: 0 });
    const entries = records as unknown as readonly BookEntry<Owned>[];
    const isTheirs = ({ state }: BookEntry<Owned>) => state !== null && ownerOf(state) === userId;
    if (!entries.some(isTheirs)) return;
    const newest = new Map(entries.map((entry) => [entry.name, entry]));
    const left = [...newest.values()].filter((entry) => entry.state !== null && !isTheirs(entry));
    const mark = { id, length: records.length };
    const options = { waits: left.length > 0, instead: { after: 0 } };
    if (
      await journal.append(
        key,
        left.map(({ name, state }) => ({ name, state })),
        mark,
        options,
      )
    )
      return;
  }
  const message = `${key.agent.slice(1)}: others have changed them ${BOOK_TRIES} times meanwhile; try again`;
  throw new CoxswainError('ABORTED', 'E_SESSION_CONFLICT', message);
}
