import type { AppendOptions, Event, SessionKey } from '../../runtime/index.ts';
import {
  applyDelta,
  batchDelta,
  foldState,
  openCallChanges,
  sealEvent,
  storeRefusal,
  titleChange,
} from '../../runtime/index.ts';
import type { Connection } from './sqlite-connection.ts';
import { resultCode } from './sqlite-errors.ts';
import { COPY_EVENTS, insertEvent, now, parseState, readEvents, readSession, timeOfMicros } from './sqlite-rows.ts';

type State = Record<string, unknown>;

const PRIMARY_KEY_TAKEN = 1555;
/** Events that a fork decodes at a time. */
const PAGE = 500;

/**
 * Adds events to a session, within a transaction. The update comes first: it takes the lock that serialises writers
 * before anything is read, so no delta of another writer is lost.
 */
export function appendEvents(
  connection: Connection,
  key: SessionKey,
  events: readonly Event[],
  options: AppendOptions,
): Event[] {
  const durable = events.filter((event) => !event.partial);
  const { epoch = null, expectedSeq = null } = options;
  const claimed = connection.get(
    `UPDATE adk_sessions SET last_seq = last_seq + ?1, updated_at = CASE ?1 WHEN 0 THEN updated_at ELSE ?2 END
     WHERE app_name = ?3 AND user_id = ?4 AND id = ?5
       AND (?6 IS NULL OR (epoch = ?6 AND owner IS NOT NULL)) AND (?7 IS NULL OR last_seq = ?7)
     RETURNING last_seq`,
    durable.length,
    now(),
    key.app,
    key.userId,
    key.id,
    epoch,
    expectedSeq,
  );
  if (!claimed) throw whyRefused(connection, key, options);
  const firstSeq = Number(claimed.last_seq) - durable.length + 1;
  const stored = durable.map((event, index) => sealEvent(event, firstSeq + index));
  const delta = batchDelta(stored);
  if (delta) {
    changeOwn(connection, key, delta.session);
    changeShared(connection, key, delta);
  }
  const title = titleChange(stored);
  if (title !== undefined) {
    connection.run(
      'UPDATE adk_sessions SET title = ? WHERE app_name = ? AND user_id = ? AND id = ?',
      title,
      key.app,
      key.userId,
      key.id,
    );
  }
  for (const event of stored) {
    try {
      insertEvent(connection, key, event);
    } catch (error) {
      throw resultCode(error) === PRIMARY_KEY_TAKEN ? storeRefusal.eventExists(key, event.id) : error;
    }
  }
  indexCalls(connection, key, stored);
  return stored;
}

function whyRefused(connection: Connection, key: SessionKey, { epoch, expectedSeq }: AppendOptions): Error {
  const row = readSession(connection, key);
  if (!row) return storeRefusal.missing(key);
  if (epoch !== undefined && (epoch !== row.epoch || row.owner === null)) return storeRefusal.fenced(key, epoch);
  return storeRefusal.conflict(key, expectedSeq ?? -1, row.last_seq);
}

function changeOwn(connection: Connection, key: SessionKey, delta: State): void {
  if (Object.keys(delta).length === 0) return;
  const where = 'WHERE app_name = ? AND user_id = ? AND id = ?';
  const row = connection.get(`SELECT state FROM adk_sessions ${where}`, key.app, key.userId, key.id);
  const state = parseState(row?.state as string);
  applyDelta(state, delta);
  connection.run(`UPDATE adk_sessions SET state = ? ${where}`, JSON.stringify(state), key.app, key.userId, key.id);
}

/** Merges into the state of the app, then of the user; always in this order, so that no two writers wait in a ring. */
export function changeShared(connection: Connection, key: SessionKey, delta: { app: State; user: State }): void {
  if (Object.keys(delta.app).length > 0) {
    const row = connection.get(
      `INSERT INTO adk_app_states (app_name, state, updated_at, version) VALUES (?, '{}', ?, 1)
       ON CONFLICT DO UPDATE SET version = version + 1, updated_at = excluded.updated_at RETURNING state`,
      key.app,
      now(),
    );
    const state = parseState(row?.state as string);
    applyDelta(state, delta.app);
    connection.run('UPDATE adk_app_states SET state = ? WHERE app_name = ?', JSON.stringify(state), key.app);
  }
  if (Object.keys(delta.user).length > 0) {
    const row = connection.get(
      `INSERT INTO adk_user_states (app_name, user_id, state, updated_at, version) VALUES (?, ?, '{}', ?, 1)
       ON CONFLICT DO UPDATE SET version = version + 1, updated_at = excluded.updated_at RETURNING state`,
      key.app,
      key.userId,
      now(),
    );
    const state = parseState(row?.state as string);
    applyDelta(state, delta.user);
    connection.run(
      'UPDATE adk_user_states SET state = ? WHERE app_name = ? AND user_id = ?',
      JSON.stringify(state),
      key.app,
      key.userId,
    );
  }
}

function indexCalls(connection: Connection, key: SessionKey, events: readonly Event[]): void {
  const { opened, closed } = openCallChanges(events);
  for (const callId of closed) {
    connection.run(
      'DELETE FROM adk_open_calls WHERE app_name = ? AND user_id = ? AND session_id = ? AND call_id = ?',
      key.app,
      key.userId,
      key.id,
      callId,
    );
  }
  const time = now();
  for (const [ordinal, { callId, name, seq }] of opened.entries()) {
    connection.run(
      `INSERT INTO adk_open_calls (app_name, user_id, session_id, call_id, name, seq, ordinal, inserted_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET name = excluded.name, seq = excluded.seq, ordinal = excluded.ordinal,
         inserted_at = excluded.inserted_at`,
      key.app,
      key.userId,
      key.id,
      callId,
      name,
      seq,
      ordinal,
      time,
    );
  }
}

export interface NewSession {
  initialState: State;
  state: State;
  title: string | null;
  lastSeq: number;
}

export function insertSession(connection: Connection, key: SessionKey, session: NewSession): void {
  const time = timeOfMicros(connection.micros());
  try {
    connection.run(
      `INSERT INTO adk_sessions (app_name, user_id, id, state, inserted_at, updated_at, last_seq, title, initial_state)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      key.app,
      key.userId,
      key.id,
      JSON.stringify(session.state),
      time,
      time,
      session.lastSeq,
      session.title,
      JSON.stringify(session.initialState),
    );
  } catch (error) {
    throw resultCode(error) === PRIMARY_KEY_TAKEN ? storeRefusal.exists(key) : error;
  }
}

/** Copies a log up to `through`, within a transaction: rows as they are, state and open calls folded anew. */
export function forkSession(connection: Connection, source: SessionKey, target: SessionKey, through?: number): void {
  const row = readSession(connection, source);
  if (!row) throw storeRefusal.missing(source);
  const lastSeq = Math.min(through ?? row.last_seq, row.last_seq);
  const initialState = parseState(row.initial_state);
  const state = { ...initialState };
  insertSession(connection, target, { initialState, state, title: row.title, lastSeq });
  connection.run(COPY_EVENTS, target.id, source.app, source.userId, source.id, lastSeq);
  for (let from = 0; from < lastSeq; from += PAGE) {
    const events = readEvents(connection, target, from, Math.min(lastSeq, from + PAGE));
    foldState(state, events);
    indexCalls(connection, target, events);
  }
  connection.run(
    'UPDATE adk_sessions SET state = ? WHERE app_name = ? AND user_id = ? AND id = ?',
    JSON.stringify(state),
    target.app,
    target.userId,
    target.id,
  );
}
