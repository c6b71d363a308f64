import { commonTime } from '../../../../base/index.ts';
import type { SessionSummary } from '../../../../contracts/index.ts';
import { CoxswainError, canonicalJson, deepFreeze, messageOf, parseJson } from '../../../../contracts/index.ts';
import type { OpenCall, SessionKey, SessionRecord, StoredEvent, StoredEventRow } from '../../../../runtime/index.ts';
import {
  decodeEvent,
  encodeEvent,
  faultOfEvent,
  joinState,
  listedFacts,
  sqlTime,
  timeOf,
} from '../../../../runtime/index.ts';
import type { SqlDialect } from './dialect.ts';
import type { Row, Value } from './steps.ts';

export type State = Record<string, unknown>;

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

/** `partial` is a reserved word of some databases. */
export function eventColumns({ name }: SqlDialect): string {
  return columns.map((column) => (name === 'mysql' && column === 'partial' ? '`partial`' : column)).join(', ');
}

export const EVENT_VALUES = columns.length;

/** The same, as they are read. */
export function eventFields(dialect: SqlDialect): string {
  const time = dialect.time('timestamp');
  return eventColumns(dialect).replace('timestamp', time === 'timestamp' ? time : `${time} AS event_time`);
}

export function eventValues(event: StoredEvent, { boolean }: SqlDialect): Value[] {
  const row: StoredEventRow = encodeEvent(event);
  return columns.map((column) => {
    const value = row[column];
    return typeof value === 'boolean' ? boolean(value) : value;
  });
}

const PLACE = columns.indexOf('seq');

/** Values of the same event at another place in the log. */
export function valuesAt(row: readonly Value[], seq: number): Value[] {
  return row.with(PLACE, seq);
}

/** @throws CoxswainError `DATA_LOSS / E_STORE` for a row that is no event */
export function toEvent(row: Row, key: SessionKey): StoredEvent {
  if (row.event_time !== undefined) row.timestamp = row.event_time;
  try {
    const event = decodeEvent(row as unknown as StoredEventRow);
    const fault = faultOfEvent(event as unknown as Record<string, unknown>, 'row');
    if (fault !== undefined) throw new TypeError(`its ${columnOf[fault] ?? fault} is damaged`);
    return event;
  } catch (error) {
    throw damaged(key, `event ${row.seq} cannot be read (${messageOf(error)})`, error);
  }
}

/** The first column of an event with a link that says what it says in another way than it was written. */
export function alteredColumn(row: Row): string | undefined {
  if (row.event_time !== undefined) row.timestamp = row.event_time;
  try {
    const event = decodeEvent(row as unknown as StoredEventRow);
    if (!event.chain) return undefined;
    const written: StoredEventRow = encodeEvent(event);
    return columns.find((column) => !isAsWritten(column, row[column], written[column]));
  } catch {
    return undefined; // It is no event, and whoever reads the log is told so.
  }
}

function isAsWritten(column: string, stored: unknown, written: unknown): boolean {
  if (stored === written) return true;
  if (typeof written === 'boolean') return stored === Number(written);
  // Members in another order are the same.
  const isJson = /^(?:content|actions|.*_metadata)$/.test(column) && typeof written === 'string';
  return isJson && canonicalJson(parseJson(String(stored))) === canonicalJson(parseJson(written));
}

/** Where fields stand that have another name there. */
const columnOf: Readonly<Record<string, string>> = {
  longRunningToolIds: 'long_running_tool_ids',
  turnComplete: 'turn_complete',
  invocationId: 'invocation_id',
};

/** A session whose rows do not fit together: nothing is run on half a log. */
export function damaged(key: SessionKey, what: string, cause?: unknown): CoxswainError {
  return new CoxswainError(
    'DATA_LOSS',
    'E_STORE',
    `session ${key.app}/${key.userId}/${key.id} is damaged: ${what}; restore its rows from a backup, or delete it`,
    { details: { key }, ...(cause === undefined ? {} : { cause }) },
  );
}

