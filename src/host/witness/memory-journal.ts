import type { HostJournal, JournalKey, JournalRecord } from '../../contracts/index.ts';

/** A journal that lasts as long as its host: what it does not know after a restart is asked again. */
export class MemoryJournal implements HostJournal {
  readonly #sessions = new Map<string, JournalRecord[]>();

  async read(key: JournalKey, after: number): Promise<readonly JournalRecord[]> {
    return this.#sessions.get(nameOf(key))?.slice(after) ?? [];
  }

  async append(key: JournalKey, records: readonly JournalRecord[], length: number): Promise<boolean> {
    const name = nameOf(key);
    const known = this.#sessions.get(name) ?? [];
    if (known.length !== length) return false;
    known.push(...records);
    this.#sessions.set(name, known);
    return true;
  }
}

function nameOf({ app, userId, agent, sessionId }: JournalKey): string {
  return JSON.stringify([app, userId, agent, sessionId]);
}
