import type { SessionSummary } from '../contracts/index.ts';
import { LazyMap } from '../session/index.ts';
import type { Event } from './event.ts';
import { newId } from './identity.ts';
import { openCallChanges } from './open-calls.ts';
import { effectiveEvents } from './rewound.ts';
import type {
  AppendOptions,
  ForkOptions,
  Lease,
  OpenCall,
  SessionKey,
  SessionRecord,
  SessionService,
} from './session-service.ts';
import { applyDelta, joinState } from './state.ts';
import {
  batchDelta,
  checkKey,
  checkScope,
  eventWindow,
  firstEpoch,
  foldState,
  sealEvent,
  splitInitial,
  storeRefusal,
  titleChange,
  wholeNumber,
} from './store-rules.ts';

type State = Record<string, unknown>;

/** State of one scope, copied at the first write after a reader got hold of it. */
class Scope {
  #state: State;
  #lent = false;

  constructor(state: State = {}) {
    this.#state = state;
  }

  lend(): Readonly<State> {
    this.#lent = true;
    return this.#state;
  }

  apply(delta: Readonly<State>): void {
    if (this.#lent) {
      this.#state = { ...this.#state };
      this.#lent = false;
    }
    applyDelta(this.#state, delta);
  }
}

interface Session {
  readonly key: SessionKey;
  title: string | undefined;
  readonly initialState: Readonly<State>;
  readonly state: Scope;
  readonly app: App;
  readonly user: User;
  /** State as it was last read, and what it was put together from. */
  joined: { own: Readonly<State>; app: Readonly<State>; user: Readonly<State>; state: Readonly<State> } | undefined;
  epoch: number;
  /** The live lease. */
  held: object | undefined;
  /** Orders sessions; time may tie. */
  readonly ordinal: number;
  readonly createdAt: number;
  updatedAt: number;
  /** `events[n]` has seq n + 1. */
  readonly events: Event[];
  readonly ids: Set<string>;
  readonly open: LazyMap<string, { name: string; seq: number; at: number }>;
}

interface User {
  readonly state: Scope;
  readonly sessions: Map<string, Session>;
}

interface App {
  readonly state: Scope;
  readonly users: Map<string, User>;
}

/** Keeps everything in this process's memory: the default without a database, and for tests. */
export class InMemorySessionService implements SessionService {
  readonly chained: boolean;
  readonly #apps = new Map<string, App>();
  #created = 0;
  #closed = false;

  /**
   * @param options.chained keep the audit chain. Default false: nobody can touch these logs from outside of the
   *   process, and they end with it
   */
  constructor(options: { chained?: boolean } = {}) {
    this.chained = options.chained ?? false;
  }

  async create(
    given: { app: string; userId: string; id?: string },
    options: { state?: Record<string, unknown>; title?: string } = {},
  ): Promise<SessionRecord> {
    const { key, app, user } = this.#vacant(given);
    const delta = splitInitial(options.state);
    const initialState: State = {};
    applyDelta(initialState, delta.session);
    app.state.apply(delta.app);
    user.state.apply(delta.user);
    return record(this.#add(key, app, user, initialState, { ...initialState }, options.title?.toWellFormed()), []);
  }

  async get(
    key: SessionKey,
    options?: { after?: number; limit?: number; recent?: number },
  ): Promise<SessionRecord | undefined> {
    const session = this.#find(key);
    if (!session) return undefined;
    const { from, to } = eventWindow(session.events.length, options);
    return record(session, session.events.slice(from, to));
  }

  async list(
    { app, userId }: { app: string; userId?: string },
    options: { limit?: number; after?: string } = {},
  ): Promise<SessionSummary[]> {
    const limit = wholeNumber('limit', options.limit) ?? Number.POSITIVE_INFINITY;
    const sessions = this.#within(userId === undefined ? { app } : { app, userId }).sort(
      (a, b) => b.ordinal - a.ordinal,
    );
    let from = 0;
    if (options.after !== undefined) {
      const { after } = options;
      from = sessions.findLastIndex(({ key }) => key.id === after || `${key.userId}/${key.id}` === after) + 1;
      if (from === 0) throw storeRefusal.cursor(after);
    }
    return sessions.slice(from, from + limit).map((session) => ({
      id: session.key.id,
      app: session.key.app,
      userId: session.key.userId,
      ...(session.title !== undefined && { title: session.title }),
      createdAt: new Date(session.createdAt).toISOString(),
      updatedAt: new Date(session.updatedAt).toISOString(),
      length: session.events.length,
      pending: session.open.size,
    }));
  }

  async delete(key: SessionKey): Promise<void> {
    this.#find(key)?.user.sessions.delete(key.id);
  }

  async append(key: SessionKey, events: readonly Event[], options?: AppendOptions): Promise<readonly Event[]> {
    const session = this.#get(key);
    const lastSeq = session.events.length;
    if (options) {
      const { epoch, expectedSeq } = options;
      if (epoch !== undefined && (epoch !== session.epoch || !session.held)) throw storeRefusal.fenced(key, epoch);
      if (expectedSeq !== undefined && expectedSeq !== lastSeq) throw storeRefusal.conflict(key, expectedSeq, lastSeq);
    }
    return this.#store(session, events);
  }

  #store(session: Session, events: readonly Event[]): Event[] {
    const lastSeq = session.events.length;
    const stored: Event[] = [];
    for (const event of events) if (!event.partial) stored.push(sealEvent(event, lastSeq + stored.length + 1));
    if (stored.length > 0) this.#commit(session, stored);
    return stored;
  }

