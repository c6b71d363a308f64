import type { AppendOptions, SessionKey, StoredEvent } from '../../../../runtime/index.ts';
import {
  applyDelta,
  batchDelta,
  Cuts,
  effectiveEvents,
  factsChange,
  firstEpoch,
  foldState,
  OpenCallFold,
  openTurnChange,
  placeEvent,
  QuestionBook,
  questionTouch,
  sealEvent,
  sealedLog,
  storeRefusal,
  titleChange,
} from '../../../../runtime/index.ts';
import type { Row, SqlDialect, State, Steps, Value } from '../statements/index.ts';
import {
  all,
  DuplicateEvent,
  EVENT_VALUES,
  eventColumns,
  eventValues,
  now,
  OF_SESSION,
  one,
  parseState,
  Reads,
  repeat,
  runStatement,
  uniqueNow,
  values,
  valuesAt,
  WHERE_SESSION,
  writeText,
} from '../statements/index.ts';
import { OpenIndex } from './open-index.ts';
import { ASKED, claimChanges, QuestionsTable } from './questions.ts';
import type { ReadyAppend } from './ready-append.ts';
import { prepare } from './ready-append.ts';
import { FactsTable, factsOf } from './session-facts.ts';

/** Events that are decoded at a time. */
const PAGE = 500;
/** Characters that one INSERT of several events has at most. */
const MAX_INSERT = 500_000;

/** What becomes of a session's lease in the transaction of an append. */
export type Hand = { readonly take: string } | 'free' | undefined;

export interface NewSession {
  initialState: State;
  state: State;
  title: string | null;
  lastSeq: number;
}

/** What changes the tables, each within one transaction. */
export class Writes extends Reads {
  readonly #event: string;
  readonly #eventRow: string;
  /** Statements by their number of rows: a text that is put together anew is looked up slowly. */
  readonly #eventTexts: string[] = [];
  readonly #open: OpenIndex;
  /** What lists show of logs. */
  readonly facts: FactsTable;
  /** What people were asked, and what they have answered. */
  readonly questions: QuestionsTable;
  readonly #app: string;
  readonly #user: string;
  readonly #claims = new Map<number, string>();

  constructor(dialect: SqlDialect) {
    super(dialect);
    const row = (count: number) => `(${Array.from({ length: count }, () => '?').join(', ')})`;
    this.#event = `INSERT INTO adk_events (app_name, user_id, session_id, ${eventColumns(dialect)}) VALUES `;
    this.#eventRow = row(3 + EVENT_VALUES);
    this.#open = new OpenIndex(dialect);
    this.facts = new FactsTable(dialect);
    this.questions = new QuestionsTable(dialect);
    const upsert = (table: string, keys: readonly string[]) =>
      `INSERT INTO ${table} (${keys.join(', ')}, state, updated_at, version)
       VALUES (${keys.map(() => '?').join(', ')}, '{}', ?, 1) ${dialect.onConflict(keys, [
         `version = ${table}.version + 1`,
         `updated_at = ${dialect.excluded('updated_at')}`,
       ])}${dialect.returning ? ' RETURNING state' : ''}`;
    this.#app = upsert('adk_app_states', ['app_name']);
    this.#user = upsert('adk_user_states', ['app_name', 'user_id']);
  }

