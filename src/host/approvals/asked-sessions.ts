import type { Principal, SessionPlace } from '../../contracts/index.ts';
import { nameOfPlace } from '../../session/index.ts';
import type { KnownQuestion } from './known-questions.ts';
import { knownOf, mayKnow } from './known-questions.ts';
import { prefixesOf } from './open-places.ts';
import type { OpenApproval, WaitingSession } from './open-sessions.ts';

/** Sessions of which is known what they ask, and their questions, together. */
const MAX_KNOWN = 100_000;

/** Milliseconds for which it is believed of a log that has not changed: policy may say something else by then. */
const BELIEVED_MS = 30_000;

/** What was found in one session when it was last read. */
interface Known {
  /** Where the index stood then. */
  stand: string;
  until: number;
  /** `unread`: it could not be read. */
  asks?: readonly KnownQuestion[] | 'unread';
  /** Ids of the sessions of its sub-agents; `unread`: they cannot be known. */
  below?: readonly string[] | 'unread';
}

interface Reading {
  userId: string;
  stand: string;
  /** Its number. */
  begun: number;
  isOver: boolean;
  found: Promise<OpenApproval[]>;
}

/** Where the index stands, of each session that waits: another one once something in it, or below it, may be otherwise. */
export class Stands {
  readonly #rows = new Map<string, WaitingSession[]>();
  readonly #agentTools: ReadonlySet<string>;

  constructor(open: readonly WaitingSession[], agentTools: ReadonlySet<string>) {
    this.#agentTools = agentTools;
    for (const one of open) {
      for (const id of [one.sessionId, ...prefixesOf(one.sessionId)]) {
        const name = nameOf(one.userId, id);
        const rows = this.#rows.get(name);
        if (rows) rows.push(one);
        else this.#rows.set(name, [one]);
      }
    }
  }

  of({ userId, sessionId }: SessionPlace): string {
    const rows = this.#rows.get(nameOf(userId, sessionId)) ?? [];
    // Where a log stands says all that its open calls do.
    return JSON.stringify(rows.map((row) => [row.agent, row.sessionId, row.since, row.lastSeq ?? row.calls]));
  }

  /** Whatever changes what the session asks changes where the index stands. */
  tellAll({ userId, sessionId }: SessionPlace): boolean {
    const rows = this.#rows.get(nameOf(userId, sessionId)) ?? [];
    const mayCallElsewhere = ({ tools }: WaitingSession) =>
      this.#agentTools.size > 0 && (tools?.some((tool) => this.#agentTools.has(tool)) ?? true);
    return rows.every((row) => row.lastSeq !== undefined && !mayCallElsewhere(row));
  }
}

/**
 * Who may see what waiting sessions ask, as it was when they were last read: people who may see nothing of a session have
 * it opened once, not each time they ask. Those that are read at the same time are read once.
 */
export class AskedSessions {
  /** By user, then by agent and session. */
  readonly #known = new Map<string, Map<string, Known>>();
  readonly #readings = new Map<string, Reading>();
  readonly #pollMs: number;
  #size = 0;
  /** Lists that are being made, and readings that were begun so far. */
  #lists = 0;
  #begun = 0;

  /** @param pollMs for which it is believed where the index does not tell of every change */
  constructor(pollMs: number) {
    this.#pollMs = pollMs;
  }

  /** False: it is known to ask nothing that this person may answer or has asked for, or could not be read a moment ago. */
  mayConcern(place: SessionPlace, stands: Stands, who: Principal): boolean {
    const asks = this.#at(place, stands.of(place))?.asks;
    if (asks === 'unread') return false;
    return !asks || asks.some((question) => mayKnow(question, who));
  }

  /** False: it is known not to ask a question of this id. */
  mayAsk(place: SessionPlace, stands: Stands, requestId: string): boolean {
    const asks = this.#at(place, stands.of(place))?.asks;
    return !asks || asks === 'unread' || asks.some((question) => question.requestId === requestId);
  }

