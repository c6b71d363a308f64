import { LazyMap } from '../../base/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { StoredEvent } from '../log/index.ts';
import { Chain, Fold, sharedPart } from '../log/index.ts';
import type { SessionRecord } from '../store/index.ts';
import type { Checkpoint } from './checkpoint.ts';

/** The events of a session that count, from its beginning or from a checkpoint on, and what all of them come to. */
export class SessionLog {
  readonly #fold: Fold;
  readonly #initialState: Readonly<Record<string, unknown>>;
  readonly #chain: Chain | undefined;
  readonly #every: number;
  readonly #steers = new LazyMap<string, StoredEvent>();
  #events: StoredEvent[] = [];
  /** seq of the newest event that was taken in. */
  #at: number;
  /** A rewind has cut what the fold was made of: it is made anew when it is looked at, however many rewinds come before. */
  #isStale = false;
  /** Events that were taken in since the fold was made anew. */
  #taken = 0;
  /** Events that started calls and are cut, by the seq of the rewind that counts and has cut them. */
  readonly #lost = new LazyMap<number, StoredEvent[]>();
  #checkpoint: Checkpoint | undefined;
  /** seq of the newest checkpoint that is known here. */
  #marked: number;
  #due: Checkpoint | undefined;

  /**
   * `checkpoint`: what the events up to its own have come to; they are not given. `every`: the events after which it is
   * worth while to write down what the log has come to.
   */
  constructor(record: SessionRecord, isChained: boolean, every: number, checkpoint?: Checkpoint) {
    this.#initialState = record.initialState;
    this.#fold = new Fold(record.initialState, sharedPart(record.state), checkpoint?.fold);
    this.#at = this.#fold.at;
    this.#chain = isChained ? new Chain(checkpoint?.chain) : undefined;
    this.#every = every;
    this.#checkpoint = checkpoint;
    this.#marked = this.from;
  }

  /** What the events that count come to. */
  get fold(): Fold {
    this.settle();
    return this.#fold;
  }

  get at(): number {
    return this.#at;
  }

  /** Makes the fold anew where a rewind has cut what it was made of. */
  settle(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#taken = 0;
    this.#fold.rewind(this.#initialState, this.#events, this.#lost, this.#checkpoint?.fold);
  }

  /** Makes the calls of a large event before it is taken in. */
  prepare(event: StoredEvent): Promise<void> {
    return this.#fold.prepare(event);
  }

  /** In order: what a rewind has cut is not among them, and those up to `from` are not read. */
  get events(): readonly StoredEvent[] {
    return this.#events;
  }

  /** seq of the event up to which a checkpoint stands for the log; 0 where all of it is here. */
  get from(): number {
    return this.#checkpoint?.fold.seq ?? 0;
  }

  /** It goes back to before what is read: the older events come first. */
  needsOlder({ actions }: StoredEvent): boolean {
    return actions.rewound !== undefined && this.#checkpoint !== undefined && actions.rewound.through <= this.from;
  }

  /** The next event. */
  take(event: StoredEvent): void {
    const { rewound, turn } = event.actions;
    if (turn) this.#mark();
    this.#chain?.see(event);
    if (rewound) this.#rewind(event.seq, rewound.through);
    this.#events.push(event);
    if (event.actions.steer) this.#steers.set(event.id, event);
    if (this.#isStale) this.#fold.outlast(event);
    else this.#fold.apply(event);
    this.#at = event.seq;
    this.#taken++;
    // Where it costs no more than the events since then did, it is not left for later: the whole log is not folded at once.
    if (!rewound && this.#taken >= this.#events.length) this.settle();
  }

  /** Words that were stored beside a turn. */
  steer(id: string): StoredEvent | undefined {
    return this.#steers.get(id);
  }

  /** Events that are about to be stored, with their links. */
  link(events: readonly StoredEvent[], digests?: ReadonlyMap<StoredEvent, string>): readonly StoredEvent[] {
    return this.#chain ? this.#chain.link(events, digests) : events;
  }

  /** Events with a higher seq, none of them before `from`. */
  since(seq: number): StoredEvent[] {
    const { from } = this;
    if (from > 0 && seq < from) {
      const message = `events from ${seq + 1} were asked for where those up to ${from} are not read: read the whole log first`;
      throw new CoxswainError('INTERNAL', 'E_INTERNAL', message, { details: { seq, from } });
    }
    const last = this.#events[seq - from - 1];
    if (seq <= from || last?.seq === seq) return this.#events.slice(Math.max(0, seq - from));
    // A rewind has left a gap: places and seqs differ.
    return this.#events.slice(this.#placeAfter(seq));
  }

  /** Puts what comes before the checkpoint in its place. */
  precede(older: SessionLog): void {
    this.#events = older.#events.concat(this.#events);
    for (const [id, event] of older.#steers) this.#steers.set(id, event);
    for (const [seq, starts] of older.#lost) this.#lost.set(seq, starts);
    this.fold.precede(older.fold);
    this.#checkpoint = undefined;
  }

  /** The newest checkpoint that is not written yet; given once. */
  due(): Checkpoint | undefined {
    const due = this.#due;
    this.#due = undefined;
    return due;
  }

  /** A turn is about to begin. */
  #mark(): void {
    // One that comes amid rewinds is a hint that the next turn gives as well.
    if (this.#isStale) return;
    const at = this.#at;
    const last = this.#events.at(-1);
    if (at - this.#marked < this.#every || last?.seq !== at) return;
    const fold = this.fold.betweenTurns();
    if (!fold) return;
    this.#due = { eventId: last.id, fold, chain: this.#chain?.state ?? Chain.none };
    this.#marked = at;
  }

  #rewind(seq: number, through: number): void {
    const cut = this.#events.splice(this.#placeAfter(through));
    let starts: StoredEvent[] = [];
    for (const event of cut) {
      this.#steers.delete(event.id);
      if (event.actions.started) starts.push(event);
      const lost = this.#lost.get(event.seq);
      if (!lost) continue;
      // A rewind that is cut itself: what it has cut has started all the same. The longer list stays as it is.
      this.#lost.delete(event.seq);
      const [longer, shorter] = lost.length > starts.length ? [lost, starts] : [starts, lost];
      for (const start of shorter) longer.push(start);
      starts = longer;
    }
    if (starts.length > 0) this.#lost.set(seq, starts);
    this.#fold.cut(cut);
    this.#isStale = true;
  }

  /** How many of the events have this seq or a lower one. */
  #placeAfter(seq: number): number {
    let [low, high] = [0, this.#events.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.seq ?? 0) > seq) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
