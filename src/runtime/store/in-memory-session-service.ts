import { checkOptions, flag, isEmpty, LazyMap, newId } from '../../base/index.ts';
import type { DecidedPage, DecidedQuery, SessionSummary, StoredDecision } from '../../contracts/index.ts';
import { decidedPage, eraseFromBooks, MemoryJournal } from '../../session/index.ts';
import type { StoredEvent } from '../log/index.ts';
import { applyDelta, joinState, noState } from '../log/index.ts';
import type { MemoryApp, MemorySession, MemoryUser, StateValues } from './in-memory-session.ts';
import {
  addCopies,
  Copied,
  copyInPages,
  decisionsOf,
  isMarker,
  recordOf,
  ScopeState,
  storeEvents,
  summaryOf,
} from './in-memory-session.ts';
import { noFacts } from './session-facts.ts';
import type {
  AppendOptions,
  CheckpointStore,
  ForkOptions,
  Lease,
  OpenCall,
  OpenTurn,
  RestoredSession,
  SessionKey,
  SessionRecord,
  SessionService,
} from './session-service.ts';
import { idsBelow, SessionsBelow } from './sessions-below.ts';
import { settling } from './settling.ts';
import { saysAtOnce } from './state-at.ts';
import {
  checkKey,
  checkScope,
  eventWindow,
  firstEpoch,
  newKey,
  sealedLog,
  splitInitial,
  storeInput,
  storeRefusal,
  wholeNumber,
} from './store-rules.ts';

/** Keeps everything in this process's memory: the default without a database, and for tests. */
export class InMemorySessionService implements SessionService {
  readonly chained: boolean;
  readonly isPrivate: boolean = true;
  /** What a host over this store notes of executors that it does not believe. */
  readonly journal: MemoryJournal = new MemoryJournal();
  /** What logs have come to, so that opening a session costs what its log has gained since. */
  readonly checkpoints: CheckpointStore = {
    newest: async (key) => this.#find(key)?.checkpoint,
    keep: async (key, checkpoint) => {
      const session = this.#find(key);
      const { seq } = checkpoint;
      if (session && session.events.length >= seq && (session.checkpoint?.seq ?? 0) < seq)
        session.checkpoint = checkpoint;
    },
  };
  readonly #apps = new Map<string, MemoryApp>();
  #created = 0;
  /** Epoch milliseconds: when the newest session was made. */
  #newest = 0;
  #closed = false;

