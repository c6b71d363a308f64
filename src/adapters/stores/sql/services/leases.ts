import type { Lease, LeaseAppend, SessionKey, StoredEvent } from '../../../../runtime/index.ts';
import { newId, storeRefusal } from '../../../../runtime/index.ts';
import { isDead, parseOwner, thisProcess } from '../sqlite-file/index.ts';
import type { SessionRow, SqlEngine, Steps, Value } from '../statements/index.ts';
import { one, runStatement, sharedState, values, WHERE_SESSION } from '../statements/index.ts';
import type { Writes } from './writes.ts';

/** Milliseconds until what could not be given back is tried again. */
const PAY_MS = 1000;

// Texts that are put together anew are looked up slowly.
const RELEASE = `UPDATE adk_sessions SET owner = NULL ${WHERE_SESSION} AND owner = ?`;
const CLAIM = `UPDATE adk_sessions SET epoch = epoch + 1, owner = ? ${WHERE_SESSION}`;

/** The session's row, with the new epoch, and what was appended as it was taken. */
export interface TakenLease {
  row: SessionRow;
  stored?: readonly StoredEvent[] | undefined;
}

/** A session that somebody has taken, as its row says. */
export interface TakenSession {
  readonly key: SessionKey;
  readonly owner: string;
  readonly insertedAt: string;
}

