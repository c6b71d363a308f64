import type { SessionPlace } from '../../contracts/index.ts';
import { assertSafeId, CoxswainError, canonicalJson, isCoxswainError } from '../../contracts/index.ts';
import type { Shape } from '../../session/index.ts';
import { checkOptions, name, oneOf, required, ToldOnce, text } from '../../session/index.ts';
import type { Cron } from './cron.ts';
import { readCron } from './cron.ts';
import type { StateBook } from './state-book.ts';
import { checkPriority } from './submit.ts';

/** In the place of an agent: what is to be looked at is a schedule, by its name in the place of a session. */
export const SCHEDULES = '@schedule';

/** Schedules that an app has at most, and characters of the words of each. */
const MOST = 1000;
const MAX_INPUT = 65_536;

/** Milliseconds after which a time has been missed. */
const LATE_MS = 60_000;
/** Milliseconds after which nobody was woken for what is due. */
const UNHEARD_MS = 5000;
/** Milliseconds between two looks for those, and at least until the next one of a schedule. */
const LOOK_MS = 15_000;
const LEAST_MS = 250;
/** Milliseconds that whoever looks too early waits. */
const EARLY_MS = 2000;
/** Milliseconds for which another program may have the agent that this one has not, as while a new version is rolled out. */
const UNKNOWN_MS = 600_000;

/** A turn that is begun again and again. */
export interface Schedule {
  /** Of the app; one safe segment, which begins the ids of its sessions. */
  name: string;
  /** Minute, hour, day of the month, month, day of the week: `0 9 * * 1-5`. */
  cron: string;
  /** By whose clocks, such as `Europe/Berlin`. Default `UTC`. */
  timeZone?: string;
  agent: string;
  /** Words of the message that begins each turn. At most 65,536 characters. */
  input: string;
  /** Whose sessions. Default the host's. */
  userId?: string;
  /** As of `submit`. */
  priority?: number;
  /** As of `submit`: who is sent how each of its turns has ended. */
  webhook?: string;
  /**
   * What becomes of times at which no program worked, or more than a minute late. `once`: of all of them one turn is begun, as
   * soon as one works. `skip`: none. Default `once`.
   */
  missed?: 'once' | 'skip';
}

/** A schedule as it stands. */
export interface ScheduleState extends Schedule {
  userId: string;
  /** ISO 8601; absent: never again. */
  next?: string;
  /** What became of the last time it was due. */
  last?: { at: string; outcome: 'begun' | 'missed' | 'failed'; sessionId?: string; error?: string };
}

/** Turns that begin by the clock. */
export interface Schedules {
  /**
   * Makes a schedule, or changes the one of this name; the same again changes nothing. Each time begins one turn, in a session of its
   * own (`name-20261130T0900Z`), in whichever program of the app works then (`work`, or without a `dispatcher` any that has set or
   * recovered it), however many there are. Needs the package `cron-parser`.
   * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT | E_ID`, `NOT_FOUND / E_AGENT_UNKNOWN`, `FAILED_PRECONDITION / E_UNSUPPORTED`
   */
  set(schedule: Schedule): Promise<void>;
  /** In the order of their names. */
  list(): Promise<ScheduleState[]>;
  /** False: there is none of this name. Turns that it has begun continue. */
  remove(name: string): Promise<boolean>;
}

/** As the book keeps it. */
export interface KeptSchedule {
  readonly set: Schedule & { userId: string };
  /** What is due after this, in epoch milliseconds. */
  readonly from: number;
  readonly last?: ScheduleState['last'];
}

