import { hash } from 'node:crypto';
import type { CallResult } from '../../../../contracts/index.ts';
import type { QuestionRow, SessionKey, StoredEvent } from '../../../../runtime/index.ts';
import { callsOfQuestions, QuestionBook } from '../../../../runtime/index.ts';
import type { Row, SqlDialect, Steps, Value } from '../statements/index.ts';
import {
  all,
  OF_SESSION,
  repeat,
  runStatement,
  textOfColumn,
  values,
  WHERE_SESSION,
  writeText,
} from '../statements/index.ts';

const KEY = ['app_name', 'user_id', 'session_id', 'request_id'];
const REST = [
  ...['call_id', 'tool', 'kind', 'asked_at', 'expires_at', 'quorum', 'rule_id', 'action', 'edited', 'decided_by'],
  ...['decided_at', 'outcome', 'result', 'ended_at', 'people', 'answerers'],
];
const PEOPLE = 'app_name, user_id, session_id, request_id, person, decided_at';

/** What a claim of MySQL says with the place in the log: one number, this times the place, and one more than what was asked. */
export const ASKED = 4;

/** What every append changes in the row of its session, and of questions where it may change them. */
export function claimChanges(returning: boolean, touch: 'asks' | 'ends' | undefined): string[] {
  if (touch === undefined)
    return [`last_seq = ${returning ? 'last_seq + ?' : 'LAST_INSERT_ID(last_seq + ?)'}`, 'updated_at = ?'];
  // What nobody has looked through yet is left for whoever does.
  const asked = touch === 'asks' ? 'CASE WHEN asked < 0 THEN asked ELSE 1 END' : 'asked';
  const changes = ['last_seq = last_seq + ?', 'updated_at = ?'];
  if (!returning) {
    // Assignments are made from left to right.
    const said = `LAST_INSERT_ID(last_seq * ${ASKED} + 1 + ${asked})`;
    changes.push(`asked = ${asked} + 0 * CAST(${said} AS SIGNED)`);
  } else if (touch === 'asks') changes.push(`asked = ${asked}`);
  return changes;
}

/** As they are read; `q` is the table. */
export const questionFields: string = ['user_id', 'session_id', 'request_id', ...REST]
  .map((column) => `q.${column}`)
  .join(', ');

/**
 * Questions about calls, and who has answered them: one row a question, changed in the transaction of the events that
 * ask, answer, decide and end. `asked` of the session says whether there is anything that such events may change:
 * 0 nothing, 1 some call that was asked about is open, below 0 its log is of an older version and was not looked through.
 */
export class QuestionsTable {
  readonly #dialect: SqlDialect;
  readonly #insert: string;
  readonly #row: string;
  readonly #conflict: string;

  constructor(dialect: SqlDialect) {
    const { excluded, onConflict } = dialect;
    this.#dialect = dialect;
    this.#insert = `INSERT INTO adk_questions (${[...KEY, ...REST].join(', ')}) VALUES `;
    this.#row = `(${[...KEY, ...REST].map(() => '?').join(', ')})`;
    this.#conflict = ` ${onConflict(
      KEY,
      REST.map((column) => `${column} = ${excluded(column)}`),
    )}`;
  }

  /** What these events, which are stored but for their calls, which may not be closed yet, do to the questions of their session. */
  *change(key: SessionKey, events: readonly StoredEvent[], touch: 'asks' | 'ends'): Steps<void> {
    const calls = [...callsOfQuestions(events)].map((callId) => writeText(callId.toWellFormed()));
    const rows: QuestionRow[] = [];
    const tools = new Map<string, string>();
    const { name, rowsPerInsert } = this.#dialect;
    for (let at = 0; at < calls.length; at += rowsPerInsert) {
      const some = calls.slice(at, at + rowsPerInsert);
      // Of an equality SQLite believes that all of the session's questions are as few: only for a range it takes the index.
      const isOne = name === 'sqlite' && some.length === 1;
      const among = isOne ? 'BETWEEN ? AND ?' : `IN (${some.map(() => '?').join(', ')})`;
      const named = `${OF_SESSION} AND call_id ${among}`;
      const given = [...values(key), ...some, ...(isOne ? some : [])];
      for (const row of yield* all(`SELECT ${questionFields} FROM adk_questions q ${named}`, given))
        rows.push(toQuestion(row));
      // Of what was asked before, the tool is known.
      if (touch === 'ends') continue;
      for (const row of yield* all(`SELECT call_id, name FROM adk_open_calls ${named}`, given))
        tools.set(textOf(row.call_id), textOf(row.name));
    }
    const book = new QuestionBook(rows, (callId) => tools.get(callId));
    book.add(events);
    const { rows: changed, gone, hasEnded } = book.changes();
    for (const requestId of gone) {
      const one = [...values(key), writeText(requestId)];
      yield* runStatement(`DELETE FROM adk_questions ${OF_SESSION} AND request_id = ?`, one);
    }
    yield* this.#write(key, changed);
    if (!hasEnded) return;
    const open = `SELECT 1 FROM adk_questions ${OF_SESSION} AND result IS NULL`;
    const sql = `UPDATE adk_sessions SET asked = CASE WHEN EXISTS (${open}) THEN 1 ELSE 0 END ${WHERE_SESSION}`;
    yield* runStatement(sql, [...values(key), ...values(key)]);
  }

  /** Of a whole log. */
  *set(key: SessionKey, book: QuestionBook): Steps<void> {
    yield* forgetQuestions(key);
    yield* this.#write(key, [...book.rows()], true);
    yield* runStatement(`UPDATE adk_sessions SET asked = ? ${WHERE_SESSION}`, [Number(book.awaits), ...values(key)]);
  }

  *#write(key: SessionKey, rows: readonly QuestionRow[], isNew = false): Steps<void> {
    const { rowsPerInsert } = this.#dialect;
    for (let at = 0; at < rows.length; at += rowsPerInsert) {
      const some = rows.slice(at, at + rowsPerInsert);
      const sql = `${this.#insert}${repeat(this.#row, some.length)}${this.#conflict}`;
      yield* runStatement(
        sql,
        some.flatMap((row) => [...values(key), ...columnsOf(row)]),
      );
    }
    for (const row of rows) yield* this.#people(key, row, isNew);
  }

  *#people(key: SessionKey, row: QuestionRow, isNew: boolean): Steps<void> {
    if (row.decidedAt === undefined) return;
    const one = [...values(key), writeText(row.requestId)];
    if (!isNew) yield* runStatement(`DELETE FROM adk_question_people ${OF_SESSION} AND request_id = ?`, one);
    for (const person of peopleOf(row)) {
      const sql = `INSERT INTO adk_question_people (${PEOPLE}) VALUES (?, ?, ?, ?, ?, ?)`;
      yield* runStatement(sql, [...one, person, row.decidedAt]);
    }
  }
}

