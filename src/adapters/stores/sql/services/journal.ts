import { hash } from 'node:crypto';
import type {
  HostJournal,
  JournalAppend,
  JournalKey,
  JournalMark,
  JournalPage,
  JournalRecord,
} from '../../../../contracts/index.ts';
import { isSafeId, messageOf, parseJson } from '../../../../contracts/index.ts';
import { newId } from '../../../../runtime/index.ts';
import { damagedNotes, HOST_NOTES } from '../../../../session/index.ts';
import type { Row, SqlDialect, SqlEngine, Steps, Value } from '../statements/index.ts';
import { all, databaseTime, now, runStatement } from '../statements/index.ts';

const KEY = 'app_name = ? AND user_id = ? AND session_id = ? AND agent = ?';
const COLUMNS = 'app_name, user_id, session_id, agent';
const WITHOUT_HEAD = COLUMNS.replaceAll(/\w+/g, (column) => `j.${column} = adk_journal_records.${column}`).replaceAll(
  ', ',
  ' AND ',
);
/** Characters that one INSERT of several rows has at most. */
const MAX_INSERT = 500_000;

/** A host's notes in the tables of a session store. The row of the journal is the lock of those who write. */
export class SqlJournal implements HostJournal {
  readonly #ready: () => SqlEngine;

  /** `ready` gives the engine, or throws if it is closed. */
  constructor(ready: () => SqlEngine) {
    this.#ready = ready;
  }

  async read(key: JournalKey, mark: JournalMark): Promise<JournalPage> {
    // One statement: the notes fit together, without a transaction, too.
    const sql = `SELECT j.id, j.last_seq, r.seq, r.record FROM adk_journals j
      LEFT JOIN adk_journal_records r ON r.app_name = j.app_name AND r.user_id = j.user_id
        AND r.session_id = j.session_id AND r.agent = j.agent AND r.seq > CASE WHEN j.id = ? THEN ? ELSE 0 END
      WHERE ${KEY.replaceAll(/\w+ =/g, 'j.$&')} ORDER BY r.seq`;
    const given = [mark.id, mark.length, ...placeOf(key)];
    const rows = await this.#ready().transaction('read', () => all(sql, given));
    const [head] = rows;
    if (!head) {
      const left = `SELECT seq FROM adk_journal_records WHERE ${KEY}
        AND NOT EXISTS (SELECT 1 FROM adk_journals j WHERE ${WITHOUT_HEAD}) LIMIT 1`;
      const [orphan] = await this.#ready().transaction('read', () => all(left, placeOf(key)));
      if (orphan) throw damagedNotes(key, 'the row that counts its records is missing');
      return { id: '', records: [] };
    }
    const id = String(head.id);
    const known = id === mark.id ? mark.length : 0;
    const records = rows.flatMap((row) => (row.seq === null ? [] : [recordOf(row, key)]));
    const isWhole = rows.every(({ seq }, index) => seq === null || Number(seq) === known + index + 1);
    // Of one that is missing nobody knows what it would have kept from running.
    if (!isWhole || known + records.length !== Number(head.last_seq)) throw damagedNotes(key, 'records are missing');
    return { id, records };
  }

  async append(
    key: JournalKey,
    records: readonly JournalRecord[],
    mark: JournalMark,
    options: JournalAppend = {},
  ): Promise<JournalMark | undefined> {
    const engine = this.#ready();
    const texts = records.map((record) => JSON.stringify(record));
    return engine.transaction('write', () => append(engine.dialect, key, texts, mark, options));
  }

