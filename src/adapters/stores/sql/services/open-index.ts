import type { Event, OpenedCall, SessionKey } from '../../../../runtime/index.ts';
import { openCallChanges } from '../../../../runtime/index.ts';
import type { SqlDialect, Steps, Value } from '../statements/index.ts';
import { now, OF_SESSION, repeat, runStatement, values, writeText } from '../statements/index.ts';

const CALL_VALUES = 8;
/** So many rows are handed to a database of this process as one list. */
const MANY = 64;
/** What is the same in every text of JSON. */
const plain = /^[ -~]*$/;

/** The tables of open calls and open turns, changed in the transaction of the events that open and close them. */
export class OpenIndex {
  readonly #dialect: SqlDialect;
  readonly #into: string;
  readonly #call: string;
  readonly #callRow: string;
  readonly #callEnd: string;
  readonly #turn: string;

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect;
    this.#into =
      'INSERT INTO adk_open_calls (app_name, user_id, session_id, call_id, name, seq, ordinal, inserted_at) ';
    this.#call = `${this.#into}VALUES `;
    this.#callRow = `(${Array.from({ length: CALL_VALUES }, () => '?').join(', ')})`;
    this.#callEnd = ` ${dialect.onConflict(
      ['app_name', 'user_id', 'session_id', 'call_id'],
      ['name', 'seq', 'ordinal', 'inserted_at'].map((column) => `${column} = ${dialect.excluded(column)}`),
    )}`;
    this.#turn = `INSERT INTO adk_open_turns (app_name, user_id, session_id, agent, inserted_at)
      VALUES (?, ?, ?, ?, ?) ${dialect.onConflict(
        ['app_name', 'user_id', 'session_id'],
        ['agent', 'inserted_at'].map((column) => `${column} = ${dialect.excluded(column)}`),
      )}`;
  }

  /** @param agent at which the open turn has begun; undefined: none is open */
  *turn(key: SessionKey, agent: string | undefined): Steps<void> {
    if (agent === undefined) yield* runStatement(`DELETE FROM adk_open_turns ${OF_SESSION}`, values(key));
    else yield* runStatement(this.#turn, [...values(key), writeText(agent), now()]);
  }

  /** What these events open and close. */
  *calls(key: SessionKey, events: readonly Event[]): Steps<void> {
    const { opened, closed } = openCallChanges(events);
    const { rowsPerInsert } = this.#dialect;
    for (let at = 0; at < closed.length; at += rowsPerInsert) {
      const some = closed.slice(at, at + rowsPerInsert).map(writeText);
      const list = some.map(() => '?').join(', ');
      yield* runStatement(`DELETE FROM adk_open_calls ${OF_SESSION} AND call_id IN (${list})`, [
        ...values(key),
        ...some,
      ]);
    }
    if (opened.length > 0) yield* this.insert(key, opened);
  }

  /** Calls that are open; of one that is there already the newer row counts. */
  *insert(key: SessionKey, opened: readonly OpenedCall[]): Steps<void> {
    const { rowsPerInsert, listed } = this.#dialect;
    const time = now();
    const isPlain = ({ callId, name }: OpenedCall) => plain.test(callId) && plain.test(name);
    if (listed && opened.length > MANY && opened.every(isPlain)) {
      const rows = opened.map(({ callId, name, seq }, ordinal) => [callId, name, seq, ordinal]);
      const columns = [0, 1, 2, 3].map((column) => listed.column(column)).join(', ');
      const sql = `${this.#into}SELECT ?, ?, ?, ${columns}, ? FROM ${listed.from} WHERE true${this.#callEnd}`;
      yield* runStatement(sql, [...values(key), time, JSON.stringify(rows)]);
      return;
    }
    for (let at = 0; at < opened.length; at += rowsPerInsert) {
      const some = opened.slice(at, at + rowsPerInsert);
      const given = some.flatMap(({ callId, name, seq }, index): Value[] => [
        ...values(key),
        writeText(callId),
        writeText(name),
        seq,
        at + index,
        time,
      ]);
      yield* runStatement(this.#call + repeat(this.#callRow, some.length) + this.#callEnd, given);
    }
  }
}
