import type { HostJournal, JournalKey, JournalRecord } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { KnownCalls } from './known-calls.ts';
import type { WitnessRecord } from './records.ts';

/** Somebody else has written in between as often: a journal that says so each time is not right. */
const TRIES = 1000;

/** What a host knows of one session: its journal, folded. Shared by all handles of the session in one host. */
export class SessionJournal {
  readonly known = new KnownCalls();
  readonly #journal: HostJournal;
  readonly #key: JournalKey;
  #length = 0;
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
        if (await this.#journal.append(this.#key, records as readonly unknown[] as JournalRecord[], this.#length)) {
          this.#take(records);
          return;
        }
        if (tries === TRIES)
          throw new CoxswainError('ABORTED', 'E_STORE', 'the journal of the host is never up to date');
        await this.#read();
      }
    });
  }

  async #read(): Promise<void> {
    this.#take((await this.#journal.read(this.#key, this.#length)) as readonly unknown[] as WitnessRecord[]);
  }

  #take(records: readonly WitnessRecord[]): void {
    for (const record of records) this.known.apply(record);
    this.#length += records.length;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
