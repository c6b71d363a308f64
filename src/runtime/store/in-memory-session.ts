import type { LazyMap } from '../../base/index.ts';
import { isEmpty, Pace } from '../../base/index.ts';
import type { SessionSummary, StoredDecision } from '../../contracts/index.ts';
import { listedSession } from '../../session/index.ts';
import type { OpenTurnChange, StoredEvent } from '../log/index.ts';
import { applyDelta, joinState, noState, openCallChanges, openTurnChange, openTurnOf } from '../log/index.ts';
import { EventIds } from './event-ids.ts';
import type { QuestionRow } from './question-rows.ts';
import { QuestionBook, questionTouch, storedDecision } from './question-rows.ts';
import { Cuts, effectiveEvents, OpenCallFold } from './rewound.ts';
import type { SessionFacts } from './session-facts.ts';
import { addFacts, factsChange, listedFacts, noFacts } from './session-facts.ts';
import type { SessionKey, SessionRecord, SettlePages, StoredCheckpoint } from './session-service.ts';
import { batchDelta, foldState, sealEvent, storeRefusal, titleChange } from './store-rules.ts';

export type StateValues = Record<string, unknown>;

/** StateValues of one scope, copied at the first write after a reader got hold of it. */
export class ScopeState {
  #state: Readonly<StateValues>;
  #lent = true;

  /** @param state is left as it is */
  constructor(state: Readonly<StateValues> = noState) {
    this.#state = state;
  }

  lend(): Readonly<StateValues> {
    this.#lent = true;
    return this.#state;
  }

  apply(delta: Readonly<StateValues>): void {
    // Nothing, most often: what was lent is not copied for it.
    if (isEmpty(delta)) return;
    const state = this.#lent ? { ...this.#state } : this.#state;
    applyDelta(state, delta);
    this.#state = state;
    this.#lent = false;
  }
}

/** One session as this process keeps it. */
export interface MemorySession {
  readonly key: SessionKey;
  title: string | undefined;
  readonly initialState: Readonly<StateValues>;
  readonly state: ScopeState;
  readonly app: MemoryApp;
  readonly user: MemoryUser;
  /** StateValues as it was last read, and what it was put together from. */
  joined:
    | {
        own: Readonly<StateValues>;
        app: Readonly<StateValues>;
        user: Readonly<StateValues>;
        state: Readonly<StateValues>;
      }
    | undefined;
  epoch: number;
  /** The live lease. */
  held: object | undefined;
  /** Orders sessions; time may tie. */
  readonly ordinal: number;
  readonly createdAt: number;
  updatedAt: number;
  /** `events[n]` has seq n + 1. */
  events: StoredEvent[];
  /** Of its events; undefined: they are so few that they are looked through. */
  ids: EventIds | undefined;
  readonly open: LazyMap<string, { name: string; seq: number; at: number }>;
  /** The newest turn has not ended. */
  openTurn: { agent: string; at: number } | undefined;
  checkpoint: StoredCheckpoint | undefined;
  facts: SessionFacts;
  /** What was asked about its calls; undefined: nothing. */
  questions: QuestionBook | undefined;
}

export interface MemoryUser {
  readonly state: ScopeState;
  readonly sessions: Map<string, MemorySession>;
}

export interface MemoryApp {
  readonly state: ScopeState;
  readonly users: Map<string, MemoryUser>;
}

/** Appends events at the end of the log; partial ones are not stored. @returns what was stored */
export function storeEvents(session: MemorySession, events: readonly StoredEvent[]): StoredEvent[] {
  const lastSeq = session.events.length;
  const stored: StoredEvent[] = [];
  for (const event of events) if (!event.partial) stored.push(sealEvent(event, lastSeq + stored.length + 1));
  if (stored.length > 0) commit(session, stored);
  return stored;
}

/** Events of a log whose ids are not kept beside them. */
const FEW = 16;

function idsOf(events: readonly StoredEvent[]): EventIds {
  const ids = new EventIds();
  for (const { id, seq } of events) ids.add(id, seq);
  return ids;
}

