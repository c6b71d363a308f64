import type { HoldOptions, Stirred } from '../../session/index.ts';
import type { StoredEvent } from '../log/index.ts';
import { sharedPart } from '../log/index.ts';
import type { Lease, SessionKey, SessionRecord, SessionService } from '../store/index.ts';
import { checkKey, stateAt, storeRefusal } from '../store/index.ts';
import type { Checkpoint } from './checkpoint.ts';
import { handOn, newestCheckpoint } from './checkpoint.ts';
import type { CurrentRun } from './current-run.ts';
import { tellOthers } from './doorbell.ts';
import { KnownSessions } from './known-sessions.ts';
import { everyOf, LiveLog } from './live-log.ts';
import { PAGE, readInPages } from './log-pages.ts';
import type { Holding } from './session-leases.ts';
import { SessionLeases } from './session-leases.ts';
import { SessionWrites } from './session-writes.ts';
import { SharedAppends } from './shared-appends.ts';
import type { FollowOptions } from './store-follower.ts';
import { StoreFollower } from './store-follower.ts';

const known = new WeakMap<SessionService, KnownSessions<LiveSession>>();

function knownOf(service: SessionService): KnownSessions<LiveSession> {
  let sessions = known.get(service);
  if (!sessions) {
    sessions = new KnownSessions();
    known.set(service, sessions);
  }
  return sessions;
}

/**
 * One session in this process: its log, the fold of it, and the one way into the log. All handles of a process share
 * one; other processes follow the log.
 */
export class LiveSession extends LiveLog {
  current: CurrentRun | undefined;
  /** What is open is being settled while nothing runs. */
  aborting: Promise<void> | undefined;
  /** Told what the executors that wait in memory need of whoever drives them. */
  stir: ((needs: Stirred) => void) | undefined;
  readonly #leases = new SessionLeases(this);
  readonly #writes = new SessionWrites(this);
  readonly #appends = new SharedAppends(this);

