import { breath, LazyMap, MANY } from '../../base/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { Stirred } from '../../session/index.ts';
import type { Event, Viewer } from '../log/index.ts';
import { Chain, Fold, History, sharedPart, sizeOf } from '../log/index.ts';
import type { Lease, SessionKey, SessionRecord, SessionService } from '../store/index.ts';
import { checkKey, storeRefusal } from '../store/index.ts';
import type { CurrentRun } from './current-run.ts';
import { KnownSessions } from './known-sessions.ts';
import { readInPages } from './log-pages.ts';
import { SharedAppends } from './shared-appends.ts';
import type { FollowOptions } from './store-follower.ts';
import { StoreFollower } from './store-follower.ts';

/** What waits in memory for an answer, and lives no longer than its process. */
export interface Held {
  /** Nobody will come back for it. */
  release(reason: unknown): void;
}

const known = new WeakMap<SessionService, KnownSessions<LiveSession>>();

function knownOf(service: SessionService): KnownSessions<LiveSession> {
  let sessions = known.get(service);
  if (!sessions) {
    sessions = new KnownSessions();
    known.set(service, sessions);
  }
  return sessions;
}

const noListeners: readonly never[] = [];

/**
 * One session in this process: its log, the fold of it, and the one way into the log. All handles of a process share
 * one; other processes follow the log.
 */
export class LiveSession {
  readonly key: SessionKey;
  readonly service: SessionService;
  readonly createdAt: number;
  readonly initialState: Readonly<Record<string, unknown>>;
  readonly fold: Fold;
  /** Events that count, in order: what a rewind has cut is not among them. */
  readonly log: Event[] = [];
  /** Executors that wait in memory, by path. */
  readonly held = new LazyMap<string, Held>();
  current: CurrentRun | undefined;
  /** A turn of several runs is under way here: it keeps the session between them, too. */
  holding: { readonly lease: Lease; readonly by: object } | undefined;
  /** Of the newest lease that was taken here; it may have been given back. */
  epoch: number | undefined;
  /** What is open is being settled while nothing runs. */
  aborting: Promise<void> | undefined;
  /** Told what the executors that wait in memory need of whoever drives them. */
  stir: ((needs: Stirred) => void) | undefined;
  readonly #chain = new Chain();
  readonly #appends = new SharedAppends(this);
  readonly #steers = new LazyMap<string, Event>();
  readonly #histories = new LazyMap<string, History>();
  /** Copied when it changes: somebody may be in the middle of it. */
  #listeners: readonly ((event: Event) => void)[] = noListeners;
  /** Settles with the last of those that wait for their turn. */
  #turns: Promise<void> | undefined;

  private constructor(service: SessionService, record: SessionRecord) {
    this.service = service;
    this.createdAt = record.createdAt;
    this.initialState = record.initialState;
    this.key = record.key;
    this.fold = new Fold(record.initialState, sharedPart(record.state));
    this.#takeIn(record);
    // Deltas of other sessions are in the record, not in this log.
    this.fold.shared = sharedPart(record.state);
  }

  /** @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND` */
  static async open(service: SessionService, key: SessionKey): Promise<LiveSession> {
    const live = await LiveSession.find(service, key);
    if (!live) throw storeRefusal.missing(key);
    return live;
  }

  /** The one of this process, up to date; read page by page where nobody holds it. Undefined: it is not stored. */
  static async find(service: SessionService, key: SessionKey): Promise<LiveSession | undefined> {
    // Names are of safe parts alone: no other two parts make the same one.
    checkKey(key);
    const sessions = knownOf(service);
    for (;;) {
      let live = sessions.get(key);
      if (!live) {
        const found = await sessions.read(key, () => LiveSession.#read(service, key));
        if (!found.live || found.isNew) return found.live;
        live = found.live;
      }
      const known = live;
      let isSame = true;
      const record = await readInPages(service, key, known.at, (page) => {
        isSame &&= known.isOf(page);
        if (isSame) known.#takeIn(page);
      });
      if (!record || isSame) return record && known;
      // Deleted and made again since it was read.
      if (sessions.get(key) === known) sessions.forget(key);
    }
  }

  /** The one for this record; kept as long as somebody holds it. */
  static of(service: SessionService, record: SessionRecord): LiveSession {
    const sessions = knownOf(service);
    const live = sessions.get(record.key);
    if (live?.isOf(record)) {
      live.#takeIn(record);
      return live;
    }
    const made = new LiveSession(service, record);
    sessions.set(made);
    return made;
  }

  static async #read(service: SessionService, key: SessionKey): Promise<LiveSession | undefined> {
    let live: LiveSession | undefined;
    const record = await readInPages(service, key, 0, (page) => {
      live ??= new LiveSession(service, page);
      if (!live.isOf(page)) throw storeRefusal.replaced(key);
      live.#takeIn(page);
    });
    if (record && live) live.fold.shared = sharedPart(record.state);
    return record && live;
  }

