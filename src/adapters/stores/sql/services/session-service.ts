import type { DecidedPage, DecidedQuery, SessionSummary, StoredDecision } from '../../../../contracts/index.ts';
import { isCoxswainError } from '../../../../contracts/index.ts';
import type {
  AlteredRow,
  AppendOptions,
  ForkOptions,
  Lease,
  LeaseAppend,
  OpenCall,
  OpenTurn,
  SessionKey,
  SessionRecord,
  SessionService,
  StoredEvent,
  UnattendedOptions,
  UnattendedTurn,
} from '../../../../runtime/index.ts';
import {
  applyDelta,
  checkKey,
  checkScope,
  isLarge,
  newId,
  newKey,
  settling,
  splitInitial,
  storeInput,
  storeRefusal,
  wholeNumber,
} from '../../../../runtime/index.ts';
import { eraseFromBooks, listedSession } from '../../../../session/index.ts';
import type { RestoredSession, SessionMaintenance } from '../../common/index.ts';
import type { SqlEngine } from '../statements/index.ts';
import { DuplicateEvent, runStatement } from '../statements/index.ts';
import { SqlArtifactService } from './artifact-service.ts';
import { SqlCheckpoints } from './checkpoints.ts';
import { Copies } from './copies.ts';
import { findDecided, UnreadLogs } from './decided.ts';
import { deleteSession } from './deletion.ts';
import type { Workshop } from './fork.ts';
import { forkInPages, removeDraft } from './fork.ts';
import { SqlJournal } from './journal.ts';
import type { Leases } from './leases.ts';
import { OwnerLeases } from './leases.ts';
import { LockLeases } from './lock-leases.ts';
import { SqlMemoryService } from './memory-service.ts';
import type { ReadyAppend } from './ready-append.ts';
import { countSome } from './session-facts.ts';
import { unattendedTurns } from './unattended.ts';
import { deleteOlderThan, rebuildOpenCalls } from './upkeep.ts';
import { Writes } from './writes.ts';

export interface SqlServiceOptions {
  /**
   * Name of this machine in owner records. Default: the system's host name. With SQLite, a lease whose holder died
   * under another name (a container that was replaced) stays taken until a store is opened under that name.
   */
  host?: string;
}

/** A session store in the tables of an SQL database. What is special about a database is in its engine. */
export class SqlSessionService implements SessionService, SessionMaintenance {
  /** Memory in the same database; it is closed with this service. */
  readonly memory: SqlMemoryService;
  /** Artifacts in the same database; closed with this service. */
  readonly artifacts: SqlArtifactService;
  /** What a host over this store notes of executors that it does not believe; closed with this service. */
  readonly journal: SqlJournal;
  /** What logs have come to, so that opening a session costs what its log has gained since. */
  readonly checkpoints: SqlCheckpoints;
  readonly isPrivate: boolean;
  readonly leasesWithEvents = true;
  readonly #engine: SqlEngine;
  readonly #tables: Writes;
  readonly #copies: Copies;
  readonly #unread: UnreadLogs;
  readonly #leases: Leases;
  #closed = false;

