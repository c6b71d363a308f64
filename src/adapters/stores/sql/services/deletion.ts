import { isCoxswainError } from '../../../../contracts/index.ts';
import type { Lease, SessionKey } from '../../../../runtime/index.ts';
import { idsBelow, SessionsBelow } from '../../../../runtime/index.ts';
import type { SqlEngine, Steps } from '../statements/index.ts';
import { all, OF_SESSION, one, runStatement, values, WHERE_DRAFT, WHERE_SESSION } from '../statements/index.ts';
import { forgetCheckpoint } from './checkpoints.ts';
import { forgetNotes } from './journal.ts';
import type { Leases } from './leases.ts';
import { forgetQuestions } from './questions.ts';
import { forgetFacts } from './session-facts.ts';
import type { Writes } from './writes.ts';

/** Epochs of the leases that whoever deletes holds himself, by the id of their session. */
export type OwnLeases = ReadonlyMap<string, number>;

export interface Deleted {
  /** Sessions that were there and are gone. */
  readonly count: number;
  /** Sessions below that have a holder, alive or dead: where there are any, nothing was deleted. */
  readonly held: readonly SessionKey[];
}

/**
 * Deletes a session and those of the sub-agents that it has called. Whether somebody holds the session itself is not
 * asked here; one below that somebody else runs keeps all of them: what that run does would have no log.
 * @param steps what is done in the transaction. Default: `deleteRows`
 * @returns the number of sessions that were there
 * @throws CoxswainError `ABORTED / E_SESSION_BUSY` where a process that is alive runs one below
 */
export async function deleteSession(
  engine: SqlEngine,
  tables: Writes,
  leases: Leases,
  key: SessionKey,
  steps = (own: OwnLeases) => deleteRows(tables, key, own),
): Promise<number> {
  const own = new Map<string, number>();
  const taken: Lease[] = [];
  try {
    for (;;) {
      const { count, held } = await engine.transaction('write', () => steps(own));
      if (held.length === 0) return count;
      // Whoever gets the lease knows that its holder is dead, and keeps others from taking it.
      for (const each of held) {
        const lease = await leaseOf(leases, each);
        if (!lease) continue;
        taken.push(lease);
        own.set(each.id, lease.epoch);
      }
    }
  } finally {
    for (const lease of taken) await lease.release();
  }
}

/** undefined: it is gone. */
async function leaseOf(leases: Leases, key: SessionKey): Promise<Lease | undefined> {
  try {
    return await leases.acquire(key);
  } catch (error) {
    if (isCoxswainError(error) && error.code === 'E_SESSION_NOT_FOUND') return undefined;
    throw error;
  }
}

export function* deleteRows(tables: Writes, key: SessionKey, own: OwnLeases): Steps<Deleted> {
  const below = yield* sessionsBelow(tables, key);
  if (below.length > 0) {
    // An update that changes nothing takes the row's lock: nobody takes a lease meanwhile. The caller's is first, as
    // whoever deletes many takes them in this order.
    yield* runStatement(`UPDATE adk_sessions SET owner = owner ${WHERE_SESSION}`, values(key));
    const held: SessionKey[] = [];
    const free = `UPDATE adk_sessions SET owner = owner ${WHERE_SESSION} AND (owner IS NULL OR epoch = ?)`;
    for (const each of below) {
      const isFree = (yield* runStatement(free, [...values(each), own.get(each.id) ?? -1])) > 0;
      if (!isFree && (yield* tables.session(each))) held.push(each);
    }
    if (held.length > 0) return { count: 0, held };
  }
  let count = 0;
  for (const each of [key, ...below]) {
    const isThere = yield* runStatement(`DELETE FROM adk_sessions ${WHERE_SESSION}`, values(each));
    count += isThere;
    // The events of a copy that is being made go page by page.
    if (isThere === 0 && (yield* one(`SELECT 1 AS draft FROM adk_sessions ${WHERE_DRAFT}`, values(each)))) continue;
    yield* runStatement(`DELETE FROM adk_events ${OF_SESSION}`, values(each));
    yield* runStatement(`DELETE FROM adk_open_calls ${OF_SESSION}`, values(each));
    yield* runStatement(`DELETE FROM adk_open_turns ${OF_SESSION}`, values(each));
    yield* runStatement(`DELETE FROM adk_dead_holders ${OF_SESSION}`, values(each));
    yield* forgetCheckpoint(each);
    yield* forgetFacts(each);
    yield* forgetQuestions(each);
  }
  yield* forgetNotes({ app: key.app, userId: key.userId, sessionId: key.id });
  return { count, held: [] };
}

/** Sessions of the sub-agents that a session has called, at any depth. */
function* sessionsBelow(tables: Writes, key: SessionKey): Steps<SessionKey[]> {
  const rows = yield* all(
    'SELECT id FROM adk_sessions WHERE app_name = ? AND user_id = ? AND id > ? AND id < ? AND last_seq >= 0',
    [key.app, key.userId, ...idsBelow(key.id)],
  );
  if (rows.length === 0) return [];
  const below = new SessionsBelow(
    key.id,
    rows.map(({ id }) => String(id)),
  );
  const of = (id: string) => ({ ...key, id });
  yield* tables.eachPage(key, (events) => below.see(key.id, events));
  for (const id of below.found) yield* tables.eachPage(of(id), (events) => below.see(id, events));
  return below.found.map(of);
}
