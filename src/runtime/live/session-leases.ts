import { CoxswainError } from '../../contracts/index.ts';
import type { HoldOptions } from '../../session/index.ts';
import type { Fold, StoredEvent } from '../log/index.ts';
import { sharedPart } from '../log/index.ts';
import type { Lease, LeaseAppend, SessionKey, SessionRecord, SessionService } from '../store/index.ts';
import { storeRefusal } from '../store/index.ts';

/** A turn of several runs that is under way. */
export interface Holding {
  readonly by: object;
  /** Undefined: it is taken with the first events of the first run. */
  lease: Lease | undefined;
  /** Whether the lease may be given back with the end of the turn: nothing of it runs then. */
  readonly mayEnd: () => boolean;
}

/** The session that is leased. */
interface Leased {
  readonly key: SessionKey;
  readonly service: SessionService;
  readonly fold: Fold;
  readonly stateNow: SessionRecord['state'] | undefined;
  catchUp(): Promise<unknown> | undefined;
  readOn(): Promise<SessionRecord | undefined>;
  link(events: readonly StoredEvent[]): readonly StoredEvent[];
}

const never = () => false;
const done = () => Promise.resolve();

/** The right of this process to write a session alone: for one run, or held over the runs of a turn. */
export class SessionLeases {
  readonly #session: Leased;
  /** A turn of several runs is under way here: it keeps the session between them, too. */
  holding: Holding | undefined;
  /** Of the newest lease that was taken here; it may have been given back. */
  epoch: number | undefined;

  constructor(session: Leased) {
    this.#session = session;
  }

  /**
   * Takes the session for a turn of several runs. All that this process does under a lease meanwhile goes under this one.
   * @returns what gives it back
   * @throws CoxswainError `ABORTED / E_SESSION_BUSY`, `NOT_FOUND / E_SESSION_NOT_FOUND`
   */
  async hold(by: object, { withEvents = false, mayEnd = never }: HoldOptions = {}): Promise<() => Promise<void>> {
    const lease = withEvents && this.#isAtRest ? undefined : await this.#acquire();
    const holding: Holding = { lease, by, mayEnd };
    this.holding = holding;
    const release = async () => {
      if (this.holding !== holding) return;
      this.holding = undefined;
      await holding.lease?.release();
    };
    if (!lease) return release;
    try {
      if (lease.lastSeq > this.#session.fold.at) await this.#session.catchUp();
      return release;
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** The right to write alone: of the turn that is under way here, or one of its own. */
  take(): Promise<Lease> {
    const { holding } = this;
    if (!holding) return this.#acquire();
    const { lease } = holding;
    return lease ? this.#under(lease) : this.#acquire().then((taken) => this.#held(holding, taken));
  }

  /**
   * The same, with a run's first events where nobody has written since `at`: in one transaction. `lease.stored` are
   * those, not taken in; undefined: they are not stored.
   */
  async takeWith(events: readonly StoredEvent[], at: number): Promise<Lease> {
    const { holding } = this;
    const lease = await this.#acquire({ events: this.#session.link(events), expectedSeq: at });
    return holding ? this.#held(holding, lease) : lease;
  }

  /** A lease can be taken with the events of a turn that begins: nothing is open that they would have to be made for. */
  get takesEvents(): boolean {
    return this.#isAtRest && !this.holding?.lease;
  }

  /**
   * The lease of a run that can be given back with its last events. Only a store that says so is asked: one wrapped
   * around another may hand on that one's lease, and see each event in its `append`.
   */
  endingWith(lease: Lease): (Lease & Required<Pick<Lease, 'releaseWith'>>) | undefined {
    const { holding } = this;
    const own = holding ? (holding.mayEnd() ? holding.lease : undefined) : lease;
    return this.#session.service.leasesWithEvents === true && own && canEnd(own) ? own : undefined;
  }

  /** Epoch of the lease that somebody alive holds now. */
  async holder(): Promise<number | undefined> {
    const { service, key } = this.#session;
    return this.holding?.lease?.epoch ?? service.holder(key);
  }

  get #isAtRest(): boolean {
    const { service, fold } = this.#session;
    const { open, turn } = fold;
    return service.leasesWithEvents === true && open.size === 0 && (!turn || turn.ended !== undefined);
  }

  async #under({ epoch }: Lease): Promise<Lease> {
    const { stateNow, fold } = this.#session;
    if (stateNow) return { epoch, lastSeq: fold.at, shared: sharedPart(stateNow), release: done };
    const record = await this.#session.readOn();
    if (!record) throw storeRefusal.missing(this.#session.key);
    return { epoch, lastSeq: record.lastSeq, shared: sharedPart(record.state), release: done };
  }

  /** As a run has it: what holds the session over several gives it back. */
  async #held(holding: Holding, lease: Lease): Promise<Lease> {
    if (this.holding !== holding) {
      await lease.release();
      const message = `session ${this.#session.key.id} was given back before its run began`;
      throw new CoxswainError('ABORTED', 'E_ABORTED', message);
    }
    holding.lease = lease;
    return { ...lease, release: done };
  }

  async #acquire(first?: LeaseAppend): Promise<Lease> {
    const { service, key } = this.#session;
    const lease = await (first ? service.acquire(key, first) : service.acquire(key));
    this.epoch = lease.epoch;
    return lease;
  }
}

function canEnd(lease: Lease): lease is Lease & Required<Pick<Lease, 'releaseWith'>> {
  return lease.releaseWith !== undefined;
}
