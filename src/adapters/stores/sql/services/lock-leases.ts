import { createHash } from 'node:crypto';
import { CoxswainError } from '../../../../contracts/index.ts';
import type { LeaseAppend, SessionKey } from '../../../../runtime/index.ts';
import { storeRefusal } from '../../../../runtime/index.ts';
import type {
  HeldConnection,
  Locks,
  Row,
  SessionRow,
  SqlEngine,
  StatementResult,
  Steps,
  Value,
} from '../statements/index.ts';
import { all, one } from '../statements/index.ts';
import type { TakenLease, TakenSession } from './leases.ts';
import { Leases } from './leases.ts';
import type { Writes } from './writes.ts';

/** Milliseconds in which a pool gives out a connection beside the one that holds the locks. */
const ANOTHER_CONNECTION = 10_000;

/** Milliseconds between two looks at the connection that holds locks: others see by them that this process is alive. */
const LOOK_MS = 250;

/** Milliseconds that a look for others waits at most for one that is silent, to be there when it has been so for too long. */
const WAIT_MS = 1_000;

/** Milliseconds between two looks whether the database has ended a connection. */
const CUT_MS = 50;

const PING = 'SELECT 1 AS answer';

const answers = (held: HeldConnection): Promise<boolean> =>
  held.ask({ sql: PING, values: [], rows: true }).then(
    () => true,
    () => false,
  );

/** The one connection of a service that holds its locks. */
interface Holding {
  readonly held: HeldConnection;
  readonly scope: string;
}

/** A lock that was taken for a lease. */
interface Locked {
  readonly key: SessionKey;
  readonly owner: string;
  readonly epoch: number;
  /** The connection that has it: with another one it is to be taken again. */
  on: Holding;
  /** While it is taken again. */
  again?: Promise<void>;
  /** Its lease is given back: it is not taken again. */
  isGivenBack?: true;
}

/** @throws CoxswainError `FAILED_PRECONDITION / E_STORE` */
export function oneConnection(store: string): CoxswainError {
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_STORE',
    `session store ${store} has one connection only, and that one holds the locks of running sessions: allow two or ` +
      'more, or give the option locks a Kysely or URL of its own',
  );
}

/**
 * By a lock of the database, which is free again when the connection that took it is gone. All leases of a service
 * share that connection, which is looked at while it holds any: should it be lost, the locks are taken again on another
 * one, of those sessions that nobody has taken over since. Whoever has fences the writer that has lost its lock.
 */
export class LockLeases extends Leases {
  readonly #locks: Locks;
  /** The database gives one connection the same lock any number of times. */
  readonly #taken = new Map<string, Locked | 'on its way'>();
  #connection: Promise<Holding> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #look: Promise<void> | undefined;

  constructor(engine: SqlEngine, tables: Writes, host: string | undefined, locks: Locks) {
    super(engine, tables, host);
    this.#locks = locks;
  }

  protected async take(
    key: SessionKey,
    owner: string,
    first: LeaseAppend | undefined,
  ): Promise<TakenLease & { free: () => Promise<void> }> {
    const same = ` AND inserted_at = ${this.tables.dialect.timeValue}`;
    for (;;) {
      const row = await this.engine.transaction('single', () => this.tables.session(key));
      if (!row) throw storeRefusal.missing(key);
      const name = await this.#name(key, row.inserted_at);
      const on = await this.#lock(name);
      if (!on) throw this.busy(key, row.owner, row.epoch);
      const kept = (epoch: number) => {
        const locked: Locked = { key, owner, epoch, on };
        this.#keep(name, locked);
        return () => this.#free(name, locked);
      };
      try {
        if (first) {
          const both = await this.engine.transaction('write', () => this.#both(key, owner, same, row, first));
          if (both) return { ...both, free: kept(both.row.epoch) };
        } else {
          const claimed = await this.engine.transaction('single', () =>
            this.claim(key, owner, same, [row.inserted_at]),
          );
          const now = await this.engine.transaction('single', () => this.tables.session(key));
          if (claimed && now?.owner === owner) return { row: now, free: kept(now.epoch) };
        }
      } catch (error) {
        await this.#undo(name).catch(() => {});
        throw error;
      }
      await this.#undo(name);
    }
  }

  *#both(
    key: SessionKey,
    owner: string,
    same: string,
    row: SessionRow,
    first: LeaseAppend,
  ): Steps<TakenLease | undefined> {
    if (!(yield* this.claim(key, owner, same, [row.inserted_at]))) return undefined;
    const now = yield* this.tables.session(key);
    return now && { row: now, stored: yield* this.first(key, now, first) };
  }