/** Who may run a session. */
export abstract class Leases {
  protected readonly engine: SqlEngine;
  protected readonly tables: Writes;
  /** Name of this machine in owner records. */
  protected readonly host: string | undefined;
  readonly #leases = new Set<Lease>();
  readonly #holder: string;
  /** What could not be given back when it was due: the database was away, or full. */
  readonly #owed = new Set<() => Promise<void>>();
  #paying: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(engine: SqlEngine, tables: Writes, host: string | undefined) {
    this.engine = engine;
    this.tables = tables;
    this.host = host;
    this.#holder = `SELECT epoch, owner, ${tables.dialect.time('inserted_at')} AS inserted_at
      FROM adk_sessions ${WHERE_SESSION}`;
  }

  /** @throws CoxswainError `ABORTED / E_SESSION_BUSY`, `NOT_FOUND / E_SESSION_NOT_FOUND`; DuplicateEvent */
  async acquire(key: SessionKey, first?: LeaseAppend): Promise<Lease> {
    // Nobody waits for a debt of this service; if it cannot be paid now either, what comes next says so.
    await Promise.allSettled([...this.#owed].map((give) => give()));
    const owner = JSON.stringify(thisProcess(newId(), this.host));
    const { row, free, stored } = await this.take(key, owner, first);
    const lease: Lease = {
      epoch: row.epoch,
      lastSeq: row.last_seq + (stored?.length ?? 0),
      shared: sharedState(row),
      ...(stored ? { stored } : {}),
      release: async () => {
        if (this.#closed || !this.#leases.delete(lease)) return;
        await this.#giveBack(async () => {
          // Names the lease, not the session: whoever took over since keeps it.
          await this.engine.transaction('lease', () => runStatement(RELEASE, [...values(key), owner]));
          await free?.();
        });
      },
      releaseWith: async (events) => {
        // Who writes under this epoch holds the lease: with the last events it goes back.
        const steps = () => this.tables.append(key, events, { epoch: row.epoch }, 'free');
        const last = await this.engine.transaction('write', steps);
        if (this.#leases.delete(lease) && free) await this.#giveBack(free);
        return last;
      },
    };
    this.#leases.add(lease);
    return lease;
  }

  async holder(key: SessionKey): Promise<number | undefined> {
    const row = await this.engine.transaction('single', () => one(this.#holder, values(key)));
    if (typeof row?.owner !== 'string') return undefined;
    const isHeld = await this.isHeld(key, row.owner, String(row.inserted_at));
    return isHeld ? Number(row.epoch) : undefined;
  }

  /** Of these sessions those whose holder is gone. @param silentMs after which one that says nothing is cut off */
  async gone<T extends TakenSession>(taken: readonly T[], _silentMs?: number): Promise<T[]> {
    const held = await Promise.all(taken.map(({ key, owner, insertedAt }) => this.isHeld(key, owner, insertedAt)));
    return taken.filter((_, index) => !held[index]);
  }

  /** Takes the mark of a holder that is gone from the session. */
  async releaseDead(key: SessionKey): Promise<void> {
    const row = await this.engine.transaction('single', () => one(this.#holder, values(key)));
    if (typeof row?.owner !== 'string') return;
    const { owner } = row;
    if (await this.isHeld(key, owner, String(row.inserted_at))) return;
    await this.engine.transaction('lease', () => runStatement(RELEASE, [...values(key), owner]));
  }

  #giveBack(work: () => Promise<void>): Promise<void> {
    let underway: Promise<void> | undefined;
    // Never twice at once: the second would free what somebody has taken in between.
    const give = () => {
      underway ??= work()
        .then(() => void this.#owed.delete(give))
        .finally(() => {
          underway = undefined;
          if (this.#owed.has(give)) this.#payLater();
        });
      return underway;
    };
    this.#owed.add(give);
    return give();
  }

  /** Others take it for held until then, and may be all who ask for it. */
  #payLater(): void {
    if (this.#closed || this.#paying) return;
    this.#paying = setTimeout(async () => {
      try {
        // One after the other: where the first is refused, so are the rest.
        for (const give of [...this.#owed]) await give();
      } catch {
        // Who gave it back has been refused, and has said so.
      } finally {
        this.#paying = undefined;
        if (this.#owed.size > 0) this.#payLater();
      }
    }, PAY_MS).unref();
  }

  async close(): Promise<void> {
    try {
      await Promise.all([
        ...[...this.#leases].map((lease) => lease.release()),
        ...[...this.#owed].map((give) => give()),
      ]);
    } finally {
      this.#closed = true;
      clearTimeout(this.#paying);
    }
  }

  protected abstract take(
    key: SessionKey,
    owner: string,
    first: LeaseAppend | undefined,
  ): Promise<TakenLease & { free?: () => Promise<void> }>;

  /** Under the lease that was just taken, where the log stands as it should; undefined: it does not. */
  protected *first(key: SessionKey, row: SessionRow, first: LeaseAppend | undefined): Steps<StoredEvent[] | undefined> {
    if (first?.expectedSeq !== row.last_seq) return undefined;
    return yield* this.tables.append(key, first.events, { epoch: row.epoch, expectedSeq: first.expectedSeq });
  }

  /** Whether the holder that the session's row names is alive. */
  protected abstract isHeld(key: SessionKey, owner: string, insertedAt: string): boolean | Promise<boolean>;

  protected *claim(key: SessionKey, owner: string, condition = '', given: readonly Value[] = []): Steps<boolean> {
    return (
      (yield* runStatement(condition === '' ? CLAIM : `${CLAIM}${condition}`, [owner, ...values(key), ...given])) > 0
    );
  }

  protected busy(key: SessionKey, text: string | null, epoch: number, advice = false): Error {
    const owner = text === null ? undefined : parseOwner(text);
    const here = thisProcess('', this.host);
    let holder = 'another process';
    if (owner) holder = owner.pid === here.pid && owner.host === here.host ? 'this process' : `process ${owner.pid}`;
    if (owner && owner.host !== here.host) {
      holder += ` of host ${owner.host}`;
      if (advice) holder += ` (if that is gone for good, open the store with host: '${owner.host}')`;
    }
    return storeRefusal.busy(key, holder, { epoch, ...(owner && { host: owner.host, pid: owner.pid }) });
  }
}

/** By a record of the owner, whose death can be proved on the machine that it ran on. */
export class OwnerLeases extends Leases {
  protected async take(key: SessionKey, owner: string, first: LeaseAppend | undefined): Promise<TakenLease> {
    return this.engine.transaction(first ? 'write' : 'lease', () => this.#steps(key, owner, first));
  }

  protected isHeld(_: SessionKey, owner: string): boolean {
    const holder = parseOwner(owner);
    return !holder || !isDead(holder, this.host);
  }

  *#steps(key: SessionKey, owner: string, first: LeaseAppend | undefined): Steps<TakenLease> {
    const held = yield* this.tables.session(key);
    if (!held) throw storeRefusal.missing(key);
    if (held.owner !== null && this.isHeld(key, held.owner)) throw this.busy(key, held.owner, held.epoch, true);
    const row = { ...held, epoch: held.epoch + 1 };
    // The row is this transaction's alone: nobody has written to the log since it was read.
    if (first?.expectedSeq === held.last_seq) {
      const { events, expectedSeq } = first;
      return { row, stored: yield* this.tables.append(key, events, { expectedSeq }, { take: owner }) };
    }
    yield* this.claim(key, owner);
    return { row };
  }
}
