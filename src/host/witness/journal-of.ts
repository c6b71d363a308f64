import type { HostJournal } from '../../contracts/index.ts';
import { having } from '../../session/index.ts';

const journal = having('read', 'append', 'forget');

/** The journal that a store brings with it: stores of this package do. */
export function journalOf(store: unknown): HostJournal | undefined {
  try {
    if (typeof store !== 'object' || store === null || !('journal' in store)) return undefined;
    return journal.fits(store.journal) ? (store.journal as HostJournal) : undefined;
  } catch {
    // A proxy that lets nobody look at it: no store of this package, and whoever opens a session with it is told.
    return undefined;
  }
}