  /** Nothing in here fails but the check at its start: a batch is stored whole or not at all. */
  #commit(session: Session, stored: readonly Event[]): void {
    const { ids, events } = session;
    const size = ids.size;
    let added = 0;
    for (const { id } of stored) {
      // Whether the set grew tells what asking it first would: one look-up for each event.
      if (ids.add(id).size > size + added) added += 1;
      else {
        for (const { id: taken } of stored.slice(0, added)) ids.delete(taken);
        throw storeRefusal.eventExists(session.key, id);
      }
    }
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
    indexCalls(session, stored);
  }

  async acquire(key: SessionKey): Promise<Lease> {
    const session = this.#get(key);
    if (session.held) throw storeRefusal.busy(key, 'this process', { epoch: session.epoch });
    session.epoch += 1;
    const token = {};
    session.held = token;
    return {
      epoch: session.epoch,
      lastSeq: session.events.length,
      shared: Object.freeze(joinState({}, session.app.state.lend(), session.user.state.lend())),
      release: async () => {
        if (session.held === token) session.held = undefined;
      },
    };
  }

  async fork(source: SessionKey, options: ForkOptions = {}): Promise<SessionRecord> {
    const from = this.#get(source);
    const events = from.events.slice(0, wholeNumber('through', options.through));
    const { key, app, user } = this.#vacant({ ...source, id: options.id ?? newId() });
    const state = { ...from.initialState };
    foldState(state, events);
    const copy = this.#add(key, app, user, from.initialState, state, from.title);
    for (const event of events) {
      copy.ids.add(event.id);
      copy.events.push(event);
    }
    indexCalls(copy, events);
    try {
      return record(copy, [...events, ...this.#store(copy, options.settle?.(record(copy, events)) ?? [])]);
    } catch (error) {
      user.sessions.delete(key.id);
      throw error;
    }
  }

  async openCalls(scope: { app: string; userId?: string; id?: string }): Promise<OpenCall[]> {
    const found: (OpenCall & { at: number })[] = [];
    for (const { key, open } of this.#within(scope)) {
      for (const [callId, { name, seq, at }] of open) found.push({ key, callId, name, seq, at });
    }
    return found
      .sort((a, b) => a.at - b.at || order(a.key.userId, b.key.userId) || order(a.key.id, b.key.id) || a.seq - b.seq)
      .map(({ key, callId, name, seq }) => ({ key: { ...key }, callId, name, seq }));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#apps.clear();
  }

  #find(key: SessionKey): Session | undefined {
    const session = this.#apps.get(key.app)?.users.get(key.userId)?.sessions.get(key.id);
    if (!session) {
      if (this.#closed) throw storeRefusal.closed();
      checkKey(key);
    }
    return session;
  }

  #get(key: SessionKey): Session {
    const session = this.#find(key);
    if (!session) throw storeRefusal.missing(key);
    return session;
  }

  /** Unordered. */
  #within(scope: { app: string; userId?: string; id?: string }): Session[] {
    if (this.#closed) throw storeRefusal.closed();
    checkScope(scope);
    const users = this.#apps.get(scope.app)?.users ?? new Map<string, User>();
    const sessions: Session[] = [];
    for (const user of scope.userId === undefined ? users.values() : [users.get(scope.userId)]) {
      if (!user) continue;
      if (scope.id === undefined) for (const session of user.sessions.values()) sessions.push(session);
      else {
        const session = user.sessions.get(scope.id);
        if (session) sessions.push(session);
      }
    }
    return sessions;
  }

  #vacant(given: { app: string; userId: string; id?: string }): { key: SessionKey; app: App; user: User } {
    if (this.#closed) throw storeRefusal.closed();
    const key = { app: given.app, userId: given.userId, id: given.id ?? newId() };
    checkKey(key);
    const app = this.#apps.get(key.app) ?? { state: new Scope(), users: new Map<string, User>() };
    const user = app.users.get(key.userId) ?? { state: new Scope(), sessions: new Map<string, Session>() };
    if (user.sessions.has(key.id)) throw storeRefusal.exists(key);
    return { key: Object.freeze(key), app, user };
  }

  #add(
    key: SessionKey,
    app: App,
    user: User,
    initialState: Readonly<State>,
    state: State,
    title: string | undefined,
  ): Session {
    const now = Date.now();
    const session: Session = {
      key,
      title,
      initialState: Object.freeze(initialState),
      state: new Scope(state),
      app,
      user,
      joined: undefined,
      epoch: firstEpoch(),
      held: undefined,
      ordinal: ++this.#created,
      createdAt: now,
      updatedAt: now,
      events: [],
      ids: new Set(),
      open: new LazyMap(),
    };
    this.#apps.set(key.app, app);
    app.users.set(key.userId, user);
    user.sessions.set(key.id, session);
    return session;
  }
}

function indexCalls(session: Session, added: readonly Event[]): void {
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

function record(session: Session, events: readonly Event[]): SessionRecord {
  return {
    key: session.key,
    ...(session.title !== undefined && { title: session.title }),
    initialState: session.initialState,
    state: joinedState(session),
    lastSeq: session.events.length,
    epoch: session.epoch,
    createdAt: session.createdAt,
    updatedAt: session.updatedAt,
    events,
  };
}

/** The three scopes as one: readers share it until one of them is written. */
function joinedState(session: Session): Readonly<State> {
  const own = session.state.lend();
  const app = session.app.state.lend();
  const user = session.user.state.lend();
  const known = session.joined;
  if (known?.own === own && known.app === app && known.user === user) return known.state;
  const state = Object.freeze(joinState(own, app, user));
  session.joined = { own, app, user, state };
  return state;
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

// For stores outside this folder: what they do alike.
export {
  batchDelta,
  checkKey,
  checkScope,
  eventWindow,
  firstEpoch,
  foldState,
  sealEvent,
  splitInitial,
  storeRefusal,
  titleChange,
  wholeNumber,
} from './store-rules.ts';
