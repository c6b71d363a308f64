import { breath, MANY } from '../../base/index.ts';
import type { StoredEvent } from '../log/index.ts';
import { digestInPieces, isLarge, sizeOf } from '../log/index.ts';
import type { SessionKey, SessionService } from '../store/index.ts';

/** The session that is written to. */
interface Written {
  readonly key: SessionKey;
  readonly service: SessionService;
  /** Binds events to what is known of the log here; some of their digests may be made already. */
  link(events: readonly StoredEvent[], digests?: ReadonlyMap<StoredEvent, string>): readonly StoredEvent[];
  /** Makes what a large event holds in pieces, before it is taken in. */
  prepare(events: readonly StoredEvent[]): Promise<void>;
}

/** How events of a session get into its store. None of this takes them in: see `LiveSession.absorb`. */
export class SessionWrites {
  readonly #session: Written;
  /** A large write is stored and about to be taken in. */
  #landing: PromiseWithResolvers<void> | undefined;
  /** Settles with the last of those that wait for their turn. */
  #turns: Promise<void> | undefined;

  constructor(session: Written) {
    this.#session = session;
  }

  /** One transaction under a lease. */
  under(epoch: number, events: readonly StoredEvent[]): Promise<readonly StoredEvent[]> {
    const own = startedIn(epoch, events);
    return isLarge(own) ? this.#large(own, epoch) : this.#append(own, { epoch });
  }

  /** A run's first events, where nobody has written since `at`. */
  first(events: readonly StoredEvent[], epoch: number, at: number): Promise<readonly StoredEvent[]> {
    return this.#append(startedIn(epoch, events), { epoch, expectedSeq: at });
  }

  /** Without a lease of the writer's; `heldIn` is the epoch of one that is held over several runs here. */
  async beside(
    events: readonly StoredEvent[],
    heldIn: number | undefined,
    options: { expectedSeq: number } | undefined,
  ): Promise<readonly StoredEvent[]> {
    const stored = await this.#append(heldIn === undefined ? events : startedIn(heldIn, events), options);
    if (isLarge(stored)) await breath();
    return stored;
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

  /** Resolves when a large write that is stored is taken in; undefined: there is none. */
  get landing(): Promise<void> | undefined {
    return this.#landing?.promise;
  }

  landed(): void {
    this.#landing?.resolve();
    this.#landing = undefined;
  }

  #append(
    events: readonly StoredEvent[],
    options?: { epoch?: number; expectedSeq?: number },
  ): Promise<readonly StoredEvent[]> {
    const { service, key } = this.#session;
    return service.append(key, this.#session.link(events), options);
  }

  /**
   * Binding many calls to the chain, storing them and taking them in are pieces of work by themselves. What is stored is
   * taken in before anybody here reads it back from the store.
   */
  async #large(events: readonly StoredEvent[], epoch: number): Promise<readonly StoredEvent[]> {
    const { service, key } = this.#session;
    const digests = new Map<StoredEvent, string>();
    for (const event of events) if (sizeOf(event) > MANY) digests.set(event, await digestInPieces(event));
    await breath();
    const stored = await service.append(key, this.#session.link(events, digests), { epoch });
    this.#landing = Promise.withResolvers();
    try {
      await breath();
      await this.#session.prepare(stored);
    } catch (error) {
      this.landed();
      throw error;
    }
    return stored;
  }
}

/** Starts are bound to the lease that they are made under. */
function startedIn(epoch: number, events: readonly StoredEvent[]): readonly StoredEvent[] {
  if (!events.some(({ actions }) => actions.started)) return events;
  return events.map((event) =>
    event.actions.started ? { ...event, actions: { ...event.actions, startedIn: epoch } } : event,
  );
}
