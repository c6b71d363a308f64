import { LazyMap } from '../../base/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { StoredEvent } from '../log/index.ts';
import { Chain, Fold, sharedPart } from '../log/index.ts';
import type { SessionRecord } from '../store/index.ts';
import type { Checkpoint } from './checkpoint.ts';

/** The events of a session that count, from its beginning or from a checkpoint on, and what all of them come to. */
export class SessionLog {
  readonly fold: Fold;
  readonly #initialState: Readonly<Record<string, unknown>>;
  readonly #chain: Chain | undefined;
  readonly #every: number;
  readonly #steers = new LazyMap<string, StoredEvent>();
  #events: StoredEvent[] = [];
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
    this.fold = new Fold(record.initialState, sharedPart(record.state), checkpoint?.fold);
    this.#chain = isChained ? new Chain(checkpoint?.chain) : undefined;
    this.#every = every;
    this.#checkpoint = checkpoint;
    this.#marked = this.from;
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
    if (rewound) this.#rewind(rewound.through);
    this.#events.push(event);
    if (event.actions.steer) this.#steers.set(event.id, event);
    this.fold.apply(event);
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
    return this.#events.filter((event) => event.seq > seq);
  }

  /** Puts what comes before the checkpoint in its place. */
  precede(older: SessionLog): void {
    this.#events = older.#events.concat(this.#events);
    for (const [id, event] of older.#steers) this.#steers.set(id, event);
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
    const { at } = this.fold;
    const last = this.#events.at(-1);
    if (at - this.#marked < this.#every || last?.seq !== at) return;
    const fold = this.fold.betweenTurns();
    if (!fold) return;
    this.#due = { eventId: last.id, fold, chain: this.#chain?.state ?? Chain.none };
    this.#marked = at;
  }

  #rewind(through: number): void {
    const from = this.#events.findIndex(({ seq }) => seq > through);
    const cut = from < 0 ? [] : this.#events.splice(from);
    this.fold.rewind(this.#initialState, this.#events, cut, this.#checkpoint?.fold);
    for (const { id } of cut) this.#steers.delete(id);
  }
}
