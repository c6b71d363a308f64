import { commonTime, keepingProcess, MAX_TIMER_MS, ToldOnce } from '../../base/index.ts';
import type { Dispatcher, SessionPlace } from '../../contracts/index.ts';
import { nameOfPlace } from '../../session/index.ts';
import type { ApprovalHost } from '../approvals/index.ts';
import { withoutSubagents } from '../approvals/index.ts';
import { DeadlyTurns, MAX_DEATHS } from './deadly.ts';

/** How much a program does for turns that no client holds. */
export interface WorkOptions {
  /** Turns at a time. Default 100. */
  concurrency?: number;
  /** Milliseconds between two looks for turns whose program has died. Default 1,000. */
  lookMs?: number;
  /**
   * Milliseconds after which a program that the database has heard nothing of is taken for frozen, and its turns for free.
   * Default 1,750: no program over the store may block its event loop for longer than 1,500, since it says something every
   * 250.
   */
  silentMs?: number;
  /**
   * How many programs may die at a turn one after the other, with nothing stored, before nobody takes it over any more: what
   * it does may be what kills them. `unfinished()` lists it, and whoever continues it by hand may. Default 10.
   */
  maxDeaths?: number;
}

/** A program that works, until it is stopped. */
export interface Work {
  /**
   * Looks under way and done, turns that were found to be nobody's any more, and of those the ones at which too many died; messages to
   * webhooks that were given up and not sent again.
   */
  readonly figures: {
    readonly running: number;
    readonly looks: number;
    readonly orphans: number;
    readonly leftAlone: number;
    readonly givenUp: number;
  };
  /**
   * Takes nothing new, and leaves what runs where something of it is stored and nothing runs: others go on with it.
   * Resolves when nothing runs here any more, or after `deadlineMs` (default: never). A program that ends with turns
   * under way ends at once, without closing its host: that would abort them, and dead they are taken over.
   * @returns how many runs are left
   */
  stop(options?: { deadlineMs?: number }): Promise<number>;
}

/** A turn that nobody runs. */
export interface Unattended extends SessionPlace {
  lastSeq: number;
  wasTaken: boolean;
  deaths?: number;
}

/** What work needs of a host. */
export interface WorkHost extends Pick<ApprovalHost, 'openSessions' | 'borrow' | 'warn'> {
  unattended(options: { silentMs?: number; changedSince?: number }): Promise<Unattended[]>;
  /** The mark of a holder whose process is gone, where there is nothing to do in its session. */
  releaseDead(place: SessionPlace): Promise<void>;
  look(place: SessionPlace): Promise<void>;
  /** What is due by the clock, and nobody was woken for. Never rejects. */
  findDue(): Promise<void>;
  /** Messages to webhooks, of all programs. */
  givenUp(): number;
  /** Resolves when somebody is woken for the outcome of each turn that has ended here. */
  settled(): Promise<void>;
  /** Milliseconds after which there may be room for another turn here; undefined: there is. */
  fullForMs(): number | undefined;
  /** Runs that are live here, each asked to leave: it resolves with its place if its turn goes on elsewhere. */
  leaveAll(): Promise<SessionPlace | undefined>[];
}

/** Looks for what is taken from the turns that rest is less often than for turns whose program has died. */
const RESTING_EVERY = 5;
/** Of the time between two such looks, the part that one may take: with more turns that rest they are less often. */
const RESTING_PART = 0.01;
/** Milliseconds until a look that somebody's death asks for: the database hears of it, too, and several ask at once. */
const SOON_MS = 50;
/** Milliseconds: what rests for longer was looked at already. More than the clocks of two nodes may differ by. */
const RESTING_MS = 30 * 60_000;