export function toSession(row: Row | undefined): SessionRow | undefined {
  if (!row) return undefined;
  row.last_seq = Number(row.last_seq);
  row.epoch = Number(row.epoch);
  return row as unknown as SessionRow;
}

/** State is parsed when it is first asked for. */
export function toRecord(row: SessionRow, events: readonly StoredEvent[]): SessionRecord {
  let state: Readonly<State> | undefined;
  let initialState: Readonly<State> | undefined;
  return {
    key: Object.freeze({ app: row.app_name, userId: row.user_id, id: row.id }),
    ...(row.title !== null && { title: textOfColumn(row.title) }),
    get initialState() {
      initialState ??= deepFreeze(stateOf(row, row.initial_state));
      return initialState;
    },
    get state() {
      state ??= deepFreeze(
        joinState(stateOf(row, row.state), stateOf(row, row.app_state), stateOf(row, row.user_state)),
      );
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
  const title = row.title as string | null;
  // Where it is not there, nothing was said yet that is counted.
  const tools = String(row.tools ?? '');
  const facts = {
    agent: textOfColumn(String(row.agent ?? '')),
    steps: Number(row.steps),
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    nanoUsd: Number(row.nano_usd),
    tools,
  };
  return {
    id: String(row.id),
    app: String(row.app_name),
    userId: String(row.user_id),
    ...(title !== null && { title: textOfColumn(title) }),
    createdAt: new Date(timeOf(String(row.inserted_at))).toISOString(),
    updatedAt: new Date(timeOf(String(row.updated_at))).toISOString(),
    length: Number(row.last_seq),
    pending: Number(row.pending),
    unfinished: Number(row.unfinished) > 0,
    running: Number(row.running) > 0,
    ...(Number(row.uncounted) > 0 ? {} : listedFacts(facts)),
  };
}

export function toOpenCall(app: string, row: Row): OpenCall {
  return {
    key: { app, userId: String(row.user_id), id: String(row.session_id) },
    callId: textOfColumn(String(row.call_id)),
    name: textOfColumn(String(row.name)),
    seq: Number(row.seq),
    openedAt: timeOf(String(row.opened_at)),
    lastSeq: Number(row.last_seq),
  };
}

/** `app:` and `user:` keys, prefixes restored. */
export function sharedState(row: SessionRow): Readonly<State> {
  return deepFreeze(joinState({}, stateOf(row, row.app_state), stateOf(row, row.user_state)));
}

function stateOf(row: SessionRow, text: string | null): State {
  return parseState(text, { app: row.app_name, userId: row.user_id, id: row.id });
}

/** @throws CoxswainError `DATA_LOSS / E_STORE` for a text that is no JSON object */
export function parseState(text: string | null, key: SessionKey): State {
  if (text === null) return {};
  try {
    const state = parseJson(text);
    if (typeof state === 'object' && state !== null && !Array.isArray(state)) return state as State;
  } catch (error) {
    throw damaged(key, `its state cannot be read (${messageOf(error)})`, error);
  }
  throw damaged(key, 'its state is no JSON object');
}

/** Text of a column that is no JSON: what some database would refuse or spoil stands there as a JSON string. */
export function writeText(text: string): string {
  const isOdd = text.startsWith('"') || text.endsWith(' ') || text.includes('\u0000') || !text.isWellFormed();
  return isOdd ? JSON.stringify(text) : text;
}

export function textOfColumn(text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : text;
  } catch {
    return text;
  }
}

/** A time of a node's clock, epoch milliseconds, as columns have it. */
export function columnTime(ms: number): string {
  return sqlTime(ms);
}

export function now(): string {
  return sqlTime(commonTime());
}

let lastMicros = 0;

/** Now, with microseconds, each once in this process: orders what is made within one millisecond. */
export function uniqueNow(): string {
  lastMicros = Math.max(lastMicros + 1, Math.trunc(commonTime() * 1000));
  return sqlTime(Math.floor(lastMicros / 1000), lastMicros % 1000);
}
