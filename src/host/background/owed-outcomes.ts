import { createHash } from 'node:crypto';
import type { HostJournal, Outcomes, SessionPlace } from '../../contracts/index.ts';
import { messageOf } from '../../contracts/index.ts';
import { nameOfPlace, OUTCOME_BOOKS, ToldOnce } from '../../session/index.ts';
import { OutcomeRoom } from './outcome-room.ts';
import { OutcomeSends } from './outcome-sends.ts';
import type { GivenUpWebhook, OutcomeHost, Owed, Webhooks } from './owed.ts';
import type { SeenOutcome } from './seen-turn.ts';
import { SeenTurn, shownAnswer } from './seen-turn.ts';
import { StateBook } from './state-book.ts';

/** In the place of an agent: what is to be looked at is an outcome that somebody is owed, by its id in the place of a session. */
export const OUTCOMES = '@outcome';

/** Milliseconds between two looks for those that nobody was woken for, and after which one is. */
const LOOK_MS = 15_000;
const UNHEARD_MS = 5000;
/** Overdue ones of one book that one look wakes for; of more, others the next time. */
const MOST_WOKEN = 125;
/**
 * Milliseconds after which an outcome is given up that no program here can send: its receiver has no name in this one, or
 * its turn is not in the log any more. As long as a receiver may be away.
 */