/** Looks at each of which a turn of a dead program is tried, and after which it is at least. */
const OFTEN = 8;
const MOST_LOOKS = 64;
/** Milliseconds between two looks for runs that have begun since this program was stopped. */
const LEAVING_MS = 50;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Serves a dispatcher, and finds what nobody was woken for. */
export class HostWork implements Work {
  readonly #host: WorkHost;
  readonly #dispatcher: Dispatcher;
  readonly #options: Required<WorkOptions>;
  readonly #looks = new ToldOnce();
  /** Turns that rest: where their logs stand, and at how many looks in a row they have stood there. */
  #resting = new Map<string, { seq: number; looks: number }>();
  #orphans = new Set<string>();
  /** Turns whose program has died: how they stand, and at how many looks in a row they have stood so. */
  #tried = new Map<string, { stands: string; looks: number }>();
  /** Looks that the dispatcher knows nothing of. */
  readonly #taking = new Map<string, Promise<void>>();
  #stopServing: (() => Promise<void>) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  #ticks = 0;
  /** When turns that rest are looked for next, at the earliest. */
  #restingAt = 0;
  #stopped = false;
  /** Somebody has died: the next look is soon. */
  #isDue = false;
  /** Turns at which too many programs have died: each is reported once. */
  #deadly: DeadlyTurns;
  readonly #counts = { running: 0, looks: 0, orphans: 0 };

  constructor(host: WorkHost, dispatcher: Dispatcher, options: WorkOptions) {
    this.#host = host;
    this.#dispatcher = dispatcher;
    this.#options = { concurrency: 100, lookMs: 1000, silentMs: 1750, maxDeaths: MAX_DEATHS, ...options };
    this.#deadly = new DeadlyTurns(this.#options.maxDeaths, host.warn);
  }

  async begin(): Promise<void> {
    const { concurrency } = this.#options;
    const look = (place: SessionPlace, { again = false } = {}) => {
      // Whose program has died may have had more turns than this one: they are looked for now, and not within the second.
      if (again) this.#soon();
      return this.#look(place);
    };
    this.#stopServing = await this.#dispatcher.serve(look, { concurrency });
    this.#tick();
  }

