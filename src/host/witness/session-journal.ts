import type { HostJournal, JournalKey, JournalMark, JournalRecord } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { pauseAfter } from '../../session/index.ts';
import { KnownCalls } from './known-calls.ts';
import { readNotes } from './read-notes.ts';
import type { WitnessRecord } from './records.ts';

/** Somebody else has written in between as often: a journal that says so each time is not right. */
const TRIES = 1000;
/** Records of which a session's state is put in their place. */
const MANY = 1000;

const none: JournalMark = { id: '', length: 0 };

/** What a host knows of one session: its journal, folded. Shared by all handles of the session in one host. */
export class SessionJournal {
  readonly known = new KnownCalls();
  readonly #journal: HostJournal;
  readonly #key: JournalKey;
  #mark = none;
  /** Length at which the state takes the place of the records. */
  #many = MANY;
  #last: Promise<unknown> = Promise.resolve();

  constructor(journal: HostJournal, key: JournalKey) {
    this.#journal = journal;
    this.#key = key;
  }

  /** Takes in what other hosts over the same store have noted. */
  catchUp(): Promise<void> {
    return this.#inTurn(() => this.#read());
  }

  /**
   * Notes what `make` says, which looks at what is known, and is asked again where somebody else was faster. What it
   * throws is thrown, and nothing is noted.
   */
  note(make: (known: KnownCalls) => readonly WitnessRecord[]): Promise<void> {
    return this.#inTurn(async () => {
      for (let tries = 1; ; tries++) {
        const records = make(this.known);
        if (records.length === 0) return;
        const mark = await this.#journal.append(this.#key, asJson(records), this.#mark, {
          waits: this.known.waitsAfter(records),
        });
        if (mark) {
          this.#mark = mark;
          for (const record of records) this.known.apply(record);
          if (mark.length >= this.#many) await this.#shorten();
          return;
        }
        if (tries === TRIES)
          throw new CoxswainError('ABORTED', 'E_STORE', 'the journal of the host is never up to date');
        const pause = pauseAfter(tries);
        if (pause) await pause;
        await this.#read();
      }
    });
  }

  async #read(): Promise<void> {
    const { id, records } = await this.#journal.read(this.#key, this.#mark);
    const isSame = id === this.#mark.id;
    const length = isSame ? this.#mark.length : 0;
    // All of them before any is taken in: half of a state is none.
    const notes = readNotes(records, this.#key, length);
    // Deleted, made again, or shortened: what counts is what is there now.
    if (!isSame) this.known.reset();
    for (const record of notes) this.known.apply(record);
    this.#mark = { id, length: length + records.length };
  }

  /** The state in the place of the records, without what it has of them as it is: the cost is that of what goes. */
  async #shorten(): Promise<void> {
    const { after, records } = this.known.summary();
    try {
      const mark = await this.#journal.append(this.#key, asJson(records), this.#mark, {
        waits: this.known.waitsAfter([]),
        instead: { after },
      });
      if (mark) {
        this.#mark = mark;
        this.known.shortened();
      }
    } catch {
      // What was to be noted is noted: this is tried again with what comes next.
    }
    // Many that are open are not written anew for each few.
    this.#many = this.#mark.length + Math.max(MANY, this.known.calls.size);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}

function asJson(records: readonly WitnessRecord[]): readonly JournalRecord[] {
  return records as readonly unknown[] as JournalRecord[];
}
