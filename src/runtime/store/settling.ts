import type { StoredEvent } from '../log/index.ts';
import { abandoned, Chain, createEvent, Fold, responseEvent } from '../log/index.ts';
import { effectiveEvents } from './rewound.ts';
import type { SessionRecord, SessionService, Settle, SettlePages } from './session-service.ts';

/** Events after which what was folded gives way to what it has come to: of a long log little is in memory at once. */
const EVERY = 500;

/**
 * What ends a copy's log: it does not inherit open questions, or one payment could be approved twice.
 * @param config settings that the copy has from then on, whatever its log says
 */
export function settling({ chained }: SessionService, config?: Readonly<Record<string, unknown>>): Settle {
  const inPages = (initialState: SessionRecord['initialState']) =>
    new Settling(initialState, chained !== false, config);
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
  readonly #config: Readonly<Record<string, unknown>> | undefined;
  #since = 0;

  constructor(
    initialState: SessionRecord['initialState'],
    isChained: boolean,
    config: Readonly<Record<string, unknown>> | undefined,
  ) {
    this.#initialState = initialState;
    this.#config = config;
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
    const end = this.#fold.open.size === 0 ? [] : endOfAll(this.#fold, '', 'the session was forked', 'never');
    const config = this.#config && changeOf(this.#fold.config, this.#config);
    if (config) end.push(createEvent({ turnId: '', author: 'user', actions: { config } }));
    if (end.length === 0) return end;
    return this.#chain ? this.#chain.link(end) : end;
  }

  #begin(): void {
    const state = this.#fold.betweenTurns();
    if (!state) return;
    this.#fold = new Fold(this.#initialState, {}, state);
    this.#since = this.#fold.at;
  }
}

/** Settings that make the second of the first; null takes one away. Undefined: they are the same. */
function changeOf(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const gone = Object.keys(from).filter((name) => to[name] === undefined);
  const changed = Object.entries(to).filter(([name, value]) => JSON.stringify(from[name]) !== JSON.stringify(value));
  if (gone.length + changed.length === 0) return undefined;
  return Object.fromEntries([...gone.map((name) => [name, null]), ...changed]);
}

/** Holds none of these events, whether they are linked or not. */
function chainAfter(chain: Chain, events: readonly StoredEvent[]): Chain {
  for (const event of events) chain.see(event);
  return new Chain(chain.state);
}

/**
 * What closes all that is open, and the turn.
 * @param agent who ends a turn that nobody is in
 * @param hasRun of a copy, in which none of the calls was ever started
 */
export function endOfAll(fold: Fold, agent: string, reason: string, hasRun?: 'never'): StoredEvent[] {
  const origin = { streamId: '', invocationId: '' };
  // Leaf first: what was asked last is closed first.
  const events = [...fold.open.values()]
    .reverse()
    .map((call) => responseEvent(call, abandoned(call, reason, hasRun), origin));
  if (fold.turn && fold.turn.ended === undefined) {
    const author = fold.occupant ?? agent;
    events.push(createEvent({ turnId: fold.turn.id, author, actions: { end: { reason: 'aborted' } } }));
  }
  return events;
}