/** What schedules need of a host. */
export interface ScheduleHost {
  readonly agents: { has(agent: string): boolean };
  readonly userId: string;
  /** Begins a turn, unless that is begun already: then it resolves, too. */
  begin(turn: Schedule & { userId: string; sessionId: string; streamId: string }): Promise<void>;
  /** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
  checkWebhook(webhook: unknown, where: string): void;
  wakeAt(place: SessionPlace, at: Date): Promise<void>;
  warn(message: string, error?: unknown): void;
}

const shape: Shape<Schedule> = {
  name: required(name),
  cron: required(name),
  timeZone: name,
  agent: required(name),
  input: required(text),
  userId: name,
  webhook: name,
  priority: { needs: 'a whole number', fits: Number.isInteger },
  missed: oneOf('once', 'skip'),
};

/** The schedules of an app, of which each time is brought to one program, and begins a turn once. */
export class HostSchedules implements Schedules {
  readonly #host: ScheduleHost;
  readonly #book: StateBook<KeptSchedule>;
  readonly #crons = new Map<string, Promise<Cron>>();
  /** The next time of each that somebody is to be woken for by this program's word: once is enough. */
  readonly #armed = new Map<string, number>();
  /** The next time of each, counted from what it was known by: it is asked for now and then, and costs about a millisecond. */
  readonly #nexts = new Map<string, { of: KeptSchedule; next: number | undefined }>();
  readonly #looks = new ToldOnce();
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(host: ScheduleHost, book: StateBook<KeptSchedule>) {
    this.#host = host;
    this.#book = book;
  }

  async set(given: Schedule): Promise<void> {
    const where = 'schedules.set: schedule';
    checkOptions<Schedule>(given, where, shape);
    assertSafeId('schedule', given.name);
    const set = { ...given, userId: given.userId ?? this.#host.userId };
    assertSafeId('user id', set.userId);
    checkPriority(given.priority, where);
    this.#host.checkWebhook(given.webhook, where);
    if (set.name.length > 100) throw bad(`${where}.name: at most 100 characters`);
    if (set.input === '' || set.input.length > MAX_INPUT) throw bad(`${where}.input: 1 to ${MAX_INPUT} characters`);
    if (!this.#host.agents.has(set.agent)) {
      throw new CoxswainError('NOT_FOUND', 'E_AGENT_UNKNOWN', `${where}.agent: the host has no agent of this name`);
    }
    await readCron(set.cron, set.timeZone ?? 'UTC', where);
    const now = await this.#book.now();
    await this.#book.change(set.name, (known, all) => {
      if (!known && all.size >= MOST) {
        throw bad(`${where}: there are ${MOST} schedules: remove one`);
      }
      if (known && canonicalJson(known.set) === canonicalJson(set)) return undefined;
      const isSameTime = known?.set.cron === set.cron && known.set.timeZone === set.timeZone;
      return { set, from: isSameTime ? known.from : now, ...(known?.last ? { last: known.last } : {}) };
    });
    this.#armed.delete(set.name);
    await this.#arm(set.name);
  }

