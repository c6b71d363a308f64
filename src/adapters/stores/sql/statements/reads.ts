import { noteCommonTime } from '../../../../base/index.ts';
import type { SessionSummary } from '../../../../contracts/index.ts';
import { isSafeId } from '../../../../contracts/index.ts';
import type {
  AlteredRow,
  OpenCall,
  OpenTurn,
  SessionKey,
  SessionRecord,
  StoredEvent,
} from '../../../../runtime/index.ts';
import { eventWindow, storeRefusal, wholeNumber } from '../../../../runtime/index.ts';
import type { SqlDialect } from './dialect.ts';
import type { SessionRow } from './rows.ts';
import {
  alteredColumn,
  damaged,
  eventFields,
  textOfColumn,
  toEvent,
  toOpenCall,
  toRecord,
  toSession,
  toSummary,
} from './rows.ts';
import type { Steps, Value } from './steps.ts';
import { all, one } from './steps.ts';

const NAMED = 'WHERE app_name = ? AND user_id = ? AND id = ?';
/** A session. Rows with a `last_seq` below 0 are copies that are being made: no statement but those that make them sees them. */
export const WHERE_SESSION = `${NAMED} AND last_seq >= 0`;
export const WHERE_DRAFT = `${NAMED} AND last_seq < 0`;
export const OF_SESSION = 'WHERE app_name = ? AND user_id = ? AND session_id = ?';

/** What a column of a place can hold in any of the databases. */
const MAX_SEQ = 2 ** 31 - 1;

/** Sessions that one statement names. */
const SOME = 50;

export const values = (key: SessionKey): Value[] => [key.app, key.userId, key.id];

/** A log of an older version: what its first events come to is not in the table of facts. */
export interface Uncounted {
  readonly key: SessionKey;
  /** seq of the last of them. */
  readonly through: number;
}

/** What is asked of the tables. */
export class Reads {
  readonly dialect: SqlDialect;
  readonly #session: string;
  readonly #events: string;
  readonly #rewinds: string;