  /** What is to be appended, made ready before the transaction where that takes long. */
  prepare(events: readonly StoredEvent[]): Promise<ReadyAppend> {
    return prepare(events, this.dialect, this.#open);
  }

  /**
   * Adds events to a session. The update comes first: it takes the lock that serialises writers before anything is
   * read, so no delta of another writer is lost. With it goes the lease: one row, one update.
   */
  *append(
    key: SessionKey,
    given: readonly StoredEvent[] | ReadyAppend,
    options: AppendOptions,
    hand?: Hand,
  ): Steps<StoredEvent[]> {
    const prepared = 'changes' in given ? given : undefined;
    const durable = 'changes' in given ? given.events : given.filter((event) => !event.partial);
    if (durable.length === 0) {
      yield* this.#check(key, options);
      if (hand !== undefined) yield* this.#hand(key, hand, options.epoch);
      return [];
    }
    const needsState = durable.some(({ actions }) => hasOwnKeys(actions.stateDelta));
    const touch = questionTouch(durable);
    const claimed = yield* this.#claim(key, durable.length, options, { needsState, touch, hand });
    const firstSeq = claimed.lastSeq - durable.length + 1;
    const place = prepared ? placeEvent : sealEvent;
    const stored = durable.map((event, index) => place(event, firstSeq + index));
    const delta = batchDelta(stored);
    if (delta) {
      if (hasKeys(delta.session)) {
        const state = parseState(claimed.state ?? '{}', key);
        applyDelta(state, delta.session);
        yield* this.setState(key, state);
      }
      yield* this.changeShared(key, delta);
    }
    const title = titleChange(stored);
    if (title !== undefined) {
      const text = title === null ? null : writeText(title);
      yield* runStatement(`UPDATE adk_sessions SET title = ? ${WHERE_SESSION}`, [text, ...values(key)]);
    }
    yield* this.insertEvents(key, stored, prepared?.rows);
    const turn = openTurnChange(stored);
    const concerns = touch !== undefined && claimed.asked === 1 && turn?.kind !== 'unknown';
    // Before the calls that these close are taken out of the index, which knows their tools.
    if (concerns) yield* this.questions.change(key, stored, touch);
    // Which turn is open after these, and of a rewind which calls too, says the whole log.
    if (turn?.kind === 'unknown') yield* this.rebuildOpenCalls(key);
    else {
      if (prepared) yield* this.#open.change(key, prepared.changes, firstSeq);
      else yield* this.#open.change(key, this.#open.changes(stored));
      if (turn) yield* this.#open.turn(key, turn.kind === 'opened' ? turn.agent : undefined);
    }
    const facts = factsChange(stored);
    if (facts) yield* this.facts.add(key, facts);
    return stored;
  }

  *#claim(
    key: SessionKey,
    count: number,
    { epoch, expectedSeq }: AppendOptions,
    { needsState, touch, hand }: { needsState: boolean; touch: 'asks' | 'ends' | undefined; hand: Hand },
  ): Steps<{ lastSeq: number; state?: string; asked?: number }> {
    const { returning, forUpdate } = this.dialect;
    // Numbers that no column holds are those of no session; not every database would say it like that.
    if (!isColumnNumber(epoch) || !isColumnNumber(expectedSeq)) throw yield* this.#refusal(key, { epoch, expectedSeq });
    const handed = hand === undefined ? 0 : hand === 'free' ? 8 : 16;
    const given = (epoch === undefined ? 0 : 1) + (expectedSeq === undefined ? 0 : 2) + (needsState ? 4 : 0);
    const shape = given + handed + (touch === undefined ? 0 : touch === 'asks' ? 32 : 64);
    let sql = this.#claims.get(shape);
    if (sql === undefined) {
      const changes = [...claimChanges(returning, touch), ...(hand ? [lease(hand)] : [])];
      sql = `UPDATE adk_sessions SET ${changes.join(', ')} ${WHERE_SESSION}`;
      if (epoch !== undefined) sql += ' AND epoch = ? AND owner IS NOT NULL';
      if (expectedSeq !== undefined) sql += ' AND last_seq = ?';
      if (returning) sql += ` RETURNING last_seq${needsState ? ', state' : ''}${touch ? ', asked' : ''}`;
      this.#claims.set(shape, sql);
    }
    const set: Value[] = [count, now(), ...ownerOf(hand), ...values(key)];
    if (epoch !== undefined) set.push(epoch);
    if (expectedSeq !== undefined) set.push(expectedSeq);
    if (returning) {
      const row = yield* one(sql, set);
      if (!row) throw yield* this.#refusal(key, { epoch, expectedSeq });
      return { lastSeq: Number(row.last_seq), state: row.state as string, asked: Number(row.asked) };
    }
    const { changes, insertId } = yield { sql, values: set, rows: false };
    if (changes === 0) throw yield* this.#refusal(key, { epoch, expectedSeq });
    const said = Number(insertId);
    const known = touch ? { lastSeq: Math.floor(said / ASKED), asked: (said % ASKED) - 1 } : { lastSeq: said };
    if (!needsState) return known;
    const row = yield* one(`SELECT state FROM adk_sessions ${WHERE_SESSION}${forUpdate}`, values(key));
    return { ...known, state: row?.state as string };
  }

