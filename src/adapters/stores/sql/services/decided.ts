import { breath } from '../../../../base/index.ts';
import type { DecidedPage, DecidedQuery, StoredDecision } from '../../../../contracts/index.ts';
import { isCoxswainError } from '../../../../contracts/index.ts';
import type { SessionKey } from '../../../../runtime/index.ts';
import { Cuts, QuestionBook, storedDecision } from '../../../../runtime/index.ts';
import type { DecidedPlace } from '../../../../session/index.ts';
import {
  decidedCursor,
  decidedPlace,
  fitsDecided,
  orderDecided,
  parseDecidedCursor,
} from '../../../../session/index.ts';
import type { Row, SqlEngine, Steps, Value } from '../statements/index.ts';
import {
  all,
  OF_SESSION,
  one,
  runStatement,
  textOfColumn,
  values,
  WHERE_SESSION,
  writeText,
} from '../statements/index.ts';
import { personKey, questionFields, toQuestion } from './questions.ts';
import type { Writes } from './writes.ts';

/** Rows that one page looks at: what it does not find among them is left to the next. */
const SCAN = 20_000;
/** Rows that are read at a time where more is asked of them than an index says. */
const CHUNK = 500;
/** Events of older logs that one look takes in, and of one log at a time. */
const LOOKED = 20_000;
const PAGE = 500;
/** Sessions of which it is asked at a time whether they were looked through. */
const SOME = 50;

/** Some rows in the order of an index, the newest first. */
interface Source {
  readonly from: string;
  readonly where: string;
  /** Table whose columns the index has. */
  readonly by: 'q' | 'p';
  readonly given: readonly Value[];
}

const FACTS = `LEFT JOIN adk_session_facts f
  ON f.app_name = q.app_name AND f.user_id = q.user_id AND f.session_id = q.session_id`;
const OF_PEOPLE = `adk_question_people p JOIN adk_questions q ON q.app_name = p.app_name AND q.user_id = p.user_id
  AND q.session_id = p.session_id AND q.request_id = p.request_id`;

/** Where to look: nothing that these find is for others than those who may know of it. */
function sourcesOf(app: string, { users, orBy, userId, answeredBy }: DecidedQuery): Source[] {
  const answered = (person: string): Source => {
    return { from: OF_PEOPLE, where: 'p.app_name = ? AND p.person = ?', by: 'p', given: [app, person] };
  };
  const ofUsers = (names: readonly string[]): Source => {
    const where = `q.app_name = ? AND q.user_id IN (${names.map(() => '?').join(', ')})`;
    return { from: 'adk_questions q', where, by: 'q', given: [app, ...names] };
  };
  if (users) {
    const theirs = userId === undefined ? users : users.filter((name) => name === userId);
    return [
      ...(theirs.length > 0 ? [ofUsers(theirs)] : []),
      ...(orBy === undefined ? [] : [answered(personKey(orBy))]),
    ];
  }
  if (userId !== undefined) return [ofUsers([userId])];
  if (answeredBy !== undefined) return [answered(personKey(answeredBy)), answered(personKey(answeredBy, true))];
  return [{ from: 'adk_questions q', where: 'q.app_name = ?', by: 'q', given: [app] }];
}

interface Found {
  readonly one: StoredDecision;
  readonly place: DecidedPlace;
}

