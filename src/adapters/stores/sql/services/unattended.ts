import type { SessionKey, UnattendedOptions, UnattendedTurn } from '../../../../runtime/index.ts';
import type { Row, SqlDialect, SqlEngine, Value } from '../statements/index.ts';
import { all, columnTime, runStatement, textOfColumn, values } from '../statements/index.ts';
import type { Leases, TakenSession } from './leases.ts';

/** Turns that one statement reads. */
const PAGE = 500;

/** Open turns whose holder is gone, and those that nobody has taken and that have changed lately. */
export async function unattendedTurns(
  engine: SqlEngine,
  leases: Leases,
  app: string,
  { silentMs, changedSince }: UnattendedOptions,
): Promise<UnattendedTurn[]> {
  const { dialect } = engine;
  const taken: (TakenSession & { row: Row })[] = [];
  for (const row of await engine.transaction('single', () => all(heldTurns(dialect), [app]))) {
    taken.push({ key: keyOf(app, row), owner: String(row.owner), insertedAt: String(row.inserted_at), row });
  }
  const found = changedSince === undefined ? [] : await restingTurns(engine, app, changedSince);
  const record = deathRecord(engine.dialect);
  for (const { key, owner, row } of await leases.gone(taken, silentMs)) {
    const before = Number(row.dead_seq) === Number(row.last_seq) ? Number(row.deaths) : 0;
    // Whoever else finds the same dead holder writes the same.
    const isKnown = before > 0 && row.dead_owner === owner;
    const deaths = isKnown ? before : before + 1;
    if (!isKnown) {
      const given = [...values(key), Number(row.last_seq), owner, deaths];
      await engine.transaction('single', () => runStatement(record, given));
    }
    found.push(turnOf(app, row, deaths));
  }
  return found;
}

/** How many holders have died in a row without storing anything. */
function deathRecord({ onConflict, excluded }: SqlDialect): string {
  const changes = ['seq', 'owner', 'deaths'].map((column) => `${column} = ${excluded(column)}`);
  return `INSERT INTO adk_dead_holders (app_name, user_id, session_id, seq, owner, deaths) VALUES (?, ?, ?, ?, ?, ?)
    ${onConflict(['app_name', 'user_id', 'session_id'], changes)}`;
}

/** Turns whose session somebody has taken: as many as run. */
function heldTurns(dialect: SqlDialect): string {
  return `SELECT s.user_id, s.id, s.owner, ${dialect.time('s.inserted_at')} AS inserted_at, s.last_seq, t.agent,
      d.seq AS dead_seq, d.owner AS dead_owner, d.deaths
    FROM adk_sessions s JOIN adk_open_turns t ON t.app_name = s.app_name AND t.user_id = s.user_id AND t.session_id = s.id
    LEFT JOIN adk_dead_holders d ON d.app_name = s.app_name AND d.user_id = s.user_id AND d.session_id = s.id
    WHERE s.app_name = ? AND s.owner IS NOT NULL`;
}

/** Turns that nobody has taken: as many as wait. They are read in pages, each by the keys of its sessions. */
async function restingTurns(engine: SqlEngine, app: string, changedSince: number): Promise<UnattendedTurn[]> {
  const sql = `SELECT o.user_id, o.session_id AS id, o.agent, s.last_seq,
      CASE WHEN s.owner IS NULL AND s.updated_at >= ${engine.dialect.timeValue} THEN 1 ELSE 0 END AS rests
    FROM (SELECT app_name, user_id, session_id, agent FROM adk_open_turns
      WHERE app_name = ? AND (user_id, session_id) > (?, ?)
      ORDER BY user_id, session_id LIMIT ${PAGE}) o
    LEFT JOIN adk_sessions s ON s.app_name = o.app_name AND s.user_id = o.user_id AND s.id = o.session_id
    ORDER BY o.user_id, o.session_id`;
  const found: UnattendedTurn[] = [];
  let [user, session] = ['', ''];
  for (;;) {
    const given: Value[] = [columnTime(changedSince), app, user, session];
    const rows = await engine.transaction('single', () => all(sql, given));
    for (const row of rows) if (Number(row.rests) === 1) found.push(turnOf(app, row, 0));
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return found;
    [user, session] = [String(last.user_id), String(last.id)];
  }
}

function keyOf(app: string, row: Row): SessionKey {
  return { app, userId: String(row.user_id), id: String(row.id) };
}

function turnOf(app: string, row: Row, deaths: number): UnattendedTurn {
  const agent = textOfColumn(String(row.agent));
  return { key: keyOf(app, row), agent, lastSeq: Number(row.last_seq), wasTaken: deaths > 0, deaths };
}