/** Takes the ids of new events, all or none. */
function takeIds(session: MemorySession, stored: readonly StoredEvent[]): void {
  const { events, key } = session;
  if (!session.ids && events.length + stored.length <= FEW) {
    for (const [at, { id }] of stored.entries()) {
      const isTaken = (other: StoredEvent) => other.id === id;
      if (events.some(isTaken) || stored.slice(0, at).some(isTaken)) throw storeRefusal.eventExists(key, id);
    }
    return;
  }
  session.ids ??= idsOf(events);
  const { ids } = session;
  for (const [at, { id, seq }] of stored.entries()) {
    if (ids.add(id, seq)) continue;
    for (const { id: taken } of stored.slice(0, at)) ids.delete(taken);
    throw storeRefusal.eventExists(key, id);
  }
}

/** Nothing in here fails but the check at its start: a batch is stored whole or not at all. */
function commit(session: MemorySession, stored: readonly StoredEvent[]): void {
  const { events } = session;
  takeIds(session, stored);
  for (const event of stored) events.push(event);
  session.updatedAt = Date.now();
  const delta = batchDelta(stored);
  if (delta) {
    session.state.apply(delta.session);
    session.app.state.apply(delta.app);
    session.user.state.apply(delta.user);
  }
  const title = titleChange(stored);
  if (title !== undefined) session.title = title ?? undefined;
  noteQuestions(session, stored);
  indexCalls(session, stored);
  markTurn(session, stored);
  noteFacts(session.facts, stored);
}

/** Before the calls that are closed are taken out of the index, which knows their tools. */
function noteQuestions(session: MemorySession, stored: readonly StoredEvent[]): void {
  const touch = questionTouch(stored);
  if (stored.some(isMarker)) {
    session.questions = questionsOf(session);
    session.questions.add(effectiveEvents(session.events));
  } else if (touch === 'asks' || (touch === 'ends' && session.questions)) {
    session.questions ??= questionsOf(session);
    session.questions.add(stored);
  }
  // Nobody keeps count of them here.
  session.questions?.changes();
}

function questionsOf({ open }: MemorySession, rows?: Iterable<QuestionRow>): QuestionBook {
  return new QuestionBook(rows, (callId) => open.get(callId)?.name);
}

/** Questions of sessions that were decided. */
export function* decisionsOf(sessions: Iterable<MemorySession>): Generator<StoredDecision> {
  for (const { key, facts, questions } of sessions) {
    const place = { agent: facts.agent, userId: key.userId, sessionId: key.id };
    for (const row of questions?.rows() ?? []) {
      const one = storedDecision(place, row);
      if (one) yield one;
    }
  }
}

function noteFacts(facts: SessionFacts, events: readonly StoredEvent[]): void {
  const change = factsChange(events);
  if (change) addFacts(facts, change);
}

/** Brings the mark of the open turn up to events that were added. */
function markTurn(session: MemorySession, added: readonly StoredEvent[]): void {
  const change = openTurnChange(added);
  if (!change) return;
  const agent = change.kind === 'unknown' ? openTurnOf(effectiveEvents(session.events)) : openedAt(change);
  session.openTurn = agent === undefined ? undefined : { agent, at: session.updatedAt };
}

function openedAt(change: OpenTurnChange): string | undefined {
  return change.kind === 'opened' ? change.agent : undefined;
}

/** What the events of another log come to: what they did to shared state was done there. */
export class Copied {
  readonly state: StateValues;
  readonly ids: EventIds;
  /** The first id that two of them have. */
  twice: string | undefined;
  readonly calls = new OpenCallFold();
  readonly facts = noFacts();
  readonly questions = new QuestionBook();
  readonly pages: SettlePages | undefined;
  readonly #cuts: Cuts;
  readonly #areIdsKnown: boolean;

  /** `markers`: the rewinds among the events. `ids`: those of all events, where they are known. */
  constructor(
    initialState: Readonly<StateValues>,
    markers: readonly StoredEvent[],
    { pages, ids }: { pages?: SettlePages | undefined; ids?: EventIds | undefined } = {},
  ) {
    this.state = { ...initialState };
    this.pages = pages;
    this.ids = ids ?? new EventIds();
    this.#areIdsKnown = ids !== undefined;
    this.#cuts = new Cuts(markers.map(({ seq, actions }) => ({ seq, through: actions.rewound?.through ?? seq })));
  }

