import { LazyMap, LazySet, MANY } from '../../base/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { History, Viewer } from '../history/index.ts';
import type { Fold, StoredEvent } from '../log/index.ts';
import { isLarge, sharedPart, sizeOf } from '../log/index.ts';
import type { SessionKey, SessionRecord, SessionService } from '../store/index.ts';
import { storeRefusal } from '../store/index.ts';
import type { Checkpoint } from './checkpoint.ts';
import { storedForm } from './checkpoint.ts';
import { readInPages } from './log-pages.ts';
import { SessionLog } from './session-log.ts';
import { ViewerHistories } from './viewer-histories.ts';

/** What waits in memory for an answer, and lives no longer than its process. */
export interface Held {
  /** Nobody will come back for it. */
  release(reason: unknown): void;
}

/** Events from one checkpoint to the next, where the store says nothing; a log of twice as many is read as it is. */
const EVERY = 500;

interface Listener {
  readonly hear: (event: StoredEvent) => void;
}

/**
 * What this process has of the log of one session, and what it comes to: events are taken in here alone, in order, and
 * those who listen are told. What lies before a checkpoint is read when it is asked for.
 */
export abstract class LiveLog {
  readonly key: SessionKey;
  readonly service: SessionService;
  readonly createdAt: number;
  readonly initialState: Readonly<Record<string, unknown>>;
  /** Executors that wait in memory, by path. */
  readonly held = new LazyMap<string, Held>();
  readonly #log: SessionLog;
  readonly #histories: ViewerHistories;
  readonly #listeners = new LazySet<Listener>();
  /** Those that the next event is for; undefined: others than for the last one. Somebody may be in the middle of them. */
  #hearing: readonly Listener[] | undefined;
  /** What lies before the checkpoint is being read. */
  #reading: Promise<void> | undefined;

  /** With a checkpoint, none of the record's events are taken in: they may go back to before it. */
  protected constructor(service: SessionService, record: SessionRecord, checkpoint?: Checkpoint) {
    this.service = service;
    this.createdAt = record.createdAt;
    this.initialState = record.initialState;
    this.key = record.key;
    this.#log = new SessionLog(record, service.chained !== false, everyOf(service), checkpoint);
    this.#histories = new ViewerHistories(this.#log);
    if (!checkpoint) this.takeIn(record);
    // Deltas of other sessions are in the record, not in this log.
    this.fold.shared = sharedPart(record.state);
  }

  /** What the events that count come to: the same object always. */
  get fold(): Fold {
    return this.#log.fold;
  }

  /**
   * A log that is shorter than what was read of it is another one: deleted and made again. `at` is where it stood when
   * the record was asked for: what was written here meanwhile is not in it.
   */
  protected isOf(record: SessionRecord, at = this.at): boolean {
    return at <= record.lastSeq && this.createdAt === record.createdAt;
  }

  /** Another one for each session that is made under its id, whether it is a copy of a log or not. */
  get uid(): string | undefined {
    const { first } = this.fold;
    return first === '' ? undefined : `${this.createdAt}.${first}`;
  }

  protected takeIn(record: SessionRecord): void {
    for (const event of record.events) this.apply(event);
    // Amid the pages of a log nobody has it.
    if (this.at >= record.lastSeq) this.settle();
  }

  /** Whoever has the fold finds it as it is. */
  protected settle(): void {
    this.#log.settle();
  }

  /** As `takeIn`; what is not read here is read before, where one of these goes back to it. */
  protected takeInAfter(record: SessionRecord): Promise<void> | undefined {
    const needsOlder = this.needsOlder(record.events);
    if (!needsOlder && !isLarge(record.events)) {
      this.takeIn(record);
      return undefined;
    }
    return (needsOlder ? this.whole() : Promise.resolve())
      .then(() => this.prepare(record.events))
      .then(() => this.takeIn(record));
  }

  /** Of events with many calls: what is left of taking them in is short. */
  async prepare(events: readonly StoredEvent[]): Promise<void> {
    for (const event of events) if (sizeOf(event) > MANY) await this.#log.prepare(event);
  }

  protected needsOlder(events: readonly StoredEvent[]): boolean {
    return this.#log.from > 0 && events.some((event) => this.#log.needsOlder(event));
  }

  /** Events that count, in order: what a rewind has cut is not among them, nor those up to `from`. */
  get log(): readonly StoredEvent[] {
    return this.#log.events;
  }