  get figures(): Work['figures'] {
    return { ...this.#counts, leftAlone: this.#deadly.size, givenUp: this.#host.givenUp() };
  }

  async stop({ deadlineMs }: { deadlineMs?: number } = {}): Promise<number> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    const { promise: late, resolve } = Promise.withResolvers<'late'>();
    const hasEnd = deadlineMs !== undefined && deadlineMs <= MAX_TIMER_MS;
    const timer = hasEnd ? setTimeout(resolve, deadlineMs, 'late') : undefined;
    try {
      return await keepingProcess(Promise.race([this.#drained(), late.then(() => this.#host.leaveAll().length)]));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Takes nothing new, and asks nobody to leave: its host is closed. */
  async end(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#ticking;
    await Promise.all([this.#stoppedServing(), ...this.#taking.values()]);
  }

  /** Never rejects: it goes on without a dispatcher that is away. */
  async #stoppedServing(): Promise<void> {
    try {
      await this.#stopServing?.();
    } catch (error) {
      this.#host.warn('the dispatcher was not left as it should be: what it brings is not taken', error);
    }
  }

  async #drained(): Promise<number> {
    await this.#ticking;
    let isOver = false;
    const looked = Promise.all([this.#stoppedServing(), ...this.#taking.values()]).then(() => {
      isOver = true;
    });
    for (;;) {
      const leaving = this.#host.leaveAll();
      for (const left of await Promise.allSettled(leaving)) {
        if (left.status === 'rejected') this.#host.warn('a turn that was asked to leave has failed', left.reason);
        else if (left.value) await this.#wake(left.value);
      }
      if (leaving.length > 0) continue;
      if (isOver) break;
      // A look that was under way may begin its run now: that is asked to leave, too.
      await Promise.race([looked, pause(LEAVING_MS)]);
    }
    await this.#host.settled();
    return 0;
  }

  /** Of a turn that was left. Whoever cannot be woken finds it among those that rest: the others leave all the same. */
  async #wake(place: SessionPlace): Promise<void> {
    try {
      await this.#dispatcher.wake(place);
    } catch (error) {
      this.#host.warn(`nobody could be woken for session ${place.sessionId}, which was left: it is found later`, error);
    }
  }

  async #look(place: SessionPlace): Promise<void> {
    // It was on its way here.
    if (this.#stopped) return this.#dispatcher.wake(place);
    const fullForMs = this.#host.fullForMs();
    // It waits where other programs see it, too.
    if (fullForMs !== undefined) return this.#dispatcher.schedule(place, new Date(Date.now() + fullForMs));
    this.#counts.running++;
    try {
      await this.#host.look(place);
    } finally {
      this.#counts.running--;
      this.#counts.looks++;
    }
  }

  /** At once where there is room: who is found dead has waited. All nodes find them, and one gets the lease. */
  async #takeOver(place: SessionPlace): Promise<void> {
    const name = nameOfPlace(place);
    if (this.#taking.has(name)) return;
    if (this.#counts.running >= this.#options.concurrency) return this.#dispatcher.wake(place);
    const taking = this.#look(place)
      .catch((error: unknown) => {
        this.#host.warn(`session ${place.sessionId} could not be taken over; it is tried again`, error);
      })
      .finally(() => this.#taking.delete(name));
    this.#taking.set(name, taking);
  }

  #tick(): void {
    this.#isDue = false;
    this.#ticking = this.#find().finally(() => {
      this.#ticking = undefined;
      const ms = this.#isDue ? SOON_MS : Math.min(this.#options.lookMs, MAX_TIMER_MS);
      if (!this.#stopped) this.#timer = setTimeout(() => this.#tick(), ms);
    });
  }

  /** The next look for the dead is now, or follows the one that is under way. */
  #soon(): void {
    this.#isDue = true;
    if (this.#ticking || this.#stopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tick(), SOON_MS);
  }

  async #find(): Promise<void> {
    await this.#host.findDue();
    try {
      const isFirst = this.#ticks === 0;
      const isForAll = this.#ticks++ % RESTING_EVERY === 0 && performance.now() >= this.#restingAt;
      const { silentMs } = this.#options;
      const found = await this.#host.unattended({ silentMs });
      const dead = await withoutSubagents(this.#host, this.#deadly.without(this.#dead(found)));
      await Promise.all(this.#worth(dead).map((place) => this.#takeOver(place)));
      if (isForAll) await this.#findRested(isFirst);
      this.#looks.succeeded();
    } catch (error) {
      this.#looks.failed(
        this.#host.warn,
        'turns that nobody runs could not be looked for; the next look is as usual',
        error,
      );
    }
  }

  /** By itself: a look for the dead may wait for one that is silent, which is no work. */
  async #findRested(isFirst: boolean): Promise<void> {
    const begun = performance.now();
    const found = await this.#host.unattended({ changedSince: isFirst ? 0 : commonTime() - RESTING_MS });
    this.#restingAt = begun + (performance.now() - begun) / RESTING_PART;
    const rested = await withoutSubagents(this.#host, this.#rested(found, isFirst));
    await Promise.all(rested.map((place) => this.#dispatcher.wake(place)));
  }

  /**
   * Of those whose program has died the ones that are to be tried now. One that stays as it stands, such as a log that no program here
   * can read, is tried at each of the first looks, then less often.
   */
  #worth(dead: readonly Unattended[]): Unattended[] {
    const before = this.#tried;
    this.#tried = new Map();
    return dead.filter((one) => {
      const name = nameOfPlace(one);
      const stands = `${one.lastSeq} ${one.deaths ?? 0}`;
      const known = before.get(name);
      const looks = known?.stands === stands ? known.looks + 1 : 1;
      this.#tried.set(name, { stands, looks });
      return looks <= OFTEN || looks % MOST_LOOKS === 0 || Number.isInteger(Math.log2(looks));
    });
  }

  #dead(found: readonly Unattended[]): Unattended[] {
    const dead = found.filter(({ wasTaken }) => wasTaken);
    const names = new Set(dead.map((one) => `${nameOfPlace(one)} ${one.lastSeq}`));
    for (const name of names) if (!this.#orphans.has(name)) this.#counts.orphans++;
    this.#orphans = names;
    return dead;
  }

  /**
   * Turns that nobody has taken, and that were written to: somebody may have answered, and died before they woke anybody.
   * Whoever answers and goes on by themselves has the time from one look to the next. A look that comes of it may be lost, too, as
   * with a program that is frozen: where nothing is written since, it is repeated after twice as many looks each time.
   */
  #rested(found: readonly Unattended[], isFirst: boolean): Unattended[] {
    const before = this.#resting;
    this.#resting = new Map();
    const due: Unattended[] = [];
    for (const one of found) {
      if (one.wasTaken) continue;
      const name = nameOfPlace(one);
      const known = before.get(name);
      const looks = known?.seq === one.lastSeq ? known.looks + 1 : 1;
      // At the 2nd, 4th, 8th, …
      if (isFirst || (looks > 1 && Number.isInteger(Math.log2(looks)))) due.push(one);
      this.#resting.set(name, { seq: one.lastSeq, looks });
    }
    return due;
  }
}
