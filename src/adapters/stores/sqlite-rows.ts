import type { SessionSummary } from '../../contracts/index.ts';
import { deepFreeze } from '../../contracts/index.ts';
import type { Event, SessionKey, SessionRecord, StoredEventRow } from '../../runtime/index.ts';
import { decodeEvent, encodeEvent, joinState, sqlTime, timeOf } from '../../runtime/index.ts';
import type { Connection, Row } from './sqlite-connection.ts';

export interface SessionRow {
  app_name: string;
  user_id: string;
  id: string;
  state: string;
  inserted_at: string;
  updated_at: string;
  last_seq: number;
  epoch: number;
  owner: string | null;
  title: string | null;
  initial_state: string;
  /** Shared state, null where there is none. */
  app_state: string | null;
  user_state: string | null;
}

type State = Record<string, unknown>;

const columns = [
  'id',
  'invocation_id',
  'author',
  'content',
  'actions',
  'branch',
  'partial',
  'turn_complete',
  'error_code',
  'error_message',
  'interrupted',
  'custom_metadata',
  'usage_metadata',
  'citation_metadata',
  'grounding_metadata',
  'long_running_tool_ids',
  'timestamp',
  'seq',
] as const satisfies readonly (keyof StoredEventRow)[];

const EVENT_COLUMNS = columns.join(', ');

const INSERT_EVENT = `INSERT INTO adk_events (app_name, user_id, session_id, ${EVENT_COLUMNS})
  VALUES (?, ?, ?, ${columns.map(() => '?').join(', ')})`;

export function insertEvent(connection: Connection, key: SessionKey, event: Event): void {
  const row: StoredEventRow = encodeEvent(event);
  const values = columns.map((column) => {
    const value = row[column];
    return typeof value === 'boolean' ? Number(value) : value;
  });
  connection.run(INSERT_EVENT, key.app, key.userId, key.id, ...values);
}

/** Events with `from < seq <= to`, in order. */
export function readEvents(connection: Connection, key: SessionKey, from: number, to: number): Event[] {
  if (to <= from) return [];
  const rows = connection.all(
    `SELECT ${EVENT_COLUMNS} FROM adk_events
     WHERE app_name = ? AND user_id = ? AND session_id = ? AND seq > ? AND seq <= ? ORDER BY seq`,
    key.app,
    key.userId,
    key.id,
    from,
    to,
  );
  return rows.map((row) => decodeEvent(row as unknown as StoredEventRow));
}

/** Parameters: the new session's id, then app, user and id of the source, then the newest seq to take. */
export const COPY_EVENTS = `INSERT INTO adk_events (app_name, user_id, session_id, ${EVENT_COLUMNS})
  SELECT app_name, user_id, ?, ${EVENT_COLUMNS} FROM adk_events
  WHERE app_name = ? AND user_id = ? AND session_id = ? AND seq <= ?`;

export function readSession(connection: Connection, key: SessionKey): SessionRow | undefined {
  return connection.get(
    `SELECT s.*, a.state AS app_state, u.state AS user_state
     FROM adk_sessions s
     LEFT JOIN adk_app_states a ON a.app_name = s.app_name
     LEFT JOIN adk_user_states u ON u.app_name = s.app_name AND u.user_id = s.user_id
     WHERE s.app_name = ? AND s.user_id = ? AND s.id = ?`,
    key.app,
    key.userId,
    key.id,
  ) as unknown as SessionRow | undefined;
}

/** State is parsed when it is first asked for. */
export function toRecord(row: SessionRow, events: readonly Event[]): SessionRecord {
  let state: Readonly<State> | undefined;
  let initialState: Readonly<State> | undefined;
  return {
    key: Object.freeze({ app: row.app_name, userId: row.user_id, id: row.id }),
    ...(row.title !== null && { title: row.title }),
    get initialState() {
      initialState ??= deepFreeze(parseState(row.initial_state));
      return initialState;
    },
    get state() {
      state ??= deepFreeze(joinState(parseState(row.state), parseState(row.app_state), parseState(row.user_state)));
      return state;
    },
    lastSeq: row.last_seq,
    epoch: row.epoch,
    createdAt: timeOf(row.inserted_at),
    updatedAt: timeOf(row.updated_at),
    events,
  };
}

export function toSummary(row: Row): SessionSummary {
  const { app_name, user_id, id, inserted_at, updated_at, last_seq, title, pending } = row as unknown as SessionRow & {
    pending: number;
  };
  return {
    id,
    app: app_name,
    userId: user_id,
    ...(title !== null && { title }),
    createdAt: new Date(timeOf(inserted_at)).toISOString(),
    updatedAt: new Date(timeOf(updated_at)).toISOString(),
    length: last_seq,
    pending,
  };
}

/** `app:` and `user:` keys, prefixes restored. */
export function sharedState(row: SessionRow): Readonly<State> {
  return deepFreeze(joinState({}, parseState(row.app_state), parseState(row.user_state)));
}

export function parseState(text: string | null): State {
  return text === null ? {} : JSON.parse(text);
}

export function now(): string {
  return sqlTime(Date.now());
}

export function timeOfMicros(micros: number): string {
  return sqlTime(Math.floor(micros / 1000), micros % 1000);
}