  /** The next of them. */
  take(events: readonly StoredEvent[]): void {
    foldState(this.state, events);
    noteFacts(this.facts, events);
    if (!this.#areIdsKnown) {
      for (const { id, seq } of events) if (!this.ids.add(id, seq)) this.twice ??= id;
    }
    const counting = this.#cuts.counting(events);
    this.calls.add(counting);
    this.questions.add(counting);
    this.pages?.see(events, counting);
  }
}

/** Events of a log, a few milliseconds of work each time. */
const PAGE = 128;

/** Others of the process are let in on the way. */
export async function copyInPages(
  events: readonly StoredEvent[],
  initialState: Readonly<StateValues>,
  known: { pages: SettlePages | undefined; ids: EventIds | undefined },
): Promise<Copied> {
  const markers: StoredEvent[] = [];
  await inPages(events, (page) => markers.push(...page.filter(isMarker)));
  const copied = new Copied(initialState, markers, known);
  await inPages(events, (page) => copied.take(page));
  return copied;
}

export const isMarker = ({ actions }: StoredEvent): boolean => actions.rewound !== undefined;

async function inPages(events: readonly StoredEvent[], work: (page: readonly StoredEvent[]) => void): Promise<void> {
  const pace = new Pace();
  for (let at = 0; at < events.length; at += PAGE) {
    work(events.slice(at, at + PAGE));
    const rest = pace.rest();
    if (rest) await rest;
  }
}

/** @param events of another log, in a list of their own, for a session that has none */
export function addCopies(
  session: MemorySession,
  events: StoredEvent[],
  { ids, calls, facts, questions }: Copied,
): void {
  session.events = events;
  session.facts = facts;
  session.questions = questionsOf(session, questions.rows());
  session.ids = ids;
  const at = session.updatedAt;
  for (const { callId, name, seq } of calls.opened()) session.open.set(callId, { name, seq, at });
  const agent = calls.openTurn();
  session.openTurn = agent === undefined ? undefined : { agent, at };
}

/** Brings the index of open calls up to events that were added. */
function indexCalls(session: MemorySession, added: readonly StoredEvent[]): void {
  if (!added.some(concernsCalls)) return;
  let events = added;
  if (added.some(({ actions }) => actions.rewound)) {
    session.open.clear();
    events = effectiveEvents(session.events);
  }
  const { opened, closed } = openCallChanges(events);
  for (const callId of closed) session.open.delete(callId);
  for (const { callId, name, seq } of opened) {
    // One that is made again takes its place at the end.
    session.open.delete(callId);
    session.open.set(callId, { name, seq, at: session.updatedAt });
  }
}

function concernsCalls({ content, actions }: StoredEvent): boolean {
  if (actions.rewound) return true;
  if (!content) return false;
  for (const { type } of content.parts) if (type === 'function_call' || type === 'function_response') return true;
  return false;
}

export function recordOf(session: MemorySession, events: readonly StoredEvent[]): SessionRecord {
  const { title } = session;
  const record: SessionRecord = {
    key: session.key,
    initialState: session.initialState,
    state: joinedState(session),
    lastSeq: session.events.length,
    epoch: session.epoch,
    createdAt: session.createdAt,
    updatedAt: session.updatedAt,
    events,
  };
  return title === undefined ? record : { ...record, title };
}

/** The three scopes as one: readers share it until one of them is written. */
export function joinedState(session: MemorySession): Readonly<StateValues> {
  const own = session.state.lend();
  const app = session.app.state.lend();
  const user = session.user.state.lend();
  const known = session.joined;
  if (known?.own === own && known.app === app && known.user === user) return known.state;
  const state = Object.freeze(joinState(own, app, user));
  session.joined = { own, app, user, state };
  return state;
}

export function summaryOf(session: MemorySession): SessionSummary {
  return listedSession({
    id: session.key.id,
    app: session.key.app,
    userId: session.key.userId,
    ...(session.title !== undefined && { title: session.title }),
    createdAt: new Date(session.createdAt).toISOString(),
    updatedAt: new Date(session.updatedAt).toISOString(),
    length: session.events.length,
    pending: session.open.size,
    unfinished: session.openTurn !== undefined,
    running: session.held !== undefined && !session.questions?.asks,
    ...listedFacts(session.facts),
  });
}
