import type { OpenCallFold, QuestionBook, SessionFacts, SessionKey } from '../../../../runtime/index.ts';
import { firstEpoch, storeRefusal } from '../../../../runtime/index.ts';
import type { SqlDialect, State, Steps, Value } from '../statements/index.ts';
import {
  all,
  damaged,
  eventColumns,
  now,
  OF_SESSION,
  one,
  parseState,
  runStatement,
  uniqueNow,
  values,
  WHERE_DRAFT,
} from '../statements/index.ts';
import type { Writes } from './writes.ts';

/** `last_seq` of a copy that is being made. */
const DRAFT = -1;
/** Events of a draft that one transaction takes away. */
const REMOVED = 64;

/** Where a copy is being made, by whom, and of what. */
export interface Draft {
  readonly source: SessionKey;
  readonly target: SessionKey;
  /** Tells whose draft it is: somebody else may have begun one under the same id. */
  readonly token: string;
  /** The source as it was: one that was made again under its id is another session. */
  readonly sourceMade: string;
  readonly lastSeq: number;
  readonly title: string | null;
  readonly initialState: Readonly<State>;
  /** Somebody else's was there, with events of its own. */
  readonly isTakenOver: boolean;
}

/** What the events of a copy come to. */
export interface CopiedLog {
  readonly state: State;
  readonly calls: OpenCallFold;
  readonly facts: SessionFacts;
  readonly questions: QuestionBook;
}

/**
 * A copy while it is made. Its row stands there from the first step on, as a draft that nobody sees; the last step makes
 * a session of it. A draft whose process has died goes with whatever takes its id next, or with retention.
 */
export class Copies {
  readonly #tables: Writes;
  readonly #page: string;

  constructor(dialect: SqlDialect, tables: Writes) {
    this.#tables = tables;
    const columns = eventColumns(dialect);
    this.#page = `INSERT INTO adk_events (app_name, user_id, session_id, ${columns})
      SELECT app_name, user_id, ${dialect.textValue}, ${columns} FROM adk_events ${OF_SESSION} AND seq > ? AND seq <= ?
        AND EXISTS (SELECT 1 FROM adk_sessions s WHERE s.app_name = ? AND s.user_id = ? AND s.id = ?
          AND s.last_seq >= 0 AND s.inserted_at = ${dialect.timeValue})`;
  }

  *begin(source: SessionKey, target: SessionKey, token: string, through?: number): Steps<Draft> {
    const row = yield* this.#tables.session(source);
    if (!row) throw storeRefusal.missing(source);
    const isTakenOver = yield* this.takeOver(target, token);
    if (!isTakenOver) yield* this.#insert(target, token);
    return {
      source,
      target,
      token,
      sourceMade: row.inserted_at,
      lastSeq: Math.min(through ?? row.last_seq, row.last_seq),
      title: row.title,
      initialState: parseState(row.initial_state, source),
      isTakenOver,
    };
  }

  *#insert(target: SessionKey, token: string): Steps<void> {
    const time = now();
    const columns =
      'app_name, user_id, id, state, inserted_at, updated_at, last_seq, epoch, owner, initial_state, asked';
    const given: Value[] = [...values(target), '{}', time, time, DRAFT, firstEpoch(), token, '{}', 0];
    try {
      yield* runStatement(`INSERT INTO adk_sessions (${columns}) VALUES (${given.map(() => '?').join(', ')})`, given);
    } catch (error) {
      throw this.#tables.dialect.isDuplicate(error) ? storeRefusal.exists(target) : error;
    }
  }

  /** Makes somebody else's draft one's own: whoever makes it is refused at his next step. */
  *takeOver(target: SessionKey, token: string, condition = '', given: readonly Value[] = []): Steps<boolean> {
    const sql = `UPDATE adk_sessions SET owner = ?, epoch = ?, updated_at = ? ${WHERE_DRAFT}${condition}`;
    return (yield* runStatement(sql, [token, firstEpoch(), now(), ...values(target), ...given])) > 0;
  }

  /** Events with `from < seq <= to`, as they are. */
  *page(draft: Draft, from: number, to: number): Steps<void> {
    const { source, target } = draft;
    yield* this.hold(draft);
    const given = [target.id, ...values(source), from, to, ...values(source), draft.sourceMade];
    const copied = yield* runStatement(this.#page, given);
    if (copied === to - from) return;
    const now = yield* this.#tables.session(source);
    if (!now) throw storeRefusal.missing(source);
    if (now.inserted_at !== draft.sourceMade) throw storeRefusal.replaced(source);
    throw damaged(source, `${copied} of its events ${from + 1} to ${to} are there`);
  }

  /** The draft becomes a session. */
  *finish(draft: Draft, { state, calls, facts, questions }: CopiedLog): Steps<void> {
    const { target, lastSeq, title, initialState } = draft;
    const time = uniqueNow();
    const sql = `UPDATE adk_sessions SET last_seq = ?, state = ?, title = ?, initial_state = ?, owner = NULL,
      inserted_at = ?, updated_at = ? ${WHERE_DRAFT} AND owner = ?`;
    const given = [lastSeq, JSON.stringify(state), title, JSON.stringify(initialState), time, time];
    if ((yield* runStatement(sql, [...given, ...values(target), draft.token])) === 0) throw yield* this.#lost(target);
    yield* this.#tables.leavesOpen(target, calls);
    yield* this.#tables.facts.set(target, facts);
    yield* this.#tables.questions.set(target, questions);
  }

  /** Takes away some of the events of a draft, and the draft with the last of them. False: there is more to do. */
  *remove(target: SessionKey, token: string, keepsRow: boolean): Steps<boolean> {
    yield* this.hold({ target, token });
    const some = `SELECT seq FROM adk_events ${OF_SESSION} ORDER BY seq LIMIT ${REMOVED}`;
    const last = (yield* all(some, values(target))).at(-1);
    if (last) {
      yield* runStatement(`DELETE FROM adk_events ${OF_SESSION} AND seq <= ?`, [...values(target), Number(last.seq)]);
      return false;
    }
    if (!keepsRow)
      yield* runStatement(`DELETE FROM adk_sessions ${WHERE_DRAFT} AND owner = ?`, [...values(target), token]);
    return true;
  }

  /** Takes the row's lock, and says that somebody is at work. Throws where somebody else has taken the draft over, or away. */
  *hold({ target, token }: Pick<Draft, 'target' | 'token'>): Steps<void> {
    const sql = `UPDATE adk_sessions SET updated_at = ? ${WHERE_DRAFT} AND owner = ?`;
    if ((yield* runStatement(sql, [now(), ...values(target), token])) === 0) throw yield* this.#lost(target);
  }

  *#lost(target: SessionKey): Steps<Error> {
    const sql = 'SELECT 1 AS taken FROM adk_sessions WHERE app_name = ? AND user_id = ? AND id = ?';
    return (yield* one(sql, values(target))) ? storeRefusal.exists(target) : storeRefusal.replaced(target);
  }
}