  constructor(engine: SqlEngine, { host }: SqlServiceOptions = {}) {
    const { locks } = engine.dialect;
    this.#engine = engine;
    this.isPrivate = engine.isPrivate ?? false;
    this.memory = new SqlMemoryService(() => this.#ready());
    this.artifacts = new SqlArtifactService(() => this.#ready());
    this.journal = new SqlJournal(() => this.#ready());
    this.checkpoints = new SqlCheckpoints(() => this.#ready());
    this.#tables = new Writes(engine.dialect);
    this.#copies = new Copies(engine.dialect, this.#tables);
    this.#unread = new UnreadLogs(() => this.#ready(), this.#tables);
    this.#leases = locks
      ? new LockLeases(engine, this.#tables, host, locks)
      : new OwnerLeases(engine, this.#tables, host);
  }

  async create(
    given: { app: string; userId: string; id?: string },
    options: { state?: Record<string, unknown>; title?: string } = {},
  ): Promise<SessionRecord> {
    const engine = this.#ready();
    storeInput.create(options);
    const key = newKey(given);
    let delta: ReturnType<typeof splitInitial>;
    try {
      delta = splitInitial(options.state);
    } catch (error) {
      // An id that is taken is refused first, in every store.
      if (await engine.transaction('read', () => this.#tables.session(key))) throw storeRefusal.exists(key);
      throw error;
    }
    const state: Record<string, unknown> = {};
    applyDelta(state, delta.session);
    const title = options.title?.toWellFormed() ?? null;
    const tables = this.#tables;
    return this.#inPlaceOfDraft(key, () =>
      engine.transaction('write', function* () {
        yield* tables.insertSession(key, { initialState: state, state, title, lastSeq: 0 });
        yield* tables.changeShared(key, delta);
        return existing(yield* tables.record(key, { limit: 0 }), key);
      }),
    );
  }

  async get(
    key: SessionKey,
    options?: { after?: number; limit?: number; recent?: number },
  ): Promise<SessionRecord | undefined> {
    const engine = this.#ready();
    checkKey(key);
    storeInput.get(options);
    return engine.transaction('read', () => this.#tables.record(key, options));
  }

  async grown(known: readonly { key: SessionKey; seq: number }[]): Promise<SessionKey[]> {
    const engine = this.#ready();
    for (const { key } of known) checkKey(key);
    return engine.transaction('read', () => this.#tables.grown(known));
  }

  async altered(key: SessionKey): Promise<AlteredRow[]> {
    const engine = this.#ready();
    checkKey(key);
    return engine.transaction('read', () => this.#tables.altered(key));
  }

  async list(
    scope: { app: string; userId?: string },
    options: { limit?: number; after?: string; users?: readonly string[] } = {},
  ): Promise<SessionSummary[]> {
    const engine = this.#ready();
    checkScope(scope);
    storeInput.list(options);
    const look = () => engine.transaction('read', () => this.#tables.list(scope, options));
    const { sessions, uncounted } = await look();
    const counted = (await countSome(engine, this.#tables, uncounted)) ? (await look()).sessions : sessions;
    return counted.map(listedSession);
  }

  async decided(scope: { app: string }, query: DecidedQuery): Promise<DecidedPage<StoredDecision>> {
    this.#ready();
    checkScope(scope);
    storeInput.decided(query);
    const unread = await this.#unread.look(scope.app);
    const page = await findDecided(() => this.#ready(), scope.app, query);
    return { ...page, ...(unread > 0 ? { unread } : {}) };
  }

  async delete(key: SessionKey): Promise<void> {
    const engine = this.#ready();
    checkKey(key);
    const count = await deleteSession(engine, this.#tables, this.#leases, key);
    if (count === 0) await removeDraft(this.#shop, key);
  }

  async append(
    key: SessionKey,
    events: readonly StoredEvent[],
    options: AppendOptions = {},
  ): Promise<readonly StoredEvent[]> {
    this.#ready();
    checkKey(key);
    storeInput.append(events, options);
    const ready = isLarge(events) ? await this.#prepared(key, events, options) : events;
    return this.#appending(key, () =>
      this.#ready().transaction('write', () => this.#tables.append(key, ready, options)),
    );
  }

  async #prepared(key: SessionKey, events: readonly StoredEvent[], options: AppendOptions): Promise<ReadyAppend> {
    try {
      return await this.#tables.prepare(events);
    } catch (error) {
      // Whoever may not append is told that rather than what is wrong with the events, as of a small one.
      await this.#ready().transaction('read', () => this.#tables.append(key, [], options));
      throw error;
    }
  }

  async acquire(key: SessionKey, first?: LeaseAppend): Promise<Lease> {
    this.#ready();
    checkKey(key);
    if (!first) return this.#namingIn(key, await this.#leases.acquire(key));
    storeInput.append(first.events, undefined);
    return this.#namingIn(key, await this.#appending(key, () => this.#leases.acquire(key, first)));
  }

  #namingIn(key: SessionKey, lease: Lease): Lease {
    const { releaseWith } = lease;
    if (!releaseWith) return lease;
    return {
      ...lease,
      releaseWith: async (events) => {
        this.#ready();
        storeInput.append(events, undefined);
        return this.#appending(key, () => releaseWith(events));
      },
    };
  }

  async holder(key: SessionKey): Promise<number | undefined> {
    this.#ready();
    checkKey(key);
    return this.#leases.holder(key);
  }

  async fork(source: SessionKey, options: ForkOptions = {}): Promise<SessionRecord> {
    this.#ready();
    checkKey(source);
    storeInput.fork(options);
    const through = wholeNumber('through', options.through);
    const target = { app: source.app, userId: source.userId, id: options.id ?? newId() };
    checkKey(target);
    const settle = options.settle ?? settling(this);
    return this.#distinct(target, () => forkInPages(this.#shop, source, target, through, settle));
  }

  async openCalls(scope: { app: string; userId?: string; id?: string }): Promise<OpenCall[]> {
    const engine = this.#ready();
    checkScope(scope);
    return engine.transaction('read', () => this.#tables.openCalls(scope));
  }

  async openTurns(scope: { app: string; userId?: string }): Promise<OpenTurn[]> {
    const engine = this.#ready();
    checkScope(scope);
    return engine.transaction('read', () => this.#tables.openTurns(scope));
  }

  async unattended(scope: { app: string }, options: UnattendedOptions = {}): Promise<UnattendedTurn[]> {
    const engine = this.#ready();
    checkScope(scope);
    return unattendedTurns(engine, this.#leases, scope.app, options);
  }

  async releaseDead(key: SessionKey): Promise<void> {
    this.#ready();
    checkKey(key);
    await this.#leases.releaseDead(key);
  }

  async restore(key: SessionKey, session: RestoredSession): Promise<SessionRecord> {
    const engine = this.#ready();
    checkKey(key);
    storeInput.restore(session);
    const initialState = { ...splitInitial(session.initialState).session };
    const title = session.title?.toWellFormed() ?? null;
    const tables = this.#tables;
    const work = () =>
      engine.transaction('write', function* () {
        yield* tables.restore(key, initialState, title, session.events);
        return existing(yield* tables.record(key, { limit: 0 }), key);
      });
    return this.#distinct(key, () => this.#inPlaceOfDraft(key, work));
  }

  async rebuildOpenCalls(key?: SessionKey): Promise<number> {
    const engine = this.#ready();
    if (key !== undefined) checkKey(key);
    return rebuildOpenCalls(engine, this.#tables, key);
  }

  async eraseUser(scope: { app: string; userId: string }): Promise<number> {
    const engine = this.#ready();
    checkScope(scope);
    const { app, userId } = scope;
    const count = await this.#deleteAll({ app, userId });
    await eraseFromBooks(this.journal, { app, userId });
    // What a schedule of theirs has begun meanwhile.
    const begun = await this.#deleteAll({ app, userId });
    await this.memory.erase({ app, userId });
    await this.artifacts.erase({ app, userId });
    await this.journal.forget({ app, userId });
    await engine.transaction('write', () =>
      runStatement('DELETE FROM adk_user_states WHERE app_name = ? AND user_id = ?', [app, userId]),
    );
    return count + begun;
  }

  /** @throws CoxswainError `ABORTED / E_SESSION_BUSY` where one of them runs */
  async #deleteAll(scope: { app: string; userId: string }): Promise<number> {
    const count = await deleteOlderThan(this.#shop, this.#leases, scope, Number.POSITIVE_INFINITY, {});
    const [left] = await this.list(scope, { limit: 1 });
    if (left) throw storeRefusal.busy({ ...scope, id: left.id }, 'somebody', {});
    return count;
  }

  async deleteOlderThan(
    scope: { app?: string; userId?: string },
    time: Date | number,
    options: { keepPending?: boolean } = {},
  ): Promise<number> {
    return deleteOlderThan(this.#shop, this.#leases, scope, time, options);
  }

  /** Gives back the leases of this service. A database that was given to it open stays open. */
  async close(): Promise<void> {
    if (this.#closed) return;
    try {
      await this.#leases.close();
    } finally {
      this.#closed = true;
      await this.#engine.close();
    }
  }

  #ready(): SqlEngine {
    if (this.#closed) throw storeRefusal.closed();
    return this.#engine;
  }

  get #shop(): Workshop {
    return { engine: () => this.#ready(), tables: this.#tables, copies: this.#copies };
  }

  /** Makes a session; a copy that somebody has begun under its id and not finished is in nobody's way. */
  async #inPlaceOfDraft<T>(key: SessionKey, work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const isTaken = isCoxswainError(error) && error.code === 'E_SESSION_EXISTS';
      if (!isTaken || !(await removeDraft(this.#shop, key))) throw error;
      return work();
    }
  }

  /** For a session that is made by the transaction: a taken id can only be one of its own. */
  async #distinct<T>(key: SessionKey, work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof DuplicateEvent) throw storeRefusal.eventExists(key, error.ids[0] ?? '');
      throw error;
    }
  }

  async #appending<T>(key: SessionKey, work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof DuplicateEvent) throw storeRefusal.eventExists(key, await this.#duplicate(key, error.ids));
      throw error;
    }
  }

  async #duplicate(key: SessionKey, ids: readonly string[]): Promise<string> {
    const [first = ''] = ids;
    if (ids.length === 1) return first;
    const twice = ids.find((id, index) => ids.indexOf(id) !== index);
    if (twice !== undefined) return twice;
    const [taken] = await this.#engine.transaction('single', () => this.#tables.taken(key, ids));
    return taken ?? first;
  }
}

function existing(record: SessionRecord | undefined, key: SessionKey): SessionRecord {
  if (!record) throw storeRefusal.missing(key);
  return record;
}