  /**
   * @param options.chained keep the audit chain. Default false: nobody can touch these logs from outside of the
   *   process, and they end with it
   */
  constructor(options: { chained?: boolean } = {}) {
    checkOptions<typeof options>(options, 'InMemorySessionService: options', { chained: flag });
    this.chained = options.chained ?? false;
    saysAtOnce(this, InMemorySessionService.prototype.get, (key) => this.#known(key));
  }

  async create(
    given: { app: string; userId: string; id?: string },
    options: { state?: Record<string, unknown>; title?: string } = {},
  ): Promise<SessionRecord> {
    storeInput.create(options);
    const { key, app, user } = this.#vacant(given);
    const delta = splitInitial(options.state);
    const initialState = withoutNulls(delta.session);
    app.state.apply(delta.app);
    user.state.apply(delta.user);
    return recordOf(this.#add(key, app, user, initialState, initialState, options.title?.toWellFormed()), []);
  }

  async get(
    key: SessionKey,
    options?: { after?: number; limit?: number; recent?: number },
  ): Promise<SessionRecord | undefined> {
    storeInput.get(options);
    const session = this.#find(key);
    if (!session) return undefined;
    const { from, to } = eventWindow(session.events.length, options);
    return recordOf(session, session.events.slice(from, to));
  }

  async list(
    scope: { app: string; userId?: string },
    options: { limit?: number; after?: string; users?: readonly string[] } = {},
  ): Promise<SessionSummary[]> {
    checkScope(scope);
    const { app, userId } = scope;
    storeInput.list(options);
    const users = options.users && new Set(options.users);
    const limit = wholeNumber('limit', options.limit) ?? Number.POSITIVE_INFINITY;
    const sessions = this.#within(userId === undefined ? { app } : { app, userId })
      .filter(({ key }) => users?.has(key.userId) ?? true)
      .sort((a, b) => b.ordinal - a.ordinal);
    let from = 0;
    if (options.after !== undefined) {
      const { after } = options;
      from = sessions.findLastIndex(({ key }) => key.id === after || `${key.userId}/${key.id}` === after) + 1;
      if (from === 0) throw storeRefusal.cursor(after);
    }
    return sessions.slice(from, from + limit).map(summaryOf);
  }

  async decided({ app }: { app: string }, query: DecidedQuery): Promise<DecidedPage<StoredDecision>> {
    const sessions = this.#within({ app });
    storeInput.decided(query);
    return decidedPage(decisionsOf(sessions), query);
  }

  async delete(key: SessionKey): Promise<void> {
    const session = this.#find(key);
    if (session) this.#remove(key, session);
    await this.journal.forget({ app: key.app, userId: key.userId, sessionId: key.id });
  }

  #remove(key: SessionKey, session: MemorySession): void {
    const { sessions } = session.user;
    const [first, last] = idsBelow(key.id);
    const below = new SessionsBelow(
      key.id,
      [...sessions.keys()].filter((id) => id > first && id < last),
    );
    below.see(key.id, session.events);
    for (const id of below.found) below.see(id, sessions.get(id)?.events ?? []);
    // Whoever runs one below would go on with tools whose results nothing can hold.
    const running = below.found.map((id) => sessions.get(id)).find((one) => one?.held);
    if (running) throw storeRefusal.busy(running.key, 'this process', { epoch: running.epoch });
    for (const id of [key.id, ...below.found]) sessions.delete(id);
  }

  async append(
    key: SessionKey,
    events: readonly StoredEvent[],
    options?: AppendOptions,
  ): Promise<readonly StoredEvent[]> {
    storeInput.append(events, options);
    const session = this.#get(key);
    const lastSeq = session.events.length;
    if (options) {
      const { epoch, expectedSeq } = options;
      if (epoch !== undefined && (epoch !== session.epoch || !session.held)) throw storeRefusal.fenced(key, epoch);
      if (expectedSeq !== undefined && expectedSeq !== lastSeq) throw storeRefusal.conflict(key, expectedSeq, lastSeq);
    }
    return storeEvents(session, events);
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

  async holder(key: SessionKey): Promise<number | undefined> {
    const session = this.#find(key);
    return session?.held && session.epoch;
  }

  async fork(source: SessionKey, options: ForkOptions = {}): Promise<SessionRecord> {
    storeInput.fork(options);
    const from = this.#get(source);
    const events = from.events.slice(0, wholeNumber('through', options.through));
    const target = { ...source, id: options.id ?? newId() };
    const { key } = this.#vacant(target);
    const settle = options.settle ?? settling(this);
    const pages = settle.inPages?.(from.initialState);
    const made = await copyInPages(events, from.initialState, { pages, ids: from.ids?.upTo(events.length) });
    // As it is now: somebody may have taken the name, or deleted the source.
    const now = this.#get(source);
    if (now !== from) throw storeRefusal.replaced(source);
    const { app, user } = this.#vacant(target);
    const copy = this.#add(key, app, user, from.initialState, made.state, from.title);
    addCopies(copy, events, made);
    try {
      const more = made.pages ? made.pages.end() : settle(recordOf(copy, events.slice()));
      storeInput.append(more, undefined);
      return recordOf(copy, storeEvents(copy, more));
    } catch (error) {
      user.sessions.delete(key.id);
      throw error;
    }
  }

  async restore(given: SessionKey, session: RestoredSession): Promise<SessionRecord> {
    storeInput.restore(session);
    const { key, app, user } = this.#vacant(given);
    const initialState = withoutNulls(splitInitial(session.initialState).session);
    const stored = sealedLog(session.events);
    const made = new Copied(initialState, stored.filter(isMarker));
    made.take(stored);
    if (made.twice !== undefined) throw storeRefusal.eventExists(key, made.twice);
    const copy = this.#add(key, app, user, initialState, made.state, session.title?.toWellFormed());
    addCopies(copy, stored, made);
    return recordOf(copy, []);
  }

  async openCalls(scope: { app: string; userId?: string; id?: string }): Promise<OpenCall[]> {
    const found: OpenCall[] = [];
    for (const { key, open, events } of this.#within(scope)) {
      const lastSeq = events.length;
      for (const [callId, { name, seq, at }] of open) found.push({ key, callId, name, seq, openedAt: at, lastSeq });
    }
    return found
      .sort(
        (a, b) =>
          a.openedAt - b.openedAt || order(a.key.userId, b.key.userId) || order(a.key.id, b.key.id) || a.seq - b.seq,
      )
      .map((call) => ({ ...call, key: { ...call.key } }));
  }

  async openTurns(scope: { app: string; userId?: string }): Promise<OpenTurn[]> {
    const found: (OpenTurn & { at: number })[] = [];
    for (const { key, openTurn, open } of this.#within(scope)) {
      if (openTurn) found.push({ key: { ...key }, agent: openTurn.agent, pending: open.size, at: openTurn.at });
    }
    return found
      .sort((a, b) => a.at - b.at || order(a.key.userId, b.key.userId) || order(a.key.id, b.key.id))
      .map(({ key, agent, pending }) => ({ key, agent, pending }));
  }

  async eraseUser({ app, userId }: { app: string; userId: string }): Promise<number> {
    const count = this.#deleteAll({ app, userId });
    await this.journal.forget({ app, userId });
    await eraseFromBooks(this.journal, { app, userId });
    // What a schedule of theirs has begun meanwhile.
    return count + this.#deleteAll({ app, userId });
  }

  /** @throws CoxswainError `ABORTED / E_SESSION_BUSY` where one of them runs */
  #deleteAll({ app, userId }: { app: string; userId: string }): number {
    const sessions = this.#within({ app, userId });
    const running = sessions.find(({ held }) => held);
    if (running) throw storeRefusal.busy(running.key, 'this process', { epoch: running.epoch });
    this.#apps.get(app)?.users.delete(userId);
    return sessions.length;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#apps.clear();
  }

  #find(key: SessionKey): MemorySession | undefined {
    const session = this.#known(key);
    if (!session) {
      if (this.#closed) throw storeRefusal.closed();
      checkKey(key);
    }
    return session;
  }

  #known(key: SessionKey): MemorySession | undefined {
    try {
      return this.#apps.get(key.app)?.users.get(key.userId)?.sessions.get(key.id);
    } catch {
      // No key at all: what is wrong with it is said by its check.
      return undefined;
    }
  }