  *#hand(key: SessionKey, hand: NonNullable<Hand>, epoch: number | undefined): Steps<void> {
    // Whoever has taken over since keeps it.
    const [same, given] = epoch === undefined ? ['', []] : [' AND epoch = ?', [epoch]];
    const sql = `UPDATE adk_sessions SET ${lease(hand)} ${WHERE_SESSION}${same}`;
    yield* runStatement(sql, [...ownerOf(hand), ...values(key), ...given]);
  }

  /** What an append of nothing is refused for. */
  *#check(key: SessionKey, { epoch, expectedSeq }: AppendOptions): Steps<void> {
    const row = yield* this.session(key);
    if (!row) throw storeRefusal.missing(key);
    if (epoch !== undefined && (epoch !== row.epoch || row.owner === null)) throw storeRefusal.fenced(key, epoch);
    if (expectedSeq !== undefined && expectedSeq !== row.last_seq) {
      throw storeRefusal.conflict(key, expectedSeq, row.last_seq);
    }
  }

  *#refusal(
    key: SessionKey,
    { epoch, expectedSeq }: { epoch: number | undefined; expectedSeq: number | undefined },
  ): Steps<Error> {
    const row = yield* this.session(key);
    if (!row) return storeRefusal.missing(key);
    if (epoch !== undefined && (epoch !== row.epoch || row.owner === null)) return storeRefusal.fenced(key, epoch);
    return storeRefusal.conflict(key, expectedSeq ?? -1, row.last_seq);
  }

  /** @param made values of these events, where they were made already, as at other places */
  *insertEvents(key: SessionKey, events: readonly StoredEvent[], made?: ReadyAppend['rows']): Steps<void> {
    const { rowsPerInsert, isDuplicate } = this.dialect;
    for (let at = 0; at < events.length; ) {
      const given: Value[] = [];
      let rows = 0;
      let length = 0;
      while (rows < rowsPerInsert && at + rows < events.length && length < MAX_INSERT) {
        const event = events[at + rows] as StoredEvent;
        const known = made?.[at + rows];
        const row = known ? valuesAt(known, event.seq) : eventValues(event, this.dialect);
        for (const value of row) if (typeof value === 'string') length += value.length;
        given.push(...values(key), ...row);
        rows += 1;
      }
      try {
        const text = this.#eventTexts[rows] ?? this.#event + repeat(this.#eventRow, rows);
        this.#eventTexts[rows] = text;
        yield* runStatement(text, given);
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        throw new DuplicateEvent(events.slice(at, at + rows).map(({ id }) => id));
      }
      at += rows;
    }
  }

  /** Which of these ids are taken. */
  *taken(key: SessionKey, ids: readonly string[]): Steps<string[]> {
    const sql = `SELECT id FROM adk_events ${OF_SESSION} AND id IN (${ids.map(() => '?').join(', ')})`;
    return (yield* all(sql, [...values(key), ...ids])).map((row) => String(row.id));
  }

  /** Merges into the state of the app, then of the user; always in this order, so that no two writers wait in a ring. */
  *changeShared(key: SessionKey, delta: { app: State; user: State }): Steps<void> {
    const scopes = [
      { table: 'adk_app_states', upsert: this.#app, delta: delta.app, where: 'app_name = ?', given: [key.app] },
      {
        table: 'adk_user_states',
        upsert: this.#user,
        delta: delta.user,
        where: 'app_name = ? AND user_id = ?',
        given: [key.app, key.userId],
      },
    ];
    const { returning, forUpdate } = this.dialect;
    for (const { table, upsert, delta: change, where, given } of scopes) {
      if (!hasKeys(change)) continue;
      let row: Row | undefined;
      if (returning) row = yield* one(upsert, [...given, now()]);
      else {
        yield* runStatement(upsert, [...given, now()]);
        row = yield* one(`SELECT state FROM ${table} WHERE ${where}${forUpdate}`, given);
      }
      const state = parseState((row?.state ?? null) as string | null, key);
      applyDelta(state, change);
      yield* runStatement(`UPDATE ${table} SET state = ? WHERE ${where}`, [JSON.stringify(state), ...given]);
    }
  }

  *setState(key: SessionKey, state: State): Steps<void> {
    yield* runStatement(`UPDATE adk_sessions SET state = ? ${WHERE_SESSION}`, [JSON.stringify(state), ...values(key)]);
  }

  *insertSession(key: SessionKey, session: NewSession): Steps<void> {
    const time = uniqueNow();
    const columns =
      'app_name, user_id, id, state, inserted_at, updated_at, last_seq, epoch, title, initial_state, asked';
    const given: Value[] = [...values(key), JSON.stringify(session.state), time, time, session.lastSeq, firstEpoch()];
    given.push(session.title === null ? null : writeText(session.title), JSON.stringify(session.initialState), 0);
    try {
      yield* runStatement(`INSERT INTO adk_sessions (${columns}) VALUES (${given.map(() => '?').join(', ')})`, given);
    } catch (error) {
      throw this.dialect.isDuplicate(error) ? storeRefusal.exists(key) : error;
    }
  }

  /** All of a log, page by page. */
  *eachPage(key: SessionKey, see: (events: readonly StoredEvent[]) => void): Steps<void> {
    const lastSeq = (yield* this.session(key))?.last_seq ?? 0;
    for (let from = 0; from < lastSeq; from += PAGE) see(yield* this.events(key, from, Math.min(lastSeq, from + PAGE)));
  }

  /** A session as it was elsewhere: `events` in the order of their seq. Shared state stays as it is. */
  *restore(key: SessionKey, initialState: State, title: string | null, events: readonly StoredEvent[]): Steps<void> {
    const stored = sealedLog(events);
    const state = { ...initialState };
    foldState(state, stored);
    yield* this.insertSession(key, { initialState, state, title, lastSeq: stored.length });
    yield* this.insertEvents(key, stored);
    const counting = effectiveEvents(stored);
    const calls = new OpenCallFold();
    calls.add(counting);
    yield* this.leavesOpen(key, calls);
    yield* this.facts.set(key, factsOf(stored));
    const questions = new QuestionBook();
    questions.add(counting);
    yield* this.questions.set(key, questions);
  }

  /** What is open in one session, and what was asked there, as its log says. */
  *rebuildOpenCalls(key: SessionKey): Steps<void> {
    const row = yield* this.session(key);
    if (!row) throw storeRefusal.missing(key);
    yield* runStatement(`DELETE FROM adk_open_calls ${OF_SESSION}`, values(key));
    const calls = new OpenCallFold();
    const questions = new QuestionBook();
    const cuts = new Cuts(yield* this.rewinds(key, 0, row.last_seq));
    yield* this.eachPage(key, (events) => {
      const counting = cuts.counting(events);
      calls.add(counting);
      questions.add(counting);
    });
    yield* this.leavesOpen(key, calls);
    yield* this.questions.set(key, questions);
  }

  /** Puts what a whole log leaves open into the index, which has nothing of it yet. */
  *leavesOpen(key: SessionKey, calls: OpenCallFold): Steps<void> {
    yield* this.#open.insert(key, calls.opened());
    yield* this.#open.turn(key, calls.openTurn());
  }
}

const lease = (hand: NonNullable<Hand>) => (hand === 'free' ? 'owner = NULL' : 'epoch = epoch + 1, owner = ?');
const ownerOf = (hand: Hand): Value[] => (typeof hand === 'object' ? [hand.take] : []);

function isColumnNumber(value: number | undefined): boolean {
  return value === undefined || value === (value | 0);
}

function hasKeys(state: object): boolean {
  for (const _ in state) return true;
  return false;
}

/** Keys of the session's own state. */
function hasOwnKeys(delta: Readonly<State>): boolean {
  for (const key in delta) if (!/^(?:app|user|temp):/.test(key)) return true;
  return false;
}
