import type { StoredEvent } from '../log/index.ts';
import { abandoned, Chain, createEvent, Fold, responseEvent } from '../log/index.ts';
import { effectiveEvents } from './rewound.ts';
import type { SessionRecord, SessionService, Settle, SettlePages } from './session-service.ts';

/** Events after which what was folded gives way to what it has come to: of a long log little is in memory at once. */
const EVERY = 500;

/** What ends a copy's log: it does not inherit open questions, or one payment could be approved twice. */
export function settling({ chained }: SessionService): Settle {
  const inPages = (initialState: SessionRecord['initialState']) => new Settling(initialState, chained !== false);
  const settle = ({ initialState, events }: SessionRecord) => {
    const pages = inPages(initialState);
    pages.see(events, effectiveEvents(events));
    return pages.end();
  };
  return Object.assign(settle, { inPages });
}

/** What is open in a log, whatever became of its shared state. */
class Settling implements SettlePages {
  readonly #initialState: SessionRecord['initialState'];
  #chain: Chain | undefined;
  #fold: Fold;
  #since = 0;

  constructor(initialState: SessionRecord['initialState'], isChained: boolean) {
    this.#initialState = initialState;
    this.#fold = new Fold(initialState, {});
    this.#chain = isChained ? new Chain() : undefined;
  }

  see(events: readonly StoredEvent[], counting: readonly StoredEvent[]): void {
    if (this.#chain) this.#chain = chainAfter(this.#chain, events);
    for (const event of counting) {
      if (event.actions.turn && this.#fold.at - this.#since >= EVERY) this.#begin();
      this.#fold.apply(event);
    }
  }

  end(): readonly StoredEvent[] {
    if (this.#fold.open.size === 0) return [];
    const end = endOfAll(this.#fold, '', 'the session was forked', false);
    return this.#chain ? this.#chain.link(end) : end;
  }

  #begin(): void {
    const state = this.#fold.betweenTurns();
    if (!state) return;
    this.#fold = new Fold(this.#initialState, {}, state);
    this.#since = this.#fold.at;
  }
}

/** Holds none of these events, whether they are linked or not. */
function chainAfter(chain: Chain, events: readonly StoredEvent[]): Chain {
  for (const event of events) chain.see(event);
  return new Chain(chain.state);
}

/**
 * What closes all that is open, and the turn.
 * @param agent who ends a turn that nobody is in
 * @param mayHaveRun false: of a copy, in which none of the calls was ever started
 */
export function endOfAll(fold: Fold, agent: string, reason: string, mayHaveRun?: false): StoredEvent[] {
  const origin = { streamId: '', invocationId: '' };
  // Leaf first: what was asked last is closed first.
  const events = [...fold.open.values()]
    .reverse()
    .map((call) => responseEvent(call, abandoned(call, reason, mayHaveRun), origin));
  if (fold.turn && fold.turn.ended === undefined) {
    const author = fold.occupant ?? agent;
    events.push(createEvent({ turnId: fold.turn.id, author, actions: { end: { reason: 'aborted' } } }));
  }
  return events;
}