const GIVEN_UP_MS = 3 * 24 * 3_600_000;
/** Milliseconds by which a look may be early. */
const EARLY_MS = 1000;
/** Milliseconds until a turn that has not ended is looked at again: a part of how long it has taken so far. */
const LEAST_MS = 2000;
const MOST_MS = 300_000;
const PART = 8;
/** Seconds until the next try, as the standard proposes: three days in all. */
const AGAIN = [5, 60, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;
/** Seconds that the last try has: nobody follows it sooner. */
const LAST_SECONDS = 60;
/** Of those that were given up, so many are kept in a book: the oldest are forgotten first. */
const MAX_GIVEN_UP = 500;

/** Outcomes that receivers are owed: from the moment at which a turn is submitted until one has taken it, at least once. */
export class OwedOutcomes implements Webhooks {
  readonly room: OutcomeRoom;
  readonly #host: OutcomeHost;
  readonly #outcomes: Outcomes;
  readonly #books: readonly StateBook<Owed>[];
  readonly #looks = new ToldOnce();
  readonly #sends: OutcomeSends;
  /** Ids of those that are on their way from here: they are not sent beside themselves. */
  readonly #sending = new Set<string>();
  /** Turns that have come to rest, whose outcomes nobody is woken for yet. */
  readonly #resting = new Set<Promise<void>>();
  /** Receivers that are owed something and have no name here, each reported once. */
  readonly #unnamed = new Set<string>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #givenUpCount = 0;

  constructor(host: OutcomeHost, outcomes: Outcomes, journal: HostJournal) {
    this.#host = host;
    this.#outcomes = outcomes;
    this.#sends = new OutcomeSends((place) => this.look(place), host.warn);
    this.#books = OUTCOME_BOOKS.map(
      (about) => new StateBook<Owed>(journal, host.app, about, ({ place }) => nameOfPlace(place)),
    );
    this.room = new OutcomeRoom(this.#books, host.warn);
  }

  /** How many have been given up in this app, as far as it was looked for. */
  get givenUpCount(): number {
    return this.#givenUpCount;
  }

  async givenUp(): Promise<GivenUpWebhook[]> {
    const found: (Owed & { id: string; givenUp: NonNullable<Owed['givenUp']> })[] = [];
    for (const book of this.#books) {
      for (const [id, owed] of await book.read()) if (owed.givenUp) found.push({ ...owed, id, givenUp: owed.givenUp });
    }
    found.sort((one, other) => other.givenUp.at - one.givenUp.at);
    return found.map(({ id, place, turnId, to, waits, tries, givenUp }) => ({
      id,
      ...place,
      turnId,
      webhook: to,
      type: waits ? ('turn.waits' as const) : ('turn.ended' as const),
      tries,
      givenUpAt: new Date(givenUp.at).toISOString(),
      error: givenUp.error,
    }));
  }

  async sendAgain(id: string): Promise<boolean> {
    for (const book of this.#books) {
      const owed = (await book.read()).get(id);
      if (!owed?.givenUp) continue;
      const now = await book.now();
      const { givenUp: _, ...rest } = owed;
      const isOurs = await book.change(id, (known) => (known?.givenUp ? { ...rest, due: now, tries: 0 } : undefined));
      if (isOurs) await this.#wake(owed.place, id, 0);
      return isOurs;
    }
    return false;
  }

  async add(place: SessionPlace, turnId: string, to: string, from?: string): Promise<void> {
    const id = idOf(this.#host.app, place, turnId);
    await this.#owe(id, { place, turnId, to, ...(from === undefined ? {} : { from }) }, LEAST_MS);
  }

  async #owe(id: string, owed: Omit<Owed, 'since' | 'due' | 'tries'>, ms: number): Promise<void> {
    const book = this.#bookOf(owed.place);
    const now = await book.now();
    await book.change(id, (known) => (known ? undefined : { ...owed, since: now, due: now + ms, tries: 0 }));
    await this.#wake(owed.place, id, ms);
  }

  /** The turn of a session has come to rest here: there is no need to wait for the next look. Never rejects. */
  rested(place: SessionPlace): Promise<void> {
    const resting = this.#rested(place).finally(() => this.#resting.delete(resting));
    this.#resting.add(resting);
    return resting;
  }

  /** Resolves when that is done for all turns that have come to rest before. */
  async settled(): Promise<void> {
    await Promise.all(this.#resting);
  }

  async #rested(place: SessionPlace): Promise<void> {
    try {
      for (const [id, owed] of await this.#bookOf(place).readGroup(nameOfPlace(place))) {
        if (owed.tries > 0 || owed.givenUp || owed.waits) continue;
        const now = await this.#bookOf(place).now();
        await this.#bookOf(place).change(id, (known) => (known?.tries === 0 ? { ...known, due: now } : undefined));
        await this.#wake(place, id, 0);
      }
    } catch (error) {
      this.#host.warn(`the outcome of session ${place.sessionId} is sent later`, error);
    }
  }

  /** All of them are looked at when they are due, from now on. */
  async wakeAll(): Promise<void> {
    for (const book of this.#books) {
      const now = await book.now();
      for (const [id, { due, place, givenUp }] of await book.read()) {
        if (!givenUp) await this.#wake(place, id, Math.max(0, due - now));
      }
    }
  }

  /** Now and then: wakes for what is due and was not looked at. Never rejects. */
  async findUnheard(): Promise<void> {
    if (performance.now() - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = performance.now();
    let givenUp = 0;
    try {
      for (const book of this.#books) {
        const owed = await book.read();
        if (owed.size === 0) continue;
        const now = await book.now();
        const overdue = [...owed].filter(([, one]) => !one.givenUp && one.due < now - UNHEARD_MS);
        for (const { givenUp: over } of owed.values()) if (over) givenUp++;
        // Of many that wait for a receiver each is found at some time.
        const from = overdue.length > MOST_WOKEN ? Math.floor(Math.random() * overdue.length) : 0;
        const some = [...overdue.slice(from), ...overdue.slice(0, from)].slice(0, MOST_WOKEN);
        for (const [id, { place }] of some) await this.#wake(place, id, 0);
      }
      this.#givenUpCount = givenUp;
      this.#looks.succeeded();
    } catch (error) {
      this.#looks.failed(this.#host.warn, 'outcomes that are owed could not be looked for', error);
    }
  }

  /** Resolves when nothing is under way to a receiver any more. */
  close(): Promise<void> {
    return this.#sends.close();
  }

  /** One that is due, for whoever is woken first: the turn may have ended, and its outcome may be sent. */
  async look(looked: SessionPlace): Promise<void> {
    const { userId, sessionId: name } = looked;
    const slash = name.indexOf('/');
    const id = name.slice(0, slash);
    const book = this.#bookOf({ userId, sessionId: name.slice(slash + 1) });
    const owed = (await book.read()).get(id);
    if (!owed || owed.givenUp) return;
    const now = await book.now();
    // It was put off since it was woken for.
    if (now < owed.due - EARLY_MS) return;
    if (this.#sending.has(id)) return;
    const leave = this.#sends.enter(owed.to, looked);
    if (!leave) return;
    let isSending = false;
    try {
      const { place, turnId, to, since, tries, from } = owed;
      const seen = new SeenTurn(turnId);
      const turn = await this.#host.turn(place, from, (event) => seen.add(event));
      const { outcome } = seen;
      // What waits may be another turn: of a session that was made since under this id, or behind a rewind.
      const waits = outcome || !seen.isThere ? undefined : turn?.waits;
      const given = turn ? this.#whyGivenUp(owed, seen, now) : 'its session was deleted';
      if (given !== undefined) this.#host.warn(`the outcome of turn ${turnId} is sent to nobody: ${given}`);
      // Where somebody has answered before it could be sent, there is nothing to send.
      if (given !== undefined || (owed.waits && keyOf(owed.waits) !== keyOf(waits))) {
        await book.change(id, (known) => (known ? null : undefined));
        return;
      }
      const isSent = outcome !== undefined || owed.waits !== undefined;
      // Overdue as it is, it is looked for by every program, until one that knows the receiver finds it.
      if (isSent && !this.#isNamed(to)) return;
      const isNew =
        waits &&
        !owed.waits &&
        this.#takesWaits(to) &&
        owed.waited !== keyOf(waits) &&
        (await this.room.hasForWaits(turnId));
      if (isNew) await this.#owe(idOf(this.#host.app, place, turnId, keyOf(waits)), { ...without(owed), waits }, 0);
      const nextMs = isSent
        ? jittered((AGAIN[tries] ?? LAST_SECONDS) * 1000)
        : Math.min(Math.max(LEAST_MS, (now - since) / PART), MOST_MS);
      // Whoever notes it first does it; dead, they are followed when it is due again.
      const next = {
        ...owed,
        due: now + nextMs,
        tries: tries + (isSent ? 1 : 0),
        ...(isNew ? { waited: keyOf(waits) } : {}),
      };
      const isOurs = await book.change(id, (known) =>
        known?.due === owed.due && known.tries === tries ? next : undefined,
      );
      if (!isOurs) return;
      await this.#wake(place, id, nextMs);
      if (!isSent) return;
      isSending = true;
      this.#sending.add(id);
      const over = () => {
        this.#sending.delete(id);
        leave();
      };
      this.#sends.run(this.#send(id, owed, this.#bodyOf(owed, outcome), { now, nextMs }).finally(over));
    } finally {
      if (!isSending) leave();
    }
  }

  #takesWaits(to: string): boolean {
    return this.#outcomes.names.includes(to) && this.#outcomes.takesWaits?.(to) === true;
  }

  /** Undefined: it is sent, or waited for. */
  #whyGivenUp({ to, since, tries }: Owed, { outcome, isThere }: SeenTurn, now: number): string | undefined {
    const isOld = (time: number) => now - time > GIVEN_UP_MS;
    if (!isThere && (tries > 0 || isOld(since))) return 'it is not in the log of its session any more';
    const isNamed = this.#outcomes.names.includes(to);
    return outcome && !isNamed && isOld(Date.parse(outcome.at)) ? `no webhook ${to}` : undefined;
  }

  /** Another program may have the receiver, as while a new version is rolled out. */
  #isNamed(to: string): boolean {
    if (this.#outcomes.names.includes(to)) return true;
    if (!this.#unnamed.has(to)) {
      this.#host.warn(
        `an outcome is owed to webhook ${to}, which this program does not name: it is left to one that does`,
      );
    }
    this.#unnamed.add(to);
    return false;
  }

  #bodyOf({ place, turnId, to, waits }: Owed, outcome: SeenOutcome | undefined): string {
    const { userId, sessionId, agent } = place;
    const data = { app: this.#host.app, agent, userId, sessionId, turnId };
    if (!outcome) {
      const { requestIds = [], at } = waits ?? {};
      return JSON.stringify({ type: 'turn.waits', timestamp: at, data: { ...data, requestIds } });
    }
    const { at, reason, answer } = outcome;
    const words = this.#outcomes.takesAnswer(to) ? shownAnswer(answer) : {};
    return JSON.stringify({ type: 'turn.ended', timestamp: at, data: { ...data, reason, ...words } });
  }

  /** Does not reject. `nextMs`: from `now` until the next try. */
  async #send(
    id: string,
    { place, to, tries }: Owed,
    body: string,
    { now, nextMs }: { now: number; nextMs: number },
  ): Promise<void> {
    const begun = performance.now();
    let failure: unknown;
    try {
      const result = await this.#outcomes.deliver(to, { id, at: now, body });
      if (result === 'gone') this.#host.warn(`webhook ${to} wants no more of ${id}: it is not sent again`);
    } catch (error) {
      failure = error;
    }
    const isOver = failure === undefined || tries >= AGAIN.length;
    if (failure !== undefined) {
      const what = isOver ? 'it is given up' : 'it is sent again';
      this.#host.warn(`webhook ${to} has not taken ${id}, try ${tries + 1}: ${what}`, failure);
    }
    const book = this.#bookOf(place);
    try {
      // The look for which it was woken may have found it on its way.
      if (!isOver) await this.#wake(place, id, Math.max(0, nextMs - (performance.now() - begun)));
      else if (failure === undefined) await book.change(id, (known) => (known ? null : undefined));
      else await this.#giveUp(book, id, now, failure);
    } catch (error) {
      this.#host.warn(`what became of ${id} could not be noted: it is sent again`, error);
    }
  }

  /** It stands there for whoever sends it again. */
  async #giveUp(book: StateBook<Owed>, id: string, at: number, failure: unknown): Promise<void> {
    const givenUp = { at, error: messageOf(failure).slice(0, 500) };
    await book.change(id, (known) => (known ? { ...known, givenUp } : undefined));
    const all = [...(await book.read())].flatMap(([name, one]) => (one.givenUp ? [{ name, at: one.givenUp.at }] : []));
    this.#givenUpCount++;
    all.sort((one, other) => one.at - other.at);
    for (const { name } of all.slice(0, Math.max(0, all.length - MAX_GIVEN_UP))) {
      this.#host.warn(`webhook message ${name} was given up, and is forgotten now: there are too many`);
      await book.change(name, (known) => (known?.givenUp ? null : undefined));
    }
  }

  /** By how long from now: this program's clock may be wrong. */
  #wake({ userId, sessionId }: SessionPlace, id: string, ms: number): Promise<void> {
    return this.#host.wakeAt({ agent: OUTCOMES, userId, sessionId: `${id}/${sessionId}` }, new Date(Date.now() + ms));
  }

  #bookOf({ userId, sessionId }: Omit<SessionPlace, 'agent'>): StateBook<Owed> {
    const book = this.#books[digest(userId, sessionId).charCodeAt(0) % this.#books.length];
    if (!book) throw new RangeError('there is a book for each number');
    return book;
  }
}

/** Which requests it waits for. */
const keyOf = (waits: Owed['waits']) => (waits ? digest(...waits.requestIds).slice(0, 16) : '');

/** Of a turn, what another message about it has in common. */
const without = ({ place, turnId, to, from }: Owed) => ({
  place,
  turnId,
  to,
  ...(from === undefined ? {} : { from }),
});

/** Receivers that were away together are not asked together. */
const jittered = (ms: number) => Math.round(ms * (0.9 + Math.random() * 0.2));

const digest = (...of: string[]) => createHash('sha256').update(JSON.stringify(of)).digest('hex');

const idOf = (app: string, { agent, userId, sessionId }: SessionPlace, ...turn: string[]) =>
  `msg_${digest(app, agent, userId, sessionId, ...turn).slice(0, 40)}`;