  /** seq of the event up to which the log is not read here, since a checkpoint stands for it; 0 for none. */
  get from(): number {
    return this.#log.from;
  }

  /** Reads what is not read of the log, in pages. */
  async whole(): Promise<void> {
    while (this.#log.from > 0) {
      this.#reading ??= this.#readOlder().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
  }

  /** Reads what is not read of the log, if what is here knows nothing of this request: its call may be over. */
  async seek(requestId: string): Promise<void> {
    if (this.from > 0 && !this.fold.callOf(requestId)) await this.whole();
  }

  async #readOlder(): Promise<void> {
    const { from } = this.#log;
    let older: SessionLog | undefined;
    await readInPages(
      this.service,
      this.key,
      0,
      (page) => {
        older ??= new SessionLog(page, false, Number.POSITIVE_INFINITY);
        for (const event of page.events) older.take(event);
      },
      from,
    );
    if (older?.fold.at !== from) throw storeRefusal.missing(this.key);
    this.#log.precede(older);
    this.#histories.clear();
  }

  /** Writes down what the log has come to, where that is due: a hint for whoever opens the session next. */
  keepCheckpoint(warn: (message: string, error?: unknown) => void): Promise<void> | undefined {
    const checkpoint = this.#log.due();
    const { checkpoints } = this.service;
    const stored = checkpoint && checkpoints && storedForm(this.key, this.createdAt, checkpoint);
    if (!stored) return undefined;
    return checkpoints.keep(this.key, stored).catch((error: unknown) => {
      warn(`a checkpoint of session ${this.key.id} could not be kept: opening it reads more of its log`, error);
    });
  }

  /** seq of the newest event that is known here. */
  get at(): number {
    return this.#log.at;
  }

  /** Called for each stored event, in order, as soon as it is part of the fold. */
  listen(listener: (event: StoredEvent) => void): () => void {
    const own = { hear: listener };
    this.#listeners.add(own);
    this.#hearing = undefined;
    return () => {
      if (this.#listeners.delete(own)) this.#hearing = undefined;
    };
  }

  /** Events that somebody else is about to append, bound to what is known of the log here. */
  link(events: readonly StoredEvent[], digests?: ReadonlyMap<StoredEvent, string>): readonly StoredEvent[] {
    return this.#log.link(events, digests);
  }

  /** Its newest event, as far as it is known here: it is read where a checkpoint stands for it. */
  async newest(): Promise<StoredEvent | undefined> {
    const { at } = this;
    const [known] = this.since(at - 1);
    if (known || at === 0) return known;
    let found: StoredEvent | undefined;
    const see = ({ events }: SessionRecord) => {
      found = events.at(-1);
    };
    await readInPages(this.service, this.key, at - 1, see, at);
    return found;
  }

  /** Events of the log with a higher seq, none of them before `from`. */
  since(seq: number): StoredEvent[] {
    return this.#log.since(seq);
  }

  /** What a viewer is shown. Later where the log must be read for it. */
  history(viewer: Viewer): History | Promise<History> {
    const isHere = this.from === 0 || viewer.iso !== '' || (viewer.from ?? 0) > this.from;
    return isHere ? this.#histories.history(viewer) : this.whole().then(() => this.#histories.history(viewer));
  }

  /** The contents of the same. */
  contents(viewer: Viewer): History['contents'] | Promise<History['contents']> {
    const history = this.history(viewer);
    return history instanceof Promise ? history.then(({ contents }) => contents) : history.contents;
  }

  /** Ends every executor that waits in memory. */
  releaseHeld(reason: string): void {
    const held = [...this.held.values()];
    this.held.clear();
    for (const one of held) one.release(new CoxswainError('ABORTED', 'E_ABORTED', reason));
  }

  protected apply(event: StoredEvent): void {
    if (event.seq <= this.#log.at) return;
    const { rewound, turn } = event.actions;
    if (turn) this.#forgetTurn();
    this.#log.take(event);
    if (rewound) {
      this.#histories.clear();
      this.releaseHeld('the session was rewound');
    }
    if (this.#listeners.size === 0) return;
    this.settle();
    this.#hearing ??= [...this.#listeners];
    for (const { hear } of this.#hearing) hear(event);
  }

  #forgetTurn(): void {
    this.#histories.forgetTurn();
    this.releaseHeld('a new turn began');
  }
}

export function everyOf({ checkpoints }: SessionService): number {
  return checkpoints ? (checkpoints.every ?? EVERY) : Number.POSITIVE_INFINITY;
}
