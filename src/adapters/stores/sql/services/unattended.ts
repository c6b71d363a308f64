import type { SessionKey, UnattendedOptions, UnattendedTurn } from '../../../../runtime/index.ts';
import type { Row, SqlDialect, SqlEngine, Value } from '../statements/index.ts';
import { all, columnTime, textOfColumn } from '../statements/index.ts';
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
    if (typeof owner !== 'string') found.push(turnOf(app, row, false));
    else taken.push({ key: keyOf(app, row), owner, insertedAt: String(row.inserted_at), row });
  }
  for (const { row } of await leases.gone(taken, silentMs)) found.push(turnOf(app, row, true));
  return found;
}

function openTurns(
  dialect: SqlDialect,
  app: string,
  changedSince: number | undefined,
): { sql: string; given: Value[] } {
  const isResting = changedSince === undefined ? '' : ` OR s.updated_at >= ${dialect.timeValue}`;
  return {
    sql: `SELECT s.user_id, s.id, s.owner, ${dialect.time('s.inserted_at')} AS inserted_at, s.last_seq, t.agent
      FROM adk_open_turns t JOIN adk_sessions s ON s.app_name = t.app_name AND s.user_id = t.user_id AND s.id = t.session_id
      WHERE t.app_name = ? AND (s.owner IS NOT NULL${isResting})`,
    given: changedSince === undefined ? [app] : [app, columnTime(changedSince)],
  };
}

function keyOf(app: string, row: Row): SessionKey {
  return { app, userId: String(row.user_id), id: String(row.id) };
}

function turnOf(app: string, row: Row, wasTaken: boolean): UnattendedTurn {
  return { key: keyOf(app, row), agent: textOfColumn(String(row.agent)), lastSeq: Number(row.last_seq), wasTaken };
}