  constructor(dialect: SqlDialect) {
    this.dialect = dialect;
    const own = ['state', 'last_seq', 'epoch', 'owner', 'title', 'initial_state'].map((column) => `s.${column}`);
    this.#session = `SELECT s.app_name, s.user_id, s.id, ${own.join(', ')},
        ${dialect.time('s.inserted_at')} AS inserted_at, ${dialect.time('s.updated_at')} AS updated_at,
        a.state AS app_state, u.state AS user_state${dialect.clock === undefined ? '' : `, ${dialect.clock} AS clock`}
      FROM adk_sessions s
      LEFT JOIN adk_app_states a ON a.app_name = s.app_name
      LEFT JOIN adk_user_states u ON u.app_name = s.app_name AND u.user_id = s.user_id
      WHERE s.app_name = ? AND s.user_id = ? AND s.id = ? AND s.last_seq >= 0`;
    const events = `SELECT ${eventFields(dialect)} FROM adk_events ${OF_SESSION} AND seq > ? AND seq <= ?`;
    this.#events = `${events} ORDER BY seq`;
    this.#rewinds = `${events} AND custom_metadata LIKE '%"rewound"%' ORDER BY seq`;
  }

  *session(key: SessionKey): Steps<SessionRow | undefined> {
    const asked = Date.now();
    const row = yield* one(this.#session, values(key));
    if (row && this.dialect.clock !== undefined) noteCommonTime(Number(row.clock), asked);
    return toSession(row);
  }

  /** Events with `from < seq <= to`, in order. */
  *events(key: SessionKey, from: number, to: number): Steps<StoredEvent[]> {
    if (to <= from) return [];
    return (yield* all(this.#events, [...values(key), from, to])).map((row) => toEvent(row, key));
  }

  /** The markers of rewinds among them. */
  *rewinds(key: SessionKey, from: number, to: number): Steps<{ seq: number; through: number }[]> {
    const rows = yield* all(this.#rewinds, [...values(key), from, to]);
    return rows.flatMap((row) => {
      const { seq, actions } = toEvent(row, key);
      return actions.rewound ? [{ seq, through: actions.rewound.through }] : [];
    });
  }

  /** Those with a `last_seq` beyond the one that is known. */
  *grown(known: readonly { key: SessionKey; seq: number }[]): Steps<SessionKey[]> {
    const grown: SessionKey[] = [];
    for (let at = 0; at < known.length; at += SOME) {
      const some = known.slice(at, at + SOME);
      const each = '(app_name = ? AND user_id = ? AND id = ? AND last_seq > ?)';
      const rows = yield* all(
        `SELECT app_name, user_id, id FROM adk_sessions WHERE ${some.map(() => each).join(' OR ')}`,
        some.flatMap(({ key, seq }) => [...values(key), seq]),
      );
      for (const row of rows)
        grown.push({ app: String(row.app_name), userId: String(row.user_id), id: String(row.id) });
    }
    return grown;
  }

  *altered(key: SessionKey): Steps<AlteredRow[]> {
    if (!(yield* this.session(key))) return [];
    const rows = yield* all(this.#events, [...values(key), 0, MAX_SEQ]);
    // Read behind them: what is appended meanwhile is within it.
    const { last_seq: last = 0 } = (yield* this.session(key)) ?? {};
    return rows.flatMap((row) => {
      const column = Number(row.seq) > last ? 'last_seq' : alteredColumn(row);
      return column === undefined ? [] : [{ seq: Number(row.seq), column }];
    });
  }

  /**
   * State and events of the same moment: events never change, so those up to the row's `last_seq` are what its state
   * was made of. Where they are not all there, the session has been deleted in between.
   */
  *record(
    key: SessionKey,
    options?: { after?: number; limit?: number; recent?: number },
  ): Steps<SessionRecord | undefined> {
    for (let tries = 1; ; tries++) {
      const row = yield* this.session(key);
      if (!row) return undefined;
      const { from, to } = eventWindow(row.last_seq, options);
      const events = yield* this.events(key, from, to);
      if (events.length === to - from) return toRecord(row, events);
      if (tries === 3) throw damaged(key, `${events.length} of its events ${from + 1} to ${to} are there`);
    }
  }

  /** As `record`, of a session whose events are known. */
  *recordWith(key: SessionKey, events: readonly StoredEvent[]): Steps<SessionRecord> {
    const row = yield* this.session(key);
    if (!row) throw storeRefusal.missing(key);
    return toRecord(row, events);
  }

  *list(
    scope: { app: string; userId?: string },
    options: { limit?: number; after?: string; users?: readonly string[] },
  ): Steps<{ sessions: SessionSummary[]; uncounted: Uncounted[] }> {
    const limit = wholeNumber('limit', options.limit);
    const { time, timeValue } = this.dialect;
    const conditions = ['s.app_name = ?', 's.last_seq >= 0'];
    const given: Value[] = [scope.app];
    if (scope.userId !== undefined) {
      conditions.push('s.user_id = ?');
      given.push(scope.userId);
    }
    const { users } = options;
    if (users?.length === 0) return { sessions: [], uncounted: [] };
    if (users) {
      conditions.push(`s.user_id IN (${users.map(() => '?').join(', ')})`);
      given.push(...users);
    }
    if (options.after !== undefined) {
      const last = yield* this.#cursor(conditions, given, options.after);
      conditions.push(`(s.inserted_at, s.user_id, s.id) < (${timeValue}, ?, ?)`);
      given.push(...last);
    }
    const rows = yield* all(
      `SELECT s.app_name, s.user_id, s.id, substr(s.title, 1, 2000) AS title, s.last_seq,
         ${time('s.inserted_at')} AS inserted_at, ${time('s.updated_at')} AS updated_at,
         (SELECT count(*) FROM adk_open_calls c
           WHERE c.app_name = s.app_name AND c.user_id = s.user_id AND c.session_id = s.id) AS pending,
         (SELECT count(*) FROM adk_open_turns t
           WHERE t.app_name = s.app_name AND t.user_id = s.user_id AND t.session_id = s.id) AS unfinished,
         CASE WHEN s.owner IS NOT NULL AND s.asked >= 0 AND NOT EXISTS (SELECT 1 FROM adk_questions q
           WHERE q.app_name = s.app_name AND q.user_id = s.user_id AND q.session_id = s.id AND q.action IS NULL)
           THEN 1 ELSE 0 END AS running,
         f.agent, f.steps, f.input_tokens, f.output_tokens, f.nano_usd, f.tools, f.uncounted
       FROM adk_sessions s LEFT JOIN adk_session_facts f
         ON f.app_name = s.app_name AND f.user_id = s.user_id AND f.session_id = s.id
       WHERE ${conditions.join(' AND ')}
       ORDER BY s.inserted_at DESC, s.user_id DESC, s.id DESC${limit === undefined ? '' : ` LIMIT ${limit}`}`,
      given,
    );
    const uncounted = rows.flatMap((row) => {
      const key = { app: scope.app, userId: String(row.user_id), id: String(row.id) };
      const through = Number(row.uncounted);
      return through > 0 ? [{ key, through }] : [];
    });
    return { sessions: rows.map(toSummary), uncounted };
  }

  /** `after` is an id, or `user/id`. */
  *#cursor(conditions: readonly string[], given: readonly Value[], after: string): Steps<Value[]> {
    const slash = after.indexOf('/');
    // What can name no session is not asked for: some databases refuse such texts, others find what looks alike.
    if (![slash < 0 ? after : after.slice(0, slash), after.slice(slash + 1)].every(isSafeId)) {
      throw storeRefusal.cursor(after);
    }
    const where = [...conditions, 's.id = ?', ...(slash < 0 ? [] : ['s.user_id = ?'])];
    const named = slash < 0 ? [after] : [after.slice(slash + 1), after.slice(0, slash)];
    const row = yield* one(
      `SELECT ${this.dialect.time('s.inserted_at')} AS inserted_at, s.user_id, s.id FROM adk_sessions s
       WHERE ${where.join(' AND ')} ORDER BY s.inserted_at, s.user_id, s.id LIMIT 1`,
      [...given, ...named],
    );
    if (!row) throw storeRefusal.cursor(after);
    return [row.inserted_at, row.user_id, row.id] as Value[];
  }

  *openTurns(scope: { app: string; userId?: string }): Steps<OpenTurn[]> {
    const ofUser = scope.userId === undefined ? '' : ' AND t.user_id = ?';
    const rows = yield* all(
      `SELECT t.user_id, t.session_id, t.agent,
         (SELECT count(*) FROM adk_open_calls c
           WHERE c.app_name = t.app_name AND c.user_id = t.user_id AND c.session_id = t.session_id) AS pending
       FROM adk_open_turns t WHERE t.app_name = ?${ofUser} ORDER BY t.inserted_at, t.user_id, t.session_id`,
      scope.userId === undefined ? [scope.app] : [scope.app, scope.userId],
    );
    return rows.map((row) => ({
      key: { app: scope.app, userId: String(row.user_id), id: String(row.session_id) },
      agent: textOfColumn(String(row.agent)),
      pending: Number(row.pending),
    }));
  }

  *openCalls(scope: { app: string; userId?: string; id?: string }): Steps<OpenCall[]> {
    const conditions = ['app_name = ?'];
    const given: Value[] = [scope.app];
    if (scope.userId !== undefined) {
      conditions.push('user_id = ?');
      given.push(scope.userId);
    }
    if (scope.id !== undefined) {
      conditions.push('session_id = ?');
      given.push(scope.id);
    }
    const rows = yield* all(
      `SELECT user_id, session_id, call_id, name, seq, ${this.dialect.time('inserted_at')} AS opened_at,
         (SELECT s.last_seq FROM adk_sessions s WHERE s.app_name = c.app_name AND s.user_id = c.user_id AND s.id = c.session_id) AS last_seq
       FROM adk_open_calls c WHERE ${conditions.join(' AND ')}
       ORDER BY inserted_at, user_id, session_id, seq, ordinal`,
      given,
    );
    return rows.map((row) => toOpenCall(scope.app, row));
  }
}
