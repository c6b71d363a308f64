import { LazySet, ToldOnce } from '../../base/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import type { SessionKey, SessionService } from '../store/index.ts';
import { hearOthers } from './doorbell.ts';

/** Milliseconds between two looks into a store for what other processes write. */
export const DEFAULT_FOLLOW_MS = 1000;

/** The longest that a timer can wait. */
const MAX_MS = 2 ** 31 - 1;

/** A session that somebody follows. */
export interface Followed {
  readonly key: SessionKey;
  /** Newest seq that is known here. */
  readonly at: number;
  /** Reads what is new. */
  catchUp(): Promise<unknown> | undefined;
}

export interface FollowOptions {
  /** Milliseconds from one look to the next. Default 1,000. */
  everyMs?: number | undefined;
  /** Somebody waits for what comes: the process lives on for it. Default: nobody does. */
  isAwaited?: boolean | undefined;
  /** Told of a look that has failed; the next one is as usual. */
  warn?: ((message: string, error?: unknown) => void) | undefined;
}

interface Follower extends FollowOptions {
  readonly session: Followed;
}

const followers = new WeakMap<SessionService, StoreFollower>();

/**
 * Looks for what other processes append to the sessions that are followed here: one timer a store, which ends with the
 * last follower, and keeps the process alive only for those that somebody waits for. A store that nobody else writes is never looked at.
 */
export class StoreFollower {
  readonly #service: SessionService;
  readonly #followers = new LazySet<Follower>();
  #timer: NodeJS.Timeout | undefined;
  #everyMs = Number.POSITIVE_INFINITY;
  #looking: Promise<void> | undefined;
  readonly #looks = new ToldOnce();
  /** Sessions that are read since somebody has told of them: whether they were told of again. */
  readonly #reading = new Map<Followed, boolean>();
  readonly #ofSessions = new WeakMap<Followed, ToldOnce>();

  private constructor(service: SessionService) {
    this.#service = service;
  }

  static of(service: SessionService): StoreFollower {
    let follower = followers.get(service);
    if (!follower) {
      follower = new StoreFollower(service);
      followers.set(service, follower);
    }
    return follower;
  }

  /** Until the returned function is called. */
  follow(session: Followed, options: FollowOptions = {}): () => void {
    if (this.#service.isPrivate) return () => {};
    const follower = { session, ...options };
    this.#followers.add(follower);
    const deaf = hearOthers(
      this.#service,
      session.key,
      ({ seq }) => {
        if (typeof seq === 'number' && seq > session.at) void this.#readOn(session);
      },
      () => void this.wake(),
    );
    this.#schedule(Math.min(options.everyMs ?? DEFAULT_FOLLOW_MS, MAX_MS));
    this.#holdProcess();
    return () => {
      this.#followers.delete(follower);
      deaf?.();
      if (this.#followers.size > 0) return this.#holdProcess();
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#everyMs = Number.POSITIVE_INFINITY;
    };
  }

  /** Looks now: somebody knows that there is something new. Resolves when it has been taken in. */
  wake(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Somebody has told that it has grown. What is told while it is read is read after that. */
  async #readOn(session: Followed): Promise<void> {
    if (this.#reading.has(session)) {
      this.#reading.set(session, true);
      return;
    }
    do {
      this.#reading.set(session, false);
      await this.#catchUp(session, [...this.#followers]);
    } while (this.#reading.get(session) === true);
    this.#reading.delete(session);
  }

  /** The shortest interval of all followers counts. */
  #schedule(everyMs: number): void {
    if (everyMs >= this.#everyMs) return;
    clearTimeout(this.#timer);
    this.#everyMs = everyMs;
    this.#timer = setTimeout(() => void this.#tick(), everyMs);
    this.#holdProcess();
  }

  #holdProcess(): void {
    if ([...this.#followers].some(({ isAwaited }) => isAwaited)) this.#timer?.ref();
    else this.#timer?.unref();
  }

  async #tick(): Promise<void> {
    await this.wake();
    const intervals = [...this.#followers].map(({ everyMs }) => everyMs ?? DEFAULT_FOLLOW_MS);
    clearTimeout(this.#timer);
    this.#everyMs = Number.POSITIVE_INFINITY;
    if (intervals.length > 0) this.#schedule(Math.min(...intervals, MAX_MS));
  }

  async #look(): Promise<void> {
    const all = [...this.#followers];
    const sessions = [...new Set(all.map(({ session }) => session))];
    try {
      const grown = new Set((await this.#grown(sessions.map(({ key, at }) => ({ key, seq: at })))).map(nameOf));
      this.#looks.succeeded();
      for (const session of sessions) if (grown.has(nameOf(session.key))) await this.#catchUp(session, all);
    } catch (error) {
      const message = 'what other processes have written could not be looked for; the next look is as usual';
      this.#looks.failed((...said) => tell(all, ...said), message, error);
    }
  }

  /** What one session fails by keeps no other from what is new. */
  async #catchUp(session: Followed, all: readonly Follower[]): Promise<void> {
    const known = this.#ofSessions.get(session) ?? new ToldOnce();
    this.#ofSessions.set(session, known);
    try {
      await session.catchUp();
      known.succeeded();
    } catch (error) {
      // Whoever holds a session that was deleted and made again hears of it when it is used.
      if (isCoxswainError(error) && error.code === 'E_SESSION_CONFLICT') return;
      const its = all.filter((follower) => follower.session === session);
      const message = `what other processes have written to session ${session.key.id} could not be read; the next look is as usual`;
      known.failed((...said) => tell(its, ...said), message, error);
    }
  }

  async #grown(known: readonly { key: SessionKey; seq: number }[]): Promise<readonly SessionKey[]> {
    if (this.#service.grown) return this.#service.grown(known);
    const grown: SessionKey[] = [];
    for (const { key, seq } of known) {
      const record = await this.#service.get(key, { limit: 0 });
      if (record && record.lastSeq > seq) grown.push(key);
    }
    return grown;
  }
}

function tell(followers: readonly Follower[], message: string, error?: unknown): void {
  for (const warn of new Set(followers.map((follower) => follower.warn))) warn?.(message, error);
}

const nameOf = ({ app, userId, id }: SessionKey) => `${app}/${userId}/${id}`;
