import type { AgentEvent, EventsOptions } from '../../contracts/index.ts';

/**
 * What whoever reads a session's events is shown of those behind a cursor: which, and how many. Asked by all that hand
 * them out: the adapter of the runtime (`events()`), the client of a served host.
 */
export class EventReading {
  /** Cursor behind which it starts; undefined: with the first event. */
  readonly after: string | undefined;
  #left: number;

  constructor({ after, limit = Number.POSITIVE_INFINITY }: EventsOptions) {
    this.after = after;
    this.#left = limit;
  }

  /** Events that are still wanted. */
  get left(): number {
    return this.#left;
  }

  /** Nothing more is wanted. */
  get isOver(): boolean {
    return this.#left <= 0;
  }

  /** The next event behind the cursor is shown, and counts. */
  takes(_event: AgentEvent): boolean {
    if (this.isOver) return false;
    this.#left--;
    return true;
  }
}

/** Which events of one log have come out: each comes out once, whoever shows it first, in the order of the log. */
export class ShownEvents {
  #seq: number | undefined;
  /** Ids of the events at that place: one stored event may be shown as several. */
  readonly #siblings = new Set<string>();

  /** @param seq place in the log of what has come out last */
  constructor(seq?: number) {
    this.#seq = seq;
  }

  has({ id, seq }: AgentEvent): boolean {
    return this.#siblings.has(id) || (seq !== undefined && this.#seq !== undefined && seq < this.#seq);
  }

  add({ id, seq }: AgentEvent): void {
    if (seq !== this.#seq) this.#siblings.clear();
    this.#seq = seq;
    this.#siblings.add(id);
  }
}