export function* forgetQuestions(key: SessionKey): Steps<void> {
  yield* runStatement(`DELETE FROM adk_question_people ${OF_SESSION}`, values(key));
  yield* runStatement(`DELETE FROM adk_questions ${OF_SESSION}`, values(key));
}

/** Under which somebody is found who has answered; `isId`: by an id that is no name of theirs, or by a vote. */
export function personKey(person: string, isId = false): string {
  // Databases index so many bytes, and no odd ones.
  const short = /^[!-~]{1,90}$/.test(person) ? person : hash('sha256', person);
  return `${isId ? 'id' : 'as'}:${short}`;
}

function peopleOf({ people, answerers }: QuestionRow): Set<string> {
  const ids = people.filter((id) => !answerers.includes(id));
  return new Set([...answerers.map((name) => personKey(name)), ...ids.map((id) => personKey(id, true))]);
}

function columnsOf(row: QuestionRow): Value[] {
  const { requestId, callId, tool, kind, askedAt, expiresAt, quorum, ruleId, action, edited, by } = row;
  const { decidedAt, outcome, result, endedAt, people, answerers } = row;
  return [
    ...[writeText(requestId), writeText(callId.toWellFormed()), textOrNull(tool), textOrNull(kind)],
    ...[askedAt ?? null, expiresAt ?? null, quorum ?? null, textOrNull(ruleId)],
    ...[action ?? null, edited ? 1 : 0, textOrNull(by), decidedAt ?? null],
    ...[outcome ?? null, result ?? null, endedAt ?? null, JSON.stringify(people), JSON.stringify(answerers)],
  ];
}

const textOrNull = (text: string | undefined): string | null => (text === undefined ? null : writeText(text));
const textOf = (value: unknown): string => textOfColumn(String(value));

export function toQuestion(row: Row): QuestionRow {
  const text = (column: string) => (row[column] === null ? undefined : textOf(row[column]));
  const number = (column: string) => (row[column] === null ? undefined : Number(row[column]));
  const read: QuestionRow = {
    requestId: textOf(row.request_id),
    callId: textOf(row.call_id),
    people: namesOf(row.people),
    answerers: namesOf(row.answerers),
  };
  if (Number(row.edited) === 1) read.edited = true;
  return Object.assign(
    read,
    defined({
      tool: text('tool'),
      kind: text('kind'),
      askedAt: number('asked_at'),
      expiresAt: number('expires_at'),
      quorum: number('quorum'),
      ruleId: text('rule_id'),
      action: text('action') as QuestionRow['action'],
      by: text('decided_by'),
      decidedAt: number('decided_at'),
      outcome: text('outcome') as QuestionRow['outcome'],
      result: text('result') as CallResult | undefined,
      endedAt: number('ended_at'),
    }),
  );
}

function defined<T extends object>(members: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

/** What cannot be read names nobody. */
function namesOf(json: unknown): string[] {
  try {
    const names: unknown = JSON.parse(String(json));
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}