  /** It could not be read a moment ago. */
  isUnread(place: SessionPlace, stands: Stands): boolean {
    return this.#at(place, stands.of(place))?.asks === 'unread';
  }

  /** Somebody lists: what is read from now on is at hand for them, until the returned function is called. */
  begin(): { since: number; end(): void } {
    this.#lists++;
    const end = () => {
      if (--this.#lists > 0) return;
      for (const [name, { isOver }] of this.#readings) if (isOver) this.#readings.delete(name);
    };
    return { since: this.#begun, end };
  }

  /**
   * What it asks now. People who want that while it is read wait for the same reading; those who list are given one that was begun
   * `since` their list was.
   */
  read(place: WaitingSession, stands: Stands, since: number, read: () => Promise<OpenApproval[]>) {
    const { userId } = place;
    const name = nameOfPlace(place);
    const stand = stands.of(place);
    const before = this.#readings.get(name);
    if (before?.stand === stand && (!before.isOver || before.begun > since)) return before.found;
    const reading: Reading = { userId, stand, begun: ++this.#begun, isOver: false, found: read() };
    this.#readings.set(name, reading);
    const over = (asks: readonly KnownQuestion[] | 'unread', forMs: number) => {
      reading.isOver = true;
      // Something was asked or answered meanwhile.
      if (this.#readings.get(name) !== reading) return;
      if (this.#lists === 0) this.#readings.delete(name);
      this.#keep(place, stand, forMs, { asks });
    };
    reading.found.then(
      (found) => over(found.map(knownOf), this.#believedMs(place, stands)),
      () => over('unread', this.#pollMs),
    );
    return reading.found;
  }

  /** Ids of the sessions of its sub-agents; undefined: they cannot be known. */
  async below(
    place: SessionPlace,
    stands: Stands,
    look: () => Promise<readonly string[] | undefined>,
  ): Promise<readonly string[] | undefined> {
    const stand = stands.of(place);
    const known = this.#at(place, stand)?.below;
    if (known) return known === 'unread' ? undefined : known;
    const below = await look();
    const forMs = below ? this.#believedMs(place, stands) : this.#pollMs;
    this.#keep(place, stand, forMs, { below: below ?? 'unread' });
    return below;
  }

  /** Something was asked of this user's sessions, or answered. */
  forget(userId: string): void {
    for (const known of this.#known.get(userId)?.values() ?? []) this.#size -= weightOf(known);
    this.#known.delete(userId);
    for (const [name, reading] of this.#readings) if (reading.userId === userId) this.#readings.delete(name);
  }

  #at(place: SessionPlace, stand: string): Known | undefined {
    const known = this.#known.get(place.userId)?.get(nameOfPlace(place));
    return known?.stand === stand && Date.now() < known.until ? known : undefined;
  }

  #keep(place: SessionPlace, stand: string, forMs: number, found: Pick<Known, 'asks' | 'below'>): void {
    const until = Date.now() + forMs;
    const before = this.#at(place, stand);
    if (!before && this.#size >= MAX_KNOWN) {
      this.#known.clear();
      this.#size = 0;
    }
    const ofUser = this.#known.get(place.userId) ?? new Map<string, Known>();
    const name = nameOfPlace(place);
    const stale = ofUser.get(name);
    const known = { ...before, stand, until: Math.min(until, before?.until ?? until), ...found };
    this.#size += weightOf(known) - (stale ? weightOf(stale) : 0);
    ofUser.set(name, known);
    this.#known.set(place.userId, ofUser);
  }

  #believedMs(place: SessionPlace, stands: Stands): number {
    return stands.tellAll(place) ? BELIEVED_MS : this.#pollMs;
  }
}

/** As how much it counts. */
const weightOf = ({ asks, below }: Known): number =>
  1 + (typeof asks === 'object' ? asks.length : 0) + (typeof below === 'object' ? below.length : 0);

const nameOf = (userId: string, sessionId: string) => JSON.stringify([userId, sessionId]);