  override async close(): Promise<void> {
    try {
      await super.close();
    } finally {
      clearInterval(this.#timer);
      await this.#look;
      const connection = this.#connection;
      this.#connection = undefined;
      await connection?.then(
        ({ held }) => held.release(),
        () => {},
      );
    }
  }

  protected async isHeld(key: SessionKey, _: string, insertedAt: string): Promise<boolean> {
    const name = await this.#name(key, insertedAt);
    if (this.#taken.has(name)) return true;
    const { rows } = await this.#ask(this.#locks.held, [name]);
    return Number(rows[0]?.taken) === 1;
  }

  /** A process that is frozen, or whose machine has gone without a word, has its locks still: its connection is ended. */
  override async gone<T extends TakenSession>(taken: readonly T[], silentMs?: number): Promise<T[]> {
    const { silent } = this.#locks;
    if (!silent) return super.gone(taken, silentMs);
    if (silentMs !== undefined) await this.#run(silent.free, [silentMs]);
    if (taken.length === 0) return [];
    const named = await Promise.all(
      taken.map(async (one) => [await this.#name(one.key, one.insertedAt), one] as const),
    );
    const look = async () => {
      const held = new Map((await this.#run(silent.all, [])).map((row) => [String(row.name), row]));
      const gone: T[] = [];
      const cut = new Set<number>();
      /** Of one that has said nothing for a while: until it has been silent for too long. */
      let soon = Number.POSITIVE_INFINITY;
      for (const [name, one] of named) {
        const lock = held.get(name);
        if (this.#taken.has(name)) continue;
        if (!lock) gone.push(one);
        else if (silentMs === undefined || lock.silent === null) continue;
        else if (Number(lock.silent) > silentMs) cut.add(Number(lock.pid));
        else if (Number(lock.silent) > 2 * LOOK_MS) soon = Math.min(soon, silentMs - Number(lock.silent) + 1);
      }
      return { gone, cut, soon };
    };
    let { gone, cut, soon } = await look();
    if (gone.length === 0 && cut.size === 0 && soon <= WAIT_MS) {
      await new Promise((resolve) => setTimeout(resolve, soon));
      ({ gone, cut } = await look());
    }
    if (cut.size === 0 || silentMs === undefined) return gone;
    for (const pid of cut) await this.#run(silent.cut, [pid, silentMs]);
    // The same process may be within a transaction, whose rows whoever takes its sessions would wait for.
    await this.#run(silent.free, [Math.max(0, silentMs - LOOK_MS)]);
    // Soon free; what is not by then is found so by the next look.
    for (const deadline = performance.now() + WAIT_MS; ; ) {
      await new Promise((resolve) => setTimeout(resolve, CUT_MS));
      const rows = await this.#run(silent.all, []);
      if (rows.some(({ pid }) => cut.has(Number(pid))) && performance.now() < deadline) continue;
      const still = new Set(rows.map(({ name }) => String(name)));
      return named.filter(([name]) => !this.#taken.has(name) && !still.has(name)).map(([, one]) => one);
    }
  }

  async #run(sql: string, given: readonly Value[]): Promise<readonly Row[]> {
    return this.engine.transaction('single', () => all(sql, given));
  }

  /** A session that was deleted and made again is another one. */
  async #name({ app, userId, id }: SessionKey, insertedAt: string): Promise<string> {
    const { scope } = await this.#hold();
    const digest = createHash('sha256').update(JSON.stringify([scope, app, userId, id, insertedAt]));
    return this.#locks.name(digest.digest().subarray(0, 24));
  }

  /** The connection that has it now; undefined: somebody else has it. */
  async #lock(name: string): Promise<Holding | undefined> {
    if (this.#taken.has(name)) return undefined;
    this.#taken.set(name, 'on its way');
    try {
      const { rows, on } = await this.#ask(this.#locks.take, [name]);
      if (Number(rows[0]?.taken) === 1) return on;
    } catch (error) {
      this.#taken.delete(name);
      throw error;
    }
    this.#taken.delete(name);
    return undefined;
  }

  #keep(name: string, locked: Locked): void {
    this.#taken.set(name, locked);
    this.#timer ??= setInterval(() => this.#lookSoon(), LOOK_MS).unref();
  }

  /** What is asked now and then keeps a connection from being cut as idle, too. */
  #lookSoon(): void {
    if (this.#taken.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    // Where the database is away, the next look tries again: what is written meanwhile is refused, and says so.
    this.#look ??= this.#takeAgain()
      .catch(() => {})
      .finally(() => {
        this.#look = undefined;
      });
  }

  /** Takes those locks again whose connection was lost, as long as their leases are the newest of their sessions. */
  async #takeAgain(): Promise<void> {
    // By its question a connection that is gone is noticed, and another one is there.
    const { on } = await this.#ask(PING, []);
    for (const [name, locked] of [...this.#taken]) {
      // Others may have been given back, or taken, while the ones before them were waited for.
      if (this.#taken.get(name) !== locked || locked === 'on its way' || locked.isGivenBack || locked.on === on)
        continue;
      locked.again = this.#again(name, locked).finally(() => {
        delete locked.again;
      });
      await locked.again;
    }
  }

  async #again(name: string, locked: Locked): Promise<void> {
    let isNewest = false;
    // Looked at before, too: whoever opens a session that nobody runs would be refused while its lock is had for a look.
    if (await this.#isNewest(locked)) {
      const { rows, on } = await this.#ask(this.#locks.take, [name]);
      if (Number(rows[0]?.taken) === 1) {
        try {
          isNewest = await this.#isNewest(locked);
        } finally {
          if (isNewest) locked.on = on;
          else await this.#unlock(name);
        }
      }
    }
    // Somebody runs the session, or has run it since.
    if (!isNewest) this.#taken.delete(name);
  }

  async #isNewest({ key, owner, epoch }: Locked): Promise<boolean> {
    const row = await this.engine.transaction('single', () => this.tables.session(key));
    return row?.epoch === epoch && row.owner === owner;
  }

  /** Of one lease: what has been taken for another lease since is that one's. */
  async #free(name: string, locked: Locked): Promise<void> {
    locked.isGivenBack = true;
    await locked.again?.catch(() => {});
    if (this.#taken.get(name) !== locked) return;
    // Nobody here takes it before it is free: a database counts how often one connection has a lock.
    await this.#unlock(name);
    this.#taken.delete(name);
  }

  /** Of a lock that no lease came of. */
  async #undo(name: string): Promise<void> {
    try {
      await this.#unlock(name);
    } finally {
      this.#taken.delete(name);
    }
  }

  async #unlock(name: string): Promise<void> {
    if (!this.#connection) return;
    const { held } = await this.#connection;
    try {
      await held.ask({ sql: this.#locks.free, values: [name], rows: true });
    } catch (error) {
      // With its connection the lock is gone too.
      if (!this.tables.dialect.isLost(error)) throw this.tables.dialect.error(error, this.engine.store);
    }
  }

  /** On the connection that holds the locks; if that was lost meanwhile, once more on a new one. */
  async #ask(sql: string, given: readonly Value[], again = true): Promise<StatementResult & { on: Holding }> {
    const connection = this.#hold();
    const on = await connection;
    const { held } = on;
    try {
      return { ...(await held.ask({ sql, values: given, rows: true })), on };
    } catch (error) {
      // It may be the question alone that failed. A connection that goes back to its pool keeps what it has locked.
      const isAlive = !this.tables.dialect.isLost(error) && (await answers(held));
      if (isAlive) throw this.tables.dialect.error(error, this.engine.store);
      if (this.#connection === connection) this.#connection = undefined;
      await held.release().catch(() => {});
      if (again) return this.#ask(sql, given, false);
      throw this.tables.dialect.error(error, this.engine.store);
    }
  }

  #hold(): Promise<Holding> {
    this.#connection ??= this.#open().catch((error) => {
      this.#connection = undefined;
      throw this.tables.dialect.error(error, this.engine.store);
    });
    return this.#connection;
  }

