import type { OpenedCall, SessionKey, StoredEvent } from '../../../../runtime/index.ts';
import { openCallChanges } from '../../../../runtime/index.ts';
import type { SqlDialect, Steps, Value } from '../statements/index.ts';
import { now, OF_SESSION, repeat, runStatement, values, writeText } from '../statements/index.ts';

const CALL_VALUES = 8;
/** So many rows are handed to a database of this process as one list. */
const MANY = 64;
/** A place in the log and one among the calls of an append are one number: the first times this, and the second. */
const ORDINALS = 2 ** 20;
/** What stands as it is in a text of JSON, and in a column. */
const plain = /^[!#-[\]-~]+$/;

/** Tools' names, each with the calls of it as a JSON object. */
type Lists = readonly (readonly [name: string, list: string])[];

export interface IndexChanges {
  readonly closed: readonly string[];
  readonly opened: readonly OpenedCall[];
  readonly lists: Lists | undefined;
}

/** The tables of open calls and open turns, changed in the transaction of the events that open and close them. */
export class OpenIndex {
  readonly #dialect: SqlDialect;
  readonly #call: string;
  readonly #callRow: string;
  readonly #callEnd: string;
  readonly #list: string;
  readonly #turn: string;

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect;
    const into =
      'INSERT INTO adk_open_calls (app_name, user_id, session_id, call_id, name, seq, ordinal, inserted_at) ';
    this.#call = `${into}VALUES `;
    this.#callRow = `(${Array.from({ length: CALL_VALUES }, () => '?').join(', ')})`;
    this.#callEnd = ` ${dialect.onConflict(
      ['app_name', 'user_id', 'session_id', 'call_id'],
      ['name', 'seq', 'ordinal', 'inserted_at'].map((column) => `${column} = ${dialect.excluded(column)}`),
    )}`;
    const { from, name, number } = dialect.listed ?? { from: '', name: '', number: '' };
    this.#list = `${into}SELECT ?, ?, ?, ${name}, ?, ? + ${number} / ${ORDINALS}, ${number} % ${ORDINALS}, ?
      FROM ${from} WHERE true${this.#callEnd}`;
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

  /** What these events do to the index; of many calls also the text that the database is given. */
  changes(events: readonly StoredEvent[]): IndexChanges {
    const { opened, closed } = openCallChanges(events);
    return { closed, opened, lists: this.#lists(opened) };
  }

  /** @param base what the places of their events are counted from */
  *change(key: SessionKey, { closed, opened, lists }: IndexChanges, base = 0): Steps<void> {
    const { rowsPerInsert } = this.#dialect;
    for (let at = 0; at < closed.length; at += rowsPerInsert) {
      const some = closed.slice(at, at + rowsPerInsert).map(writeText);
      const list = some.map(() => '?').join(', ');
      yield* runStatement(`DELETE FROM adk_open_calls ${OF_SESSION} AND call_id IN (${list})`, [
        ...values(key),
        ...some,
      ]);
    }
    if (lists) yield* this.#insertLists(key, lists, base);
    else if (opened.length > 0) yield* this.#insertRows(key, opened, base);
  }

  /** Calls that are open; of one that is there already the newer row counts. */
  *insert(key: SessionKey, opened: readonly OpenedCall[]): Steps<void> {
    yield* this.change(key, { closed: [], opened, lists: this.#lists(opened) });
  }

  *#insertRows(key: SessionKey, opened: readonly OpenedCall[], base: number): Steps<void> {
    const { rowsPerInsert } = this.#dialect;
    const time = now();
    for (let at = 0; at < opened.length; at += rowsPerInsert) {
      const some = opened.slice(at, at + rowsPerInsert);
      const given = some.flatMap(({ callId, name, seq }, index): Value[] => [
        ...values(key),
        writeText(callId),
        writeText(name),
        base + seq,
        at + index,
        time,
      ]);
      yield* runStatement(this.#call + repeat(this.#callRow, some.length) + this.#callEnd, given);
    }
  }

  *#insertLists(key: SessionKey, lists: Lists, base: number): Steps<void> {
    const time = now();
    for (const [name, list] of lists) {
      yield* runStatement(this.#list, [...values(key), name, base, time, list]);
    }
  }

  /**
   * By the name of the tool, ids with their places in one number each. In the order of the table's key: rows that come
   * in another order cost the database twice as much.
   */
  #lists(opened: readonly OpenedCall[]): Lists | undefined {
    if (!this.#dialect.listed || opened.length <= MANY || opened.length > ORDINALS) return undefined;
    const members = new Map<string, string[]>();
    for (let ordinal = 0; ordinal < opened.length; ordinal++) {
      const { callId, name, seq } = opened[ordinal] as OpenedCall;
      if (!plain.test(callId)) return undefined;
      const member = `"${callId}":${seq * ORDINALS + ordinal}`;
      const same = members.get(name);
      if (same) same.push(member);
      else members.set(name, [member]);
    }
    return [...members].map(([name, some]) => [writeText(name), `{${some.sort().join(',')}}`]);
  }
}
