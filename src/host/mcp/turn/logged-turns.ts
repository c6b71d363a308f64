import type { AgentEvent, Session } from '../../../contracts/index.ts';
import { isCoxswainError } from '../../../contracts/index.ts';
import { Turn } from './turn.ts';

/** Conversations of which a server knows where their newest turn begins. */
const MAX_PLACES = 1000;

/** Where a turn begins in its log: behind this cursor, with the event of this id. */
interface Beginning {
  turnId: string;
  eventId: string;
  /** Undefined: with the first event. */
  after: string | undefined;
}

/** Where turns begin that callers have asked about: whoever asks again reads from there on. Those asked for last are kept. */
export class TurnPlaces {
  readonly #places = new Map<string, Beginning>();

  get(name: string): Beginning | undefined {
    return this.#places.get(name);
  }

  set(name: string, place: Beginning): void {
    this.#places.delete(name);
    this.#places.set(name, place);
    const [oldest] = this.#places.keys();
    if (this.#places.size > MAX_PLACES && oldest !== undefined) this.#places.delete(oldest);
  }

  delete(name: string): void {
    this.#places.delete(name);
  }
}

/** What the log of one session says of its turns, for one call: each event is read once, however often that asks. */
export class LoggedTurns {
  readonly #session: Session;
  readonly #places: TurnPlaces;
  readonly #name: string;
  #turnId: string | undefined;
  #turn = new Turn();
  /** Cursor of the newest event that is in it. */
  #after: string | undefined;

  /** @param name of the session, among all of the server */
  constructor(session: Session, places: TurnPlaces, name: string) {
    this.#session = session;
    this.#places = places;
    this.#name = name;
  }

  /** What a turn has come to so far. */
  async of(turnId: string | undefined): Promise<Turn> {
    if (turnId === undefined) return new Turn();
    try {
      return await this.#read(turnId);
    } catch (error) {
      const isKnown = this.#places.get(this.#name) !== undefined;
      if (!isKnown || !isCoxswainError(error) || error.code !== 'E_BAD_INPUT') throw error;
      // The session was deleted and made again: what is known of the log before it says nothing of this one.
      this.#places.delete(this.#name);
      this.#turnId = undefined;
      this.#after = undefined;
      return this.#read(turnId);
    }
  }

  async #read(turnId: string): Promise<Turn> {
    // Events of an executor that gives them no cursor are read again.
    if (this.#turnId !== turnId || this.#after === undefined) {
      this.#turnId = turnId;
      this.#turn = new Turn();
      const known = this.#places.get(this.#name);
      this.#after = known?.turnId === turnId ? known.after : undefined;
    }
    let isBegun = this.#after !== undefined;
    for await (const event of this.#events(this.#after)) {
      if (turnOf(event) === turnId) {
        if (!isBegun) this.#places.set(this.#name, { turnId, eventId: event.id, after: this.#after });
        isBegun = true;
        this.#turn.push(event);
      }
      this.#after = event.cursor ?? this.#after;
    }
    return this.#turn;
  }

  /** The id of the turn of the newest event; undefined: the session has none. */
  async newest(): Promise<string | undefined> {
    const known = this.#places.get(this.#name);
    const found = known && (await this.#newestFrom(known));
    const newest = found ?? (await this.#newestFrom(undefined));
    if (!newest) return undefined;
    this.#places.set(this.#name, newest);
    return newest.turnId;
  }

  /** Undefined: there is no turn, or what is known of the log does not fit it, or does not say where the turn begins. */
  async #newestFrom(known: Beginning | undefined): Promise<Beginning | undefined> {
    const begun = new Map<string, Beginning>();
    let after = known?.after;
    let newest: Beginning | undefined;
    let isFirst = true;
    try {
      for await (const event of this.#events(after)) {
        // The session was deleted and made again.
        if (isFirst && known && event.id !== known.eventId) return undefined;
        const turnId = turnOf(event);
        if (turnId !== undefined) {
          newest = begun.get(turnId) ?? { turnId, eventId: event.id, after };
          // What comes late is of a turn that may have begun before the known one.
          if (!begun.has(turnId) && known && !isFirst && !beginsTurn(event)) return undefined;
          begun.set(turnId, newest);
        }
        isFirst = false;
        after = event.cursor ?? after;
      }
    } catch (error) {
      if (known && isCoxswainError(error) && error.code === 'E_BAD_INPUT') return undefined;
      throw error;
    }
    return newest;
  }

  #events(after: string | undefined): AsyncIterable<AgentEvent> {
    return this.#session.events(after === undefined ? {} : { after });
  }
}

const turnOf = (event: AgentEvent): string | undefined => ('turnId' in event ? event.turnId : undefined);

const beginsTurn = (event: AgentEvent): boolean => event.type === 'message' && event.role === 'user';
