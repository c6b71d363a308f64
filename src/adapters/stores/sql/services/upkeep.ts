import { assertSafeId, CoxswainError, isCoxswainError } from '../../../../contracts/index.ts';
import type { Lease, SessionKey } from '../../../../runtime/index.ts';
import { noFacts, sqlTime } from '../../../../runtime/index.ts';
import { checkOptions, flag, guarded, text } from '../../../../session/index.ts';
import type { SqlEngine, Steps, Value } from '../statements/index.ts';
import { all, runStatement, values, WHERE_SESSION } from '../statements/index.ts';
import { forgetCheckpoint } from './checkpoints.ts';
import type { Deleted, OwnLeases } from './deletion.ts';
import { deleteRows, deleteSession } from './deletion.ts';
import type { Workshop } from './fork.ts';
import { removeDraft } from './fork.ts';
import { forgetOldNotes } from './journal.ts';
import type { Leases } from './leases.ts';
import { addSome } from './session-facts.ts';
import type { Writes } from './writes.ts';

/** Sessions that one transaction looks at. */
const BATCH = 100;
const FREE = '(owner IS NULL)';
const SESSIONS = 'last_seq >= 0';
const DRAFTS = 'last_seq < 0';

interface Page {
  keys: SessionKey[];
  last: Value[];
}

/** Of all sessions, or drafts, those that a condition names, in the order of their keys. */
function* page(
  conditions: readonly string[],
  given: readonly Value[],
  after: readonly Value[],
  kind = SESSIONS,
): Steps<Page> {
  const where = [kind, ...conditions, ...(after.length > 0 ? ['(app_name, user_id, id) > (?, ?, ?)'] : [])];
  const rows = yield* all(
    `SELECT app_name, user_id, id FROM adk_sessions WHERE ${where.join(' AND ')}
     ORDER BY app_name, user_id, id LIMIT ${BATCH}`,
    [...given, ...after],
  );
  const keys = rows.map((row) => ({ app: String(row.app_name), userId: String(row.user_id), id: String(row.id) }));
  const last = keys.at(-1);
  return { keys, last: last ? values(last) : [] };
}

/** The number of sessions that were looked at. */
export async function rebuildOpenCalls(engine: SqlEngine, tables: Writes, key?: SessionKey): Promise<number> {
  // The row first: nobody appends while the index is made.
  const rebuild = function* (of: SessionKey): Steps<boolean> {
    if ((yield* runStatement(`UPDATE adk_sessions SET owner = owner ${WHERE_SESSION}`, values(of))) === 0 && !key)
      return false;
    yield* tables.rebuildOpenCalls(of);
    const facts = noFacts();
    yield* tables.eachPage(of, (events) => addSome(facts, events));
    yield* tables.facts.set(of, facts);
    yield* forgetCheckpoint(of);
    return true;
  };
  if (key) {
    await engine.transaction('write', () => rebuild(key));
    return 1;
  }
  let count = 0;
  for (let after: Value[] = []; ; ) {
    const { keys, last } = await engine.transaction('read', () => page([], [], after));
    for (const each of keys) if (await engine.transaction('write', () => rebuild(each))) count += 1;
    if (keys.length < BATCH) return count;
    after = last;
  }
}

const scopeShape = { app: text, userId: text };

/** Whole milliseconds that every database knows; nothing was written before the first. */
function limitTime(time: Date | number): number {
  const ms = guarded('deleteOlderThan: time', () => (time instanceof Date ? time.getTime() : time));
  if (typeof ms === 'number' && !Number.isNaN(ms)) return Math.trunc(Math.min(Math.max(ms, 0), Date.UTC(9999, 11, 31)));
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', 'the time is none; give a Date or epoch milliseconds');
}

/** The number of sessions that were deleted: those that run stay. */
export async function deleteOlderThan(
  shop: Workshop,
  leases: Leases,
  scope: { app?: string; userId?: string },
  time: Date | number,
  options: { keepPending?: boolean },
): Promise<number> {
  // A part of the scope that is misspelt would widen it.
  checkOptions<typeof scope>(scope, 'deleteOlderThan: scope', scopeShape);
  checkOptions<typeof options>(options, 'deleteOlderThan: options', { keepPending: flag });
  const { keepPending = false } = options;
  const { tables } = shop;
  const engine = shop.engine();
  const conditions: string[] = [];
  const given: Value[] = [];
  for (const [column, value] of [
    ['app_name', scope.app],
    ['user_id', scope.userId],
  ] as const) {
    if (value === undefined) continue;
    assertSafeId(column === 'app_name' ? 'app' : 'user id', value);
    conditions.push(`${column} = ?`);
    given.push(value);
  }
  const { timeValue } = engine.dialect;
  const old = `updated_at < ${timeValue}`;
  const before = sqlTime(limitTime(time));
  conditions.push(old);
  given.push(before);
  const ofDrafts = [...conditions];
  if (keepPending) {
    conditions.push(`NOT EXISTS (SELECT 1 FROM adk_open_calls c WHERE c.app_name = adk_sessions.app_name
      AND c.user_id = adk_sessions.user_id AND c.session_id = adk_sessions.id)`);
  }
  // One that somebody has written to since stays.
  const remove = function* (key: SessionKey, own: OwnLeases, isFree: boolean): Steps<Deleted> {
    // An update that changes nothing takes the row's lock: nobody writes to it meanwhile.
    const isOld = `UPDATE adk_sessions SET owner = owner ${WHERE_SESSION} AND ${old}${isFree ? ` AND ${FREE}` : ''}`;
    if ((yield* runStatement(isOld, [...values(key), before])) === 0) return { count: 0, held: [] };
    return yield* deleteRows(tables, key, own);
  };
  /** With a holder, or a holder below: it goes only if that one is dead. */
  const removeHeld = async (key: SessionKey, isFree: boolean): Promise<number> => {
    let lease: Lease | undefined;
    try {
      if (!isFree) lease = await leases.acquire(key);
      return await deleteSession(engine, tables, leases, key, (own) => remove(key, own, isFree));
    } catch (error) {
      if (isCoxswainError(error) && (error.code === 'E_SESSION_BUSY' || error.code === 'E_SESSION_NOT_FOUND')) return 0;
      throw error;
    } finally {
      await lease?.release();
    }
  };
  let count = 0;
  for (let after: Value[] = []; ; ) {
    const { keys, last } = await engine.transaction('read', () => page([...conditions, FREE], given, after));
    const { deleted, callers } = await engine.transaction('write', function* () {
      const done = { deleted: 0, callers: [] as SessionKey[] };
      for (const key of keys) {
        const { count: gone, held } = yield* remove(key, new Map(), true);
        done.deleted += gone;
        if (held.length > 0) done.callers.push(key);
      }
      return done;
    });
    count += deleted;
    for (const key of callers) count += await removeHeld(key, true);
    if (keys.length < BATCH) break;
    after = last;
  }
  for (let after: Value[] = []; ; ) {
    const { keys, last } = await engine.transaction('read', () => page([...conditions, `NOT ${FREE}`], given, after));
    for (const key of keys) count += await removeHeld(key, false);
    if (keys.length < BATCH) break;
    after = last;
  }
  // Whoever makes a copy writes to its row with each page: one that is old is of a process that has died.
  for (let after: Value[] = []; ; ) {
    const { keys, last } = await engine.transaction('read', () => page(ofDrafts, given, after, DRAFTS));
    for (const key of keys) await removeDraft(shop, key, ` AND ${old}`, [before]);
    if (keys.length < BATCH) break;
    after = last;
  }
  await forgetOldNotes(engine, scope, before, keepPending);
  return count;
}