  async list(): Promise<ScheduleState[]> {
    const kept = [...(await this.#book.read()).values()].sort((a, b) => (a.set.name < b.set.name ? -1 : 1));
    return Promise.all(
      kept.map(async (one) => {
        const { set, last } = one;
        const next = await this.#nextOf(one);
        return {
          ...set,
          ...(next === undefined ? {} : { next: new Date(next).toISOString() }),
          ...(last ? { last } : {}),
        };
      }),
    );
  }

  async remove(name: string): Promise<boolean> {
    this.#armed.delete(name);
    this.#nexts.delete(name);
    return this.#book.change(name, (known) => (known ? null : undefined));
  }

  /** All of them are looked at when they are due, from now on. */
  async armAll(): Promise<void> {
    for (const name of (await this.#book.read()).keys()) await this.#arm(name);
  }

  /** Now and then: wakes for what is due and was not looked at. Never rejects. */
  async findUnheard(): Promise<void> {
    if (performance.now() - this.#lookedAt < LOOK_MS) return;
    const isFirst = this.#lookedAt === Number.NEGATIVE_INFINITY;
    this.#lookedAt = performance.now();
    try {
      const kept = await this.#book.read();
      if (kept.size > 0) {
        const now = await this.#book.now();
        for (const one of kept.values()) {
          const next = await this.#nextOf(one);
          if (next !== undefined && (isFirst || next < now - UNHEARD_MS)) await this.#wake(one, next, now);
        }
      }
      this.#looks.succeeded();
    } catch (error) {
      if (isFirst) this.#lookedAt = performance.now() - LOOK_MS;
      this.#looks.failed(this.#host.warn, 'schedules could not be looked at; the next look is as usual', error);
    }
  }

  /** One is due, or soon, or not at all: its clock is that of the store. */
  async look({ userId, sessionId: name }: SessionPlace): Promise<void> {
    const kept = (await this.#book.read()).get(name);
    if (kept?.set.userId !== userId) return;
    const cron = await this.#cron(kept.set);
    let now = await this.#book.now();
    const next = await this.#nextOf(kept);
    if (next !== undefined && next > now && next - now < EARLY_MS) {
      await new Promise((resolve) => setTimeout(resolve, next - now));
      now = await this.#book.now();
    }
    const due = cron.last(now, kept.from);
    if (due !== undefined && due > kept.from) {
      const last = await this.#begin(kept, due, now);
      await this.#book.change(name, (known) => {
        // Somebody else was faster, or it is another one by now.
        if (!known || known.from >= due || canonicalJson(known.set) !== canonicalJson(kept.set)) return undefined;
        return { set: known.set, from: due, last };
      });
    }
    await this.#arm(name);
  }

  /** @returns what became of it */
  async #begin({ set }: KeptSchedule, due: number, now: number): Promise<NonNullable<ScheduleState['last']>> {
    const at = new Date(due).toISOString();
    if (set.missed === 'skip' && now - due > LATE_MS) return { at, outcome: 'missed' };
    const sessionId = `${set.name}-${at.slice(0, 16).replaceAll(/[-:]/g, '')}Z`;
    try {
      // Another program may name the receiver that this one does not.
      this.#host.checkWebhook(set.webhook, `schedule ${set.name}`);
    } catch (error) {
      if (now - due < UNKNOWN_MS) throw error;
    }
    try {
      await this.#host.begin({ ...set, sessionId, streamId: `schedule-${sessionId}` });
      return { at, outcome: 'begun', sessionId };
    } catch (error) {
      // The dispatcher brings it again, and so does the look for what is due.
      const isElsewhere = isCoxswainError(error) && error.code === 'E_AGENT_UNKNOWN' && now - due < UNKNOWN_MS;
      if (!isCoxswainError(error) || error.retryable || isElsewhere) throw error;
      this.#host.warn(`schedule ${set.name} could not begin its turn of ${at}`, error);
      return { at, outcome: 'failed', error: error.code };
    }
  }

  async #arm(name: string): Promise<void> {
    const kept = (await this.#book.read()).get(name);
    if (!kept) return;
    const now = await this.#book.now();
    const next = await this.#nextOf(kept);
    if (next === undefined || this.#armed.get(name) === next) return;
    await this.#wake(kept, next, now);
    this.#armed.set(name, next);
  }

  /** How long from now, since this program's clock may be wrong. */
  #wake({ set }: KeptSchedule, next: number, now: number): Promise<void> {
    const at = new Date(Date.now() + Math.max(LEAST_MS, next - now));
    return this.#host.wakeAt({ agent: SCHEDULES, userId: set.userId, sessionId: set.name }, at);
  }

  async #nextOf(of: KeptSchedule): Promise<number | undefined> {
    const known = this.#nexts.get(of.set.name);
    if (known?.of === of) return known.next;
    const next = (await this.#cron(of.set)).next(of.from);
    if (this.#nexts.size > MOST) this.#nexts.clear();
    this.#nexts.set(of.set.name, { of, next });
    return next;
  }

  #cron({ cron, timeZone = 'UTC' }: Schedule): Promise<Cron> {
    const key = `${timeZone} ${cron}`;
    const known = this.#crons.get(key);
    if (known) return known;
    if (this.#crons.size > MOST) this.#crons.clear();
    const reading = readCron(cron, timeZone, 'schedule');
    this.#crons.set(key, reading);
    // A package that is missing may be there the next time.
    reading.catch(() => this.#crons.delete(key));
    return reading;
  }
}

function bad(message: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}