/** Those that follow `behind`. */
function* some(source: Source, query: DecidedQuery, behind: DecidedPlace | undefined, count: number): Steps<Found[]> {
  const { by } = source;
  const where = [source.where, `${by}.decided_at IS NOT NULL`];
  const given = [...source.given];
  if (query.since !== undefined) {
    where.push(`${by}.decided_at >= ?`);
    given.push(Math.min(Math.ceil(query.since), LAST));
  }
  // The row by itself says so too: not every database looks that up for all of its columns.
  const last = Math.min(query.before === undefined ? LAST : Math.ceil(query.before) - 1, behind?.[0] ?? LAST);
  if (last < LAST) {
    where.push(`${by}.decided_at <= ?`);
    given.push(last);
  }
  const columns = ['decided_at', 'user_id', 'session_id', 'request_id'].map((column) => `${by}.${column}`);
  if (behind) {
    where.push(`(${columns.join(', ')}) < (?, ?, ?, ?)`);
    given.push(behind[0], behind[1], behind[2], writeText(behind[3]));
  }
  const order = columns.map((column) => `${column} DESC`).join(', ');
  const sql = `SELECT ${questionFields}, f.agent FROM ${source.from} ${FACTS}
    WHERE ${where.join(' AND ')} ORDER BY ${order} LIMIT ${count}`;
  return (yield* all(sql, given)).flatMap((row) => {
    const one = decisionOf(row);
    return one ? [{ one, place: decidedPlace(one) }] : [];
  });
}

const LAST = Number.MAX_SAFE_INTEGER;

function decisionOf(row: Row): StoredDecision | undefined {
  const agent = row.agent === null ? '' : textOfColumn(String(row.agent));
  return storedDecision({ agent, userId: String(row.user_id), sessionId: String(row.session_id) }, toQuestion(row));
}

/** Newest first; where little of what is looked at is found, others are let in on the way. */
export async function findDecided(
  engine: () => SqlEngine,
  app: string,
  query: DecidedQuery,
): Promise<DecidedPage<StoredDecision>> {
  const { limit, after } = query;
  const sources = sourcesOf(app, query);
  const { agent, tool, action, search } = query;
  const isNarrow = agent === undefined && tool === undefined && action === undefined && search === undefined;
  const count = isNarrow && query.answeredBy === undefined ? Math.min(limit + 1, CHUNK) : CHUNK;
  const decided: StoredDecision[] = [];
  let behind = after === undefined ? undefined : parseDecidedCursor(after);
  let shown = behind;
  for (let scanned = 0; ; ) {
    const pages: Found[][] = [];
    for (const source of sources) {
      pages.push(await engine().transaction('single', () => some(source, query, behind, count)));
    }
    const { rows, isAll } = merged(pages, count);
    for (const { one, place } of rows) {
      if (decided.length >= limit) return { decided, ...(shown ? { after: decidedCursor(shown) } : {}) };
      shown = place;
      if (fitsDecided(one, query)) decided.push(one);
    }
    if (isAll) return { decided };
    scanned += rows.length;
    behind = rows.at(-1)?.place;
    if (scanned >= SCAN && shown) return { decided, after: decidedCursor(shown) };
    await breath();
  }
}

/** As far as all of them have been read; each row once. */
function merged(pages: readonly (readonly Found[])[], count: number): { rows: Found[]; isAll: boolean } {
  let end: DecidedPlace | undefined;
  for (const page of pages) {
    const last = page.length === count ? page.at(-1)?.place : undefined;
    if (last && (end === undefined || orderDecided(last, end) < 0)) end = last;
  }
  const rows = pages.flat().sort((a, b) => orderDecided(a.place, b.place));
  const within = rows.filter(({ place }) => end === undefined || orderDecided(place, end) <= 0);
  const once = within.filter(({ place }, at) => {
    const before = within[at - 1];
    return !before || orderDecided(before.place, place) !== 0;
  });
  return { rows: once, isAll: end === undefined };
}

/** What a log has that says anything of questions: most have none of it. */
const ASKED = ['"answers":{', '"asks":[', '"questions":[']
  .map((text) => `custom_metadata LIKE '%${text}%'`)
  .join(' OR ');

/** Takes in what was asked in logs of older versions, the newest sessions first, one look after the other. */
export class UnreadLogs {
  readonly #engine: () => SqlEngine;
  readonly #tables: Writes;
  readonly #underway = new Map<string, Promise<number>>();