  #get(key: SessionKey): MemorySession {
    const session = this.#find(key);
    if (!session) throw storeRefusal.missing(key);
    return session;
  }

  /** Unordered. */
  #within(scope: { app: string; userId?: string; id?: string }): MemorySession[] {
    if (this.#closed) throw storeRefusal.closed();
    checkScope(scope);
    const users = this.#apps.get(scope.app)?.users ?? new Map<string, MemoryUser>();
    const sessions: MemorySession[] = [];
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

  #vacant(given: { app: string; userId: string; id?: string }): { key: SessionKey; app: MemoryApp; user: MemoryUser } {
    if (this.#closed) throw storeRefusal.closed();
    const key = newKey(given);
    const app = this.#apps.get(key.app) ?? { state: new ScopeState(), users: new Map<string, MemoryUser>() };
    const user = app.users.get(key.userId) ?? { state: new ScopeState(), sessions: new Map<string, MemorySession>() };
    if (user.sessions.has(key.id)) throw storeRefusal.exists(key);
    return { key: Object.freeze(key), app, user };
  }

  #add(
    key: SessionKey,
    app: MemoryApp,
    user: MemoryUser,
    initialState: Readonly<StateValues>,
    state: Readonly<StateValues>,
    title: string | undefined,
  ): MemorySession {
    // One that is made again under its id is told by its time: no two have the same.
    const now = Math.max(Date.now(), this.#newest + 1);
    this.#newest = now;
    const session: MemorySession = {
      key,
      title,
      initialState,
      state: new ScopeState(state),
      app,
      user,
      joined: undefined,
      epoch: firstEpoch(),
      held: undefined,
      ordinal: ++this.#created,
      createdAt: now,
      updatedAt: now,
      events: [],
      ids: undefined,
      open: new LazyMap(),
      openTurn: undefined,
      checkpoint: undefined,
      facts: noFacts(),
      questions: undefined,
    };
    this.#apps.set(key.app, app);
    app.users.set(key.userId, user);
    user.sessions.set(key.id, session);
    return session;
  }
}

/** A state of its own, frozen. */
function withoutNulls(delta: Readonly<StateValues>): Readonly<StateValues> {
  const state: StateValues = {};
  applyDelta(state, delta);
  return isEmpty(state) ? noState : Object.freeze(state);
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
