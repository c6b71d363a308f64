import type { HostJournal, JournalKey, JournalMark, JournalPage } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { BookEntry } from '../../session/index.ts';
import { BOOK_TRIES, hostBook } from '../../session/index.ts';

/** Records of a journal behind which it is replaced by what they come to, beside twice the states. */
const SPARE = 64;

/**
 * What all hosts of an app know by names, in their store: the newest state of each name counts. Two that change it at once
 * come one after the other. Where the store keeps no notes it lasts as long as this process.
 */
export class StateBook<State extends object> {
  readonly #journal: HostJournal;
  readonly #key: JournalKey;
  #states = new Map<string, State>();
  /** The same by their groups. */
  #groups = new Map<string, Map<string, State>>();
  readonly #groupOf: ((state: State) => string) | undefined;
  #mark: JournalMark = { id: '', length: 0 };
  #isRead = false;
  #reading: Promise<void> = Promise.resolve();

  /** `groupOf`: what of them is looked for together. */
  constructor(journal: HostJournal, app: string, about: string, groupOf?: (state: State) => string) {
    this.#journal = journal;
    this.#groupOf = groupOf;
    this.#key = hostBook(app, about);
  }

  /** Epoch milliseconds by the clock that all programs over the store have in common. */
  async now(): Promise<number> {
    return this.#journal.now ? this.#journal.now() : Date.now();
  }

  /** As they stand, and as they change from here on: it is not a copy. */
  async read(): Promise<ReadonlyMap<string, State>> {
    await this.#inOrder(() => this.#catchUp());
    return this.#states;
  }

  /** As they were when they were read last; undefined: they never were. */
  get known(): ReadonlyMap<string, State> | undefined {
    return this.#isRead ? this.#states : undefined;
  }

  /** Those of one group. */
  async readGroup(group: string): Promise<readonly (readonly [name: string, state: State])[]> {
    await this.#inOrder(() => this.#catchUp());
    return [...(this.#groups.get(group) ?? [])];
  }

  /** `to` makes the new state of that as it is: null: none, undefined: it stays. It may be asked again. */
  async change(
    name: string,
    to: (state: State | undefined, all: ReadonlyMap<string, State>) => State | null | undefined,
  ): Promise<boolean> {
    for (let tries = 0; tries < BOOK_TRIES; tries++) {
      const done = await this.#inOrder(async () => {
        await this.#catchUp();
        const state = to(this.#states.get(name), this.#states);
        if (state === undefined) return false;
        return (await this.#add({ name, state })) ? true : undefined;
      });
      if (done !== undefined) return done;
    }
    const message = `${this.#key.agent.slice(1)}: others have changed them ${BOOK_TRIES} times meanwhile; try again`;
    throw new CoxswainError('ABORTED', 'E_SESSION_CONFLICT', message);
  }

  /** One after the other: what is read fits its mark. */
  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#reading.then(work);
    this.#reading = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  async #catchUp(): Promise<void> {
    const page: JournalPage = await this.#journal.read(this.#key, this.#mark);
    const isSame = page.id === this.#mark.id;
    if (!isSame) {
      this.#states = new Map();
      this.#groups = new Map();
    }
    for (const record of page.records) this.#note(record as unknown as BookEntry<State>);
    this.#mark = { id: page.id, length: (isSame ? this.#mark.length : 0) + page.records.length };
    this.#isRead = true;
  }

  #note({ name, state }: BookEntry<State>): void {
    const before = this.#states.get(name);
    if (state === null) this.#states.delete(name);
    else this.#states.set(name, state);
    if (!this.#groupOf) return;
    if (before) {
      const group = this.#groupOf(before);
      const known = this.#groups.get(group);
      known?.delete(name);
      if (known?.size === 0) this.#groups.delete(group);
    }
    if (state === null) return;
    const group = this.#groupOf(state);
    const known = this.#groups.get(group);
    if (known) known.set(name, state);
    else this.#groups.set(group, new Map([[name, state]]));
  }

  async #add(entry: BookEntry<State>): Promise<boolean> {
    const isNew = entry.state !== null && !this.#states.has(entry.name);
    const isGone = entry.state === null && this.#states.has(entry.name);
    const size = this.#states.size + (isNew ? 1 : 0) - (isGone ? 1 : 0);
    const isLong = this.#mark.length >= SPARE + 2 * size;
    const records = isLong ? this.#allWith(entry) : [{ ...entry }];
    const options = { waits: size > 0, ...(isLong ? { instead: { after: 0 } } : {}) };
    const mark = await this.#journal.append(this.#key, records, this.#mark, options);
    if (!mark) return false;
    // In place: one change of many states costs no more than one of few.
    this.#note(entry);
    this.#mark = mark;
    return true;
  }

  #allWith(entry: BookEntry<State>): { name: string; state: State | null }[] {
    const all = new Map(this.#states);
    if (entry.state === null) all.delete(entry.name);
    else all.set(entry.name, entry.state);
    return [...all].map(([name, state]) => ({ name, state }));
  }
}