  constructor(engine: () => SqlEngine, tables: Writes) {
    this.#engine = engine;
    this.#tables = tables;
  }

  /** Looks through some of them. @returns how many sessions are left */
  look(app: string): Promise<number> {
    const underway = this.#underway.get(app);
    if (underway) return underway;
    const look = this.#look(app).finally(() => this.#underway.delete(app));
    this.#underway.set(app, look);
    return look;
  }

  async #look(app: string): Promise<number> {
    let left = LOOKED;
    for (let tried = 0; left > 0; ) {
      const logs = await this.#engine().transaction('single', () => unread(app, tried));
      for (const { key, lastSeq } of logs) {
        if (left <= 0) break;
        left -= Math.max(1, lastSeq);
        if (!(await this.#readPast(key, lastSeq))) tried += 1;
        await breath();
      }
      if (tried === 0 && logs.length === 0) return 0;
      if (logs.length < SOME) break;
    }
    const row = await this.#engine().transaction('single', () =>
      one('SELECT count(*) AS unread FROM adk_sessions WHERE app_name = ? AND asked < 0 AND last_seq >= 0', [app]),
    );
    return Number(row?.unread ?? 0);
  }

  /** One that is damaged hides no other. */
  async #readPast(key: SessionKey, lastSeq: number): Promise<boolean> {
    try {
      return await this.#read(key, lastSeq);
    } catch (error) {
      if (isCoxswainError(error) && error.status === 'DATA_LOSS') return false;
      throw error;
    }
  }

  /** False: somebody has rewound it meanwhile, and it is read again at the next look. */
  async #read(key: SessionKey, lastSeq: number): Promise<boolean> {
    const book = new QuestionBook();
    // A long one before its row is locked, in pieces.
    const through = lastSeq > PAGE ? lastSeq : 0;
    const cuts = new Cuts(
      through > 0 ? await this.#engine().transaction('single', () => this.#tables.rewinds(key, 0, through)) : [],
    );
    for (let from = 0; from < through; from += PAGE) {
      const to = Math.min(through, from + PAGE);
      book.add(cuts.counting(await this.#engine().transaction('single', () => this.#tables.events(key, from, to))));
      await breath();
    }
    // If it is lost with the machine, it is read again.
    return this.#engine().transaction('lease', () => finish(this.#tables, key, through, book));
  }
}

function* unread(app: string, tried: number): Steps<{ key: SessionKey; lastSeq: number }[]> {
  const rows = yield* all(
    `SELECT user_id, id, last_seq FROM adk_sessions WHERE app_name = ? AND asked < 0 AND last_seq >= 0
     ORDER BY inserted_at DESC LIMIT ${SOME} OFFSET ${tried}`,
    [app],
  );
  return rows.map((row) => ({
    key: { app, userId: String(row.user_id), id: String(row.id) },
    lastSeq: Number(row.last_seq),
  }));
}

/** @param through the seq up to which its log is in the book */
function* finish(tables: Writes, key: SessionKey, through: number, book: QuestionBook): Steps<boolean> {
  // An update that changes nothing takes the row's lock: nobody appends meanwhile.
  const locked = `UPDATE adk_sessions SET owner = owner ${WHERE_SESSION} AND asked < 0`;
  if ((yield* runStatement(locked, values(key))) === 0) return true;
  const lastSeq = (yield* tables.session(key))?.last_seq ?? 0;
  const cut = yield* tables.rewinds(key, through, lastSeq);
  if (through > 0 && cut.length > 0) return false;
  const asks =
    through > 0 || (yield* one(`SELECT 1 AS asks FROM adk_events ${OF_SESSION} AND (${ASKED}) LIMIT 1`, values(key)));
  const cuts = new Cuts(cut);
  for (let from = through; asks && from < lastSeq; from += PAGE)
    book.add(cuts.counting(yield* tables.events(key, from, Math.min(lastSeq, from + PAGE))));
  yield* tables.questions.set(key, book);
  return true;
}