  private constructor(service: SessionService, record: SessionRecord, checkpoint?: Checkpoint) {
    super(service, record, checkpoint);
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
      if (known.stateNow) return known;
      let isSame = true;
      const { at } = known;
      const record = await readInPages(service, key, at, (page) => {
        isSame &&= known.isOf(page, at);
        return isSame ? known.takeInAfter(page) : undefined;
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
      // What goes back to before what is read here is taken in with the next look.
      if (!live.needsOlder(record.events)) live.takeIn(record);
      return live;
    }
    const made = new LiveSession(service, record);
    sessions.set(made);
    return made;
  }

  /** Of a session that was just made as a copy of another one. */
  static async copied(service: SessionService, source: SessionKey, copy: SessionRecord): Promise<LiveSession> {
    if (isLong(service, copy)) await handOn(service, source, copy);
    return LiveSession.open(service, copy.key);
  }

  static async #read(service: SessionService, key: SessionKey): Promise<LiveSession | undefined> {
    const first = await service.get(key, { after: 0, limit: PAGE });
    if (!first) return undefined;
    const live =
      (isLong(service, first) && (await LiveSession.#fromCheckpoint(service, first))) ||
      new LiveSession(service, first);
    if (live.at === first.lastSeq) return live;
    const record = await readInPages(service, key, live.at, (page) => {
      if (!live.isOf(page)) throw storeRefusal.replaced(key);
      return live.takeInAfter(page);
    });
    if (record) live.fold.shared = sharedPart(record.state);
    return record && live;
  }

  /** Undefined: there is none that fits the log. */
  static async #fromCheckpoint(service: SessionService, { key, createdAt }: SessionRecord) {
    const checkpoint = await newestCheckpoint(service, key, createdAt);
    if (!checkpoint) return undefined;
    const { seq } = checkpoint.fold;
    const page = await service.get(key, { after: seq - 1, limit: PAGE });
    const [last] = page?.events ?? [];
    const isOfLog = page?.createdAt === createdAt && last?.seq === seq && last.id === checkpoint.eventId;
    if (!isOfLog) return undefined;
    const live = new LiveSession(service, page, checkpoint);
    await live.takeInAfter(page);
    live.fold.shared = sharedPart(page.state);
    return live;
  }

  /** One that nobody else knows of: for a look at what is not stored yet. */
  static apart(service: SessionService, record: SessionRecord): LiveSession {
    return new LiveSession(service, record);
  }

  /** The turn of several runs that is under way here. */
  get holding(): Holding | undefined {
    return this.#leases.holding;
  }

  /** Of the newest lease that was taken here; it may have been given back. */
  get epoch(): number | undefined {
    return this.#leases.epoch;
  }

  /** Takes the session for a turn of several runs: see {@link SessionLeases.hold}. */
  hold(by: object, options?: HoldOptions): Promise<() => Promise<void>> {
    return this.#leases.hold(by, options);
  }

  /** The right to write alone: of the turn that is under way here, or one of its own. */
  lease(): Promise<Lease> {
    return this.#leases.take();
  }

  /** The same, with a run's first events where nobody has written since `at`: see {@link SessionLeases.takeWith}. */
  leaseWith(events: readonly StoredEvent[], at: number): Promise<Lease> {
    return this.#leases.takeWith(events, at);
  }

  /** A lease can be taken with the events of a turn that begins. */
  get takesLeaseWithEvents(): boolean {
    return this.#leases.takesEvents;
  }

  /** The last events of a turn, under the lease of its run; with them it is given back, where that can be. */
  async commitLast(events: StoredEvent[], lease: Lease): Promise<void> {
    const own = this.#appends.isWriting ? undefined : this.#leases.endingWith(lease);
    if (!own) return this.commit(events, lease.epoch);
    const gap = this.absorb(await own.releaseWith(this.link(events)));
    if (gap) await gap;
  }

  /** Epoch of the lease that somebody alive holds now. */
  holder(): Promise<number | undefined> {
    return this.#leases.holder();
  }

  /** As `listen`, and the store is looked into for what other processes append, until the returned function is called. */
  follow(listener: (event: StoredEvent) => void, options?: FollowOptions): () => void {
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
  commit(events: StoredEvent[], epoch: number): Promise<void> {
    return this.#appends.commit(events, epoch);
  }

  /** Stores a run's first events where nobody has written since `at`. They are not taken in: see `absorb`. */
  store(events: readonly StoredEvent[], epoch: number, at: number): Promise<readonly StoredEvent[]> {
    return this.#writes.first(events, epoch, at);
  }

  /** Appends without a lease: answers, steers, updates. With `expectedSeq` only where nobody has written since. */
  async append(events: readonly StoredEvent[], options?: { expectedSeq: number }): Promise<void> {
    const stored = await this.#writes.beside(events, this.holding?.lease?.epoch, options);
    const gap = this.absorb(stored);
    if (gap) await gap;
  }

  /** One after the other: of many that each append only where nobody has written since, all but one would repeat. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#writes.inTurn(work);
  }

  /**
   * Takes in what other processes have written. Undefined: there is nothing to wait for.
   * @throws CoxswainError `ABORTED / E_SESSION_CONFLICT` where another session has its id by now
   */
  catchUp(): Promise<unknown> | undefined {
    return this.stateNow ? undefined : this.readOn();
  }

  /** The state, of a store that says at once that all of the log is here. */
  get stateNow(): SessionRecord['state'] | undefined {
    return this.#writes.landing ? undefined : stateAt(this.service, this.key, this.at, this.createdAt);
  }

  /** As `catchUp`, and what the store has of the session. */
  readOn(): Promise<SessionRecord | undefined> {
    return this.#writes.landing?.then(() => this.readOn()) ?? this.#readOn();
  }

  #readOn(): Promise<SessionRecord | undefined> {
    const { at } = this;
    return readInPages(this.service, this.key, at, (page) => {
      // What is known here is of the one that was deleted: nothing of it may befall the new one.
      if (!this.isOf(page, at)) throw storeRefusal.replaced(this.key);
      return this.takeInAfter(page);
    });
  }

  /** One transaction under a lease; not taken in. */
  write(events: readonly StoredEvent[], epoch: number): Promise<readonly StoredEvent[]> {
    return this.#writes.under(epoch, events);
  }

  /** Takes in what was stored; a gap is read first. */
  absorb(stored: readonly StoredEvent[]): Promise<unknown> | undefined {
    const gap = this.#absorbNow(stored);
    this.#writes.landed();
    const last = stored.at(-1);
    if (last) tellOthers(this.service, this.key, { seq: last.seq });
    return gap;
  }

  #absorbNow(stored: readonly StoredEvent[]): Promise<unknown> | undefined {
    const first = stored[0];
    // Somebody else has written in between: the gap is folded first, and these with it.
    if (first && first.seq > this.at + 1) return this.#readOn();
    if (this.needsOlder(stored)) return this.#readOn();
    for (const event of stored) this.apply(event);
    this.settle();
    return undefined;
  }
}

/** Reading all of it would cost more than a look for a checkpoint. */
function isLong(service: SessionService, { lastSeq }: SessionRecord): boolean {
  return lastSeq > 2 * everyOf(service);
}
