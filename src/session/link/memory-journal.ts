import { LazyMap, newId } from '../../base/index.ts';
import type {
  HostJournal,
  JournalAppend,
  JournalKey,
  JournalMark,
  JournalPage,
  JournalRecord,
} from '../../contracts/index.ts';
import { parseJson } from '../../contracts/index.ts';
import { HOST_NOTES } from './host-books.ts';

/** Sessions whose notes are kept, of those in which something is open, and of the others. */
const MOST = 10_000;

interface Notes {
  id: string;
  /** JSON: what was noted does not change with what it was made of. */
  records: string[];
  waits: boolean;
}

/** Of a session that a person has opened, and of those below it. */
interface Family {
  readonly app: string;
  readonly userId: string;
  /** Nearly always of one session. */
  readonly notes: LazyMap<string, Notes>;
}

/**
 * A journal that lasts as long as its process. Of more than 10,000 sessions, those that were noted in least lately are
 * forgotten, which is to say asked about again; where something is open, they are counted by themselves. What a host notes of no
 * session is kept.
 */
export class MemoryJournal implements HostJournal {
  readonly #waiting = new Map<string, Family>();
  readonly #settled = new Map<string, Family>();
  /** Of no session. */
  readonly #hosts = new Map<string, Family>();

  async read(key: JournalKey, mark: JournalMark): Promise<JournalPage> {
    const notes = this.#family(key)?.notes.get(nameOf(key));
    if (!notes) return { id: '', records: [] };
    const { id, records } = notes;
    return {
      id,
      records: records.slice(id === mark.id ? mark.length : 0).map((text) => parseJson(text) as JournalRecord),
    };
  }

  async append(
    key: JournalKey,
    records: readonly JournalRecord[],
    mark: JournalMark,
    { waits = false, instead }: JournalAppend = {},
  ): Promise<JournalMark | undefined> {
    const family = this.#family(key) ?? { app: key.app, userId: key.userId, notes: new LazyMap<string, Notes>() };
    const known = family.notes.get(nameOf(key));
    if ((known?.id ?? '') !== mark.id || (known?.records.length ?? 0) !== mark.length) return undefined;
    const added = records.map((record) => JSON.stringify(record));
    const kept = instead ? (known?.records.slice(0, instead.after) ?? []) : [];
    const notes = known && !instead ? known : { id: newId(), records: kept, waits };
    for (const text of added) notes.records.push(text);
    notes.waits = waits;
    family.notes.set(nameOf(key), notes);
    this.#keep(familyOf(key), family);
    return { id: notes.id, length: notes.records.length };
  }

  async forget({ app, userId, sessionId }: { app: string; userId: string; sessionId?: string }): Promise<void> {
    for (const families of [this.#waiting, this.#settled]) {
      if (sessionId !== undefined) families.delete(JSON.stringify([app, userId, sessionId]));
      else for (const [name, of] of families) if (of.app === app && of.userId === userId) families.delete(name);
    }
  }

  #family(key: JournalKey): Family | undefined {
    const name = familyOf(key);
    return this.#waiting.get(name) ?? this.#settled.get(name) ?? this.#hosts.get(name);
  }

  #keep(name: string, family: Family): void {
    if (family.userId === HOST_NOTES) {
      this.#hosts.set(name, family);
      return;
    }
    this.#waiting.delete(name);
    this.#settled.delete(name);
    const waits = [...family.notes.values()].some((notes) => notes.waits);
    const families = waits ? this.#waiting : this.#settled;
    families.set(name, family);
    const [oldest] = families.keys();
    if (families.size > MOST && oldest !== undefined) families.delete(oldest);
  }
}

function familyOf({ app, userId, sessionId, root = sessionId }: JournalKey): string {
  return JSON.stringify([app, userId, root]);
}

function nameOf({ agent, sessionId }: JournalKey): string {
  return JSON.stringify([agent, sessionId]);
}