  async #open(): Promise<Holding> {
    const held = await (this.engine.hold as NonNullable<SqlEngine['hold']>)();
    for (const sql of this.#locks.prepare) {
      // A setting that this release of the database does not know is none that is needed.
      await held.ask({ sql, values: [], rows: false }).catch(() => {});
    }
    try {
      const { rows } = await held.ask({ sql: this.#locks.scope, values: [], rows: true });
      await this.#checkAnother();
      return { held, scope: String(rows[0]?.scope ?? '') };
    } catch (error) {
      await held.release().catch(() => {});
      throw error;
    }
  }

  /** Whoever keeps the only connection of a pool would wait for itself. One that is busy answers others meanwhile. */
  async #checkAnother(): Promise<void> {
    const query = Promise.resolve(this.engine.transaction('single', () => one(PING, [])));
    // Nobody waits for it any more where it is given up.
    query.catch(() => {});
    for (let before = this.engine.ended; ; before = this.engine.ended) {
      const { promise: late, resolve } = Promise.withResolvers<'late'>();
      const timer = setTimeout(resolve, ANOTHER_CONNECTION, 'late');
      try {
        if ((await Promise.race([query, late])) !== 'late') return;
      } finally {
        clearTimeout(timer);
      }
      if (this.engine.ended === before) throw oneConnection(this.engine.store);
    }
  }
}