  /** One that nobody else knows of: for a look at what is not stored yet. */
  static apart(service: SessionService, record: SessionRecord): LiveSession {
    return new LiveSession(service, record);
  }

  /** A log that is shorter than what was read of it is another one: deleted and made again. */
  private isOf(record: SessionRecord): boolean {
    return this.fold.at <= record.lastSeq && this.createdAt === record.createdAt;
  }

  #takeIn(record: SessionRecord): void {
    for (const event of record.events) this.#apply(event);
  }

  /** seq of the newest event that is known here. */
  get at(): number {
    return this.fold.at;
  }

  /**
   * Takes the session for a turn of several runs. All that this process does under a lease meanwhile goes under this one.
   * @returns what gives it back
   * @throws CoxswainError `ABORTED / E_SESSION_BUSY`, `NOT_FOUND / E_SESSION_NOT_FOUND`
   */
  async hold(by: object): Promise<() => Promise<void>> {
    const lease = await this.#acquire();
    const holding = { lease, by };
    this.holding = holding;
    const release = async () => {
      if (this.holding !== holding) return;
      this.holding = undefined;
      await lease.release();
    };
    try {
      if (lease.lastSeq > this.fold.at) await this.catchUp();
      return release;
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** The right to write alone: of the turn that is under way here, or one of its own. */
  async lease(): Promise<Lease> {
    const { holding } = this;
    if (!holding) return this.#acquire();
    const record = await this.catchUp();
    if (!record) throw storeRefusal.missing(this.key);
    const { epoch } = holding.lease;
    return { epoch, lastSeq: record.lastSeq, shared: sharedPart(record.state), release: async () => {} };
  }

  async #acquire(): Promise<Lease> {
    const lease = await this.service.acquire(this.key);
    this.epoch = lease.epoch;
    return lease;
  }

  /** Epoch of the lease that somebody alive holds now. */
  async holder(): Promise<number | undefined> {
    return this.holding?.lease.epoch ?? this.service.holder(this.key);
  }

  /** Called for each stored event, in order, as soon as it is part of the fold. */
  listen(listener: (event: Event) => void): () => void {
    this.#listeners = this.#listeners.concat(listener);
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  /** As `listen`, and the store is looked into for what other processes append, until the returned function is called. */
  follow(listener: (event: Event) => void, options?: FollowOptions): () => void {
    const deaf = this.listen(listener);
    const leave = StoreFollower.of(this.service).follow(this, options);
    return () => {
      deaf();
      leave();
    };
  }

  /**
   * Appends a run's events. Appends that arrive while one is being written share the next transaction.
   * Resolves when they are stored and folded.
   */
  commit(events: Event[], epoch: number): Promise<void> {
    return this.#appends.commit(events, epoch);
  }

  /** Stores a run's first events where nobody has written since `at`. They are not taken in: see `absorb`. */
  store(events: readonly Event[], epoch: number, at: number): Promise<readonly Event[]> {
    return this.service.append(this.key, this.link(startedIn(epoch, events)), { epoch, expectedSeq: at });
  }

  /** Appends without a lease: answers, steers, updates. With `expectedSeq` only where nobody has written since. */
  async append(events: readonly Event[], options?: { expectedSeq: number }): Promise<void> {
    const { holding } = this;
    const own = holding ? startedIn(holding.lease.epoch, events) : events;
    const stored = await this.service.append(this.key, this.link(own), options);
    if (isLarge(stored)) await breath();
    const gap = this.absorb(stored);
    if (gap) await gap;
  }

  /** One after the other: of many that each append only where nobody has written since, all but one would repeat. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = (this.#turns ?? Promise.resolve()).then(work);
    const settled = done.then(
      () => {},
      () => {},
    );
    this.#turns = settled;
    void settled.then(() => {
      if (this.#turns === settled) this.#turns = undefined;
    });
    return done;
  }

  /** Events that somebody else is about to append, bound to what is known of the log here. */
  link(events: readonly Event[]): readonly Event[] {
    return this.service.chained === false ? events : this.#chain.link(events);
  }

  /** Takes in what other processes have written. */
  async catchUp(): Promise<SessionRecord | undefined> {
    const record = await this.service.get(this.key, { after: this.fold.at });
    if (record) this.#takeIn(record);
    return record;
  }

  /** Events of the log with a higher seq. */
  since(seq: number): Event[] {
    const last = this.log[seq - 1];
    if (seq <= 0 || last?.seq === seq) return this.log.slice(Math.max(0, seq));
    // A rewind has left a gap: places and seqs differ.
    return this.log.filter((event) => event.seq > seq);
  }

  /** The contents that a viewer is shown. */
  contents(viewer: Viewer): History['contents'] {
    const key = `${viewer.agent}|${viewer.branch ?? ''}|${viewer.iso}|${viewer.from ?? ''}`;
    let history = this.#histories.get(key);
    if (!history) {
      history = new History(viewer);
      this.#histories.set(key, history);
    }
    history.extend(this.log, (id) => this.#steers.get(id));
    return history.contents;
  }

  /** Ends every executor that waits in memory. */
  releaseHeld(reason: string): void {
    const held = [...this.held.values()];
    this.held.clear();
    for (const one of held) one.release(new CoxswainError('ABORTED', 'E_ABORTED', reason));
  }

  /** One transaction under a lease; not taken in. */
  write(events: readonly Event[], epoch: number): Promise<readonly Event[]> {
    const linked = this.link(startedIn(epoch, events));
    return isLarge(linked) ? this.#writeLarge(linked, epoch) : this.service.append(this.key, linked, { epoch });
  }

  /** Binding many calls to the chain, storing them and taking them in are pieces of work by themselves. */
  async #writeLarge(linked: readonly Event[], epoch: number): Promise<readonly Event[]> {
    await breath();
    const stored = await this.service.append(this.key, linked, { epoch });
    await breath();
    for (const event of stored) if (sizeOf(event) > MANY) await this.fold.prepare(event);
    return stored;
  }

  /** Takes in what was stored; a gap is read first. */
  absorb(stored: readonly Event[]): Promise<unknown> | undefined {
    const first = stored[0];
    // Somebody else has written in between: the gap is folded first, and these with it.
    if (first && first.seq > this.fold.at + 1) return this.catchUp();
    for (const event of stored) this.#apply(event);
    return undefined;
  }

  #apply(event: Event): void {
    if (event.seq <= this.fold.at) return;
    if (this.service.chained !== false) this.#chain.see(event);
    if (event.actions.rewound) this.#rewind(event.actions.rewound.through);
    if (event.actions.turn) this.#forgetTurn();
    this.log.push(event);
    if (event.actions.steer) this.#steers.set(event.id, event);
    this.fold.apply(event);
    for (const listener of this.#listeners) listener(event);
  }

  #rewind(through: number): void {
    const from = this.log.findIndex(({ seq }) => seq > through);
    const cut = from < 0 ? [] : this.log.splice(from);
    this.fold.rewind(this.initialState, this.log, cut);
    for (const { id } of cut) this.#steers.delete(id);
    this.#histories.clear();
    this.releaseHeld('the session was taken back');
  }

  /** Histories that no later turn can use: of agents run as tools, and of single turns. */
  #forgetTurn(): void {
    for (const key of this.#histories.keys()) if (!key.endsWith('||')) this.#histories.delete(key);
    this.releaseHeld('a new turn began');
  }
}

function isLarge(events: readonly Event[]): boolean {
  return events.some((event) => sizeOf(event) > MANY);
}

/** Starts are bound to the lease that they are made under. */
function startedIn(epoch: number, events: readonly Event[]): readonly Event[] {
  if (!events.some(({ actions }) => actions.started)) return events;
  return events.map((event) =>
    event.actions.started ? { ...event, actions: { ...event.actions, startedIn: epoch } } : event,
  );
}
