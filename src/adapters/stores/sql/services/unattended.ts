import type { SessionKey, UnattendedOptions, UnattendedTurn } from '../../../../runtime/index.ts';
import type { Row, SqlDialect, SqlEngine, Value } from '../statements/index.ts';
import { all, columnTime, runStatement, textOfColumn, values } from '../statements/index.ts';
import type { Leases, TakenSession } from './leases.ts';

/** Open turns whose holder is gone, and those that nobody has taken and that have changed lately. */
export async function unattendedTurns(
  engine: SqlEngine,
  leases: Leases,
  app: string,
  { silentMs, changedSince }: UnattendedOptions,
): Promise<UnattendedTurn[]> {
  const { sql, given } = openTurns(engine.dialect, app, changedSince);
  const rows = await engine.transaction('single', () => all(sql, given));
  const taken: (TakenSession & { row: Row })[] = [];
  const found: UnattendedTurn[] = [];
  for (const row of rows) {
    const { owner } = row;
    if (typeof owner !== 'string') found.push(turnOf(app, row, 0));
    else taken.push({ key: keyOf(app, row), owner, insertedAt: String(row.inserted_at), row });
  }
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

function openTurns(
  dialect: SqlDialect,
  app: string,
  changedSince: number | undefined,
): { sql: string; given: Value[] } {
  const isResting = changedSince === undefined ? '' : ` OR s.updated_at >= ${dialect.timeValue}`;
  return {
    sql: `SELECT s.user_id, s.id, s.owner, ${dialect.time('s.inserted_at')} AS inserted_at, s.last_seq, t.agent,
        d.seq AS dead_seq, d.owner AS dead_owner, d.deaths
      FROM adk_open_turns t JOIN adk_sessions s ON s.app_name = t.app_name AND s.user_id = t.user_id AND s.id = t.session_id
      LEFT JOIN adk_dead_holders d ON d.app_name = s.app_name AND d.user_id = s.user_id AND d.session_id = s.id
      WHERE t.app_name = ? AND (s.owner IS NOT NULL${isResting})`,
    given: changedSince === undefined ? [app] : [app, columnTime(changedSince)],
  };
}

function keyOf(app: string, row: Row): SessionKey {
  return { app, userId: String(row.user_id), id: String(row.id) };
}

function turnOf(app: string, row: Row, deaths: number): UnattendedTurn {
  const agent = textOfColumn(String(row.agent));
  return { key: keyOf(app, row), agent, lastSeq: Number(row.last_seq), wasTaken: deaths > 0, deaths };
}