  async now(): Promise<number> {
    return databaseTime(this.#ready());
  }

  async forget(scope: { app: string; userId: string; sessionId?: string }): Promise<void> {
    await this.#ready().transaction('write', () => forgetNotes(scope));
  }
}

function* append(
  dialect: SqlDialect,
  key: JournalKey,
  texts: readonly string[],
  mark: JournalMark,
  { waits = false, instead }: JournalAppend,
): Steps<JournalMark | undefined> {
  const place = placeOf(key);
  const time = now();
  const isFirst = mark.id === '';
  const id = isFirst || instead ? newId() : mark.id;
  if (isFirst) {
    const columns = `${COLUMNS}, root_id, id, last_seq, waits, inserted_at, updated_at`;
    const same = dialect.onConflict(COLUMNS.split(', '), ['last_seq = adk_journals.last_seq']);
    yield* runStatement(`INSERT INTO adk_journals (${columns}) VALUES (${columns.replaceAll(/\w+/g, '?')}) ${same}`, [
      ...place,
      columnId(key.root ?? key.sessionId),
      id,
      0,
      0,
      time,
      time,
    ]);
  }
  const kept = instead ? Math.min(instead.after, mark.length) : mark.length;
  const length = kept + texts.length;
  const changed = yield* runStatement(
    `UPDATE adk_journals SET id = ?, last_seq = ?, waits = ?, updated_at = ? WHERE ${KEY} AND id = ? AND last_seq = ?`,
    [id, length, Number(waits), time, ...place, isFirst ? id : mark.id, mark.length],
  );
  if (changed === 0) return undefined;
  if (instead) yield* runStatement(`DELETE FROM adk_journal_records WHERE ${KEY} AND seq > ?`, [...place, kept]);
  yield* insert(dialect, place, kept, texts);
  return { id, length };
}

function* insert(dialect: SqlDialect, place: readonly Value[], after: number, texts: readonly string[]): Steps<void> {
  for (let at = 0; at < texts.length; ) {
    const given: Value[] = [];
    let rows = 0;
    for (let length = 0; rows < dialect.rowsPerInsert && at < texts.length && length < MAX_INSERT; rows++, at++) {
      const text = texts[at] ?? '';
      length += text.length;
      given.push(...place, after + at + 1, text);
    }
    const row = '(?, ?, ?, ?, ?, ?)';
    const places = Array.from({ length: rows }, () => row).join(', ');
    yield* runStatement(`INSERT INTO adk_journal_records (${COLUMNS}, seq, record) VALUES ${places}`, given);
  }
}

/** Of one session and all below it, or of all of a user. */
export function* forgetNotes(scope: { app: string; userId: string; sessionId?: string }): Steps<void> {
  const { app, userId, sessionId } = scope;
  const isOf = `app_name = ? AND user_id = ?${sessionId === undefined ? '' : ' AND root_id = ?'}`;
  const whose = [columnId(app), columnId(userId), ...(sessionId === undefined ? [] : [columnId(sessionId)])];
  for (const row of yield* all(`SELECT ${COLUMNS} FROM adk_journals WHERE ${isOf}`, whose)) yield* remove(row);
}

/** Sessions that one transaction looks at. */
const BATCH = 100;

/**
 * Notes of sessions that the store has no log of, last noted in before a time. With `keepPending`, only where nothing is
 * open by them.
 */
export async function forgetOldNotes(
  engine: SqlEngine,
  scope: { app?: string; userId?: string },
  before: string,
  keepPending: boolean,
): Promise<void> {
  const isOld = `updated_at < ${engine.dialect.timeValue}${keepPending ? ' AND waits = 0' : ''}`;
  const conditions = [isOld];
  const given: Value[] = [before];
  for (const [column, value] of [
    ['app_name', scope.app],
    ['user_id', scope.userId],
  ] as const) {
    if (value === undefined) continue;
    conditions.push(`${column} = ?`);
    given.push(columnId(value));
  }
  // What a host notes of no session at all.
  conditions.push('user_id <> ?');
  given.push(columnId(HOST_NOTES));
  conditions.push(`NOT EXISTS (SELECT 1 FROM adk_sessions s WHERE s.app_name = adk_journals.app_name
    AND s.user_id = adk_journals.user_id AND s.id = adk_journals.root_id)`);
  const sql = `SELECT ${COLUMNS} FROM adk_journals WHERE ${conditions.join(' AND ')} LIMIT ${BATCH}`;
  for (let found = BATCH; found === BATCH; ) {
    found = await engine.transaction('write', function* () {
      const rows = yield* all(sql, given);
      for (const row of rows) yield* remove(row, isOld, before);
      return rows.length;
    });
  }
}

/** The journal first: its row is the lock of whoever writes. */
function* remove(row: Row, condition?: string, ...given: Value[]): Steps<void> {
  const place = COLUMNS.split(', ').map((column) => String(row[column]));
  const also = condition === undefined ? '' : ` AND ${condition}`;
  if ((yield* runStatement(`DELETE FROM adk_journals WHERE ${KEY}${also}`, [...place, ...given])) === 0) return;
  yield* runStatement(`DELETE FROM adk_journal_records WHERE ${KEY}`, place);
}

function placeOf({ app, userId, sessionId, agent }: JournalKey): string[] {
  return [columnId(app), columnId(userId), columnId(sessionId), columnId(agent)];
}

/** As a column holds it: how an executor names its sessions is its own affair. No safe id has a slash. */
function columnId(id: string): string {
  return isSafeId(id) ? id : `/${hash('sha256', JSON.stringify(id))}`;
}

function recordOf(row: Row, key: JournalKey): JournalRecord {
  try {
    const record = parseJson(String(row.record));
    if (typeof record === 'object' && record !== null && !Array.isArray(record)) return record as JournalRecord;
  } catch (error) {
    throw damagedNotes(key, `record ${row.seq} cannot be read (${messageOf(error)})`, {
      seq: Number(row.seq),
      cause: error,
    });
  }
  throw damagedNotes(key, `record ${row.seq} is none`, { seq: Number(row.seq) });
}
