import type { SqlDialect } from '../statements/index.ts';
import { codeOf, isNetwork, troubleError, versionTable } from '../statements/index.ts';
import { postgresSteps } from './postgres-schema.ts';

function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => `$${++count}`);
}

/** Milliseconds since a connection has begun or ended a statement, by the clock of the database. */
const SILENT = 'CAST(EXTRACT(EPOCH FROM clock_timestamp() - a.state_change) * 1000 AS bigint)';

/** Read committed: the update that begins each write waits for the row, then sees it as it is. */
export const postgres: SqlDialect = {
  name: 'postgres',
  returning: true,
  forUpdate: '',
  begin: { write: 'BEGIN ISOLATION LEVEL READ COMMITTED' },
  rowsPerInsert: 64,
  rowsPerCopy: 256,
  timeValue: 'CAST(? AS timestamp)',
  textValue: 'CAST(? AS varchar)',
  clock: 'CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint)',
  time: (column) => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.US')`,
  onConflict: (keys, changes) => `ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${changes.join(', ')}`,
  excluded: (column) => `excluded.${column}`,
  boolean: (value) => value,
  contains: (column) => `strpos(${column}, CAST(? AS text)) > 0`,
  text: numbered,
  isDuplicate: (thrown) => codeOf(thrown) === '23505' && /_pkey$/.test(constraintOf(thrown)),
  isCollision: (thrown) => codeOf(thrown) === '40001' || codeOf(thrown) === '40P01',
  isLost: (thrown) => troubleOf(thrown) === 'away',
  error: (thrown, store) => troubleError(troubleOf(thrown), thrown, store),
  schema: {
    steps: postgresSteps,
    ...versionTable('current_schema()'),
    lock: {
      take: `SELECT pg_advisory_lock(hashtext('coxswain.migrate'))`,
      free: `SELECT pg_advisory_unlock(hashtext('coxswain.migrate'))`,
    },
  },
  locks: {
    // A client whose machine has gone without a word is given up after a minute, not after hours.
    prepare: [
      'SET idle_session_timeout = 0',
      'SET tcp_keepalives_idle = 30',
      'SET tcp_keepalives_interval = 10',
      'SET tcp_keepalives_count = 3',
    ],
    take: 'SELECT CASE WHEN pg_try_advisory_lock(CAST(? AS bigint)) THEN 1 ELSE 0 END AS taken',
    free: 'SELECT pg_advisory_unlock(CAST(? AS bigint))',
    // A lock's number stands in two columns, its upper half and its lower.
    held: `SELECT count(*) AS taken FROM pg_locks l, (SELECT CAST(? AS bigint) AS name) n
      WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND (CAST(l.classid AS bigint) << 32 | CAST(l.objid AS bigint)) = n.name`,
    silent: {
      all: `SELECT CAST(CAST(l.classid AS bigint) << 32 | CAST(l.objid AS bigint) AS text) AS name, l.pid, ${SILENT} AS silent
        FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      cut: `SELECT pg_terminate_backend(a.pid) AS done FROM pg_stat_activity a
        WHERE a.pid = CAST(? AS integer) AND a.datname = current_database() AND ${SILENT} > CAST(? AS bigint)`,
      free: `SELECT pg_terminate_backend(a.pid) AS done FROM pg_stat_activity a
        WHERE a.datname = current_database() AND a.usename = current_user AND a.pid <> pg_backend_pid()
          AND a.state LIKE 'idle in transaction%' AND a.application_name <> ''
          AND a.application_name = current_setting('application_name') AND ${SILENT} > CAST(? AS bigint)`,
    },
    scope: `SELECT current_database() || '.' || current_schema() AS scope`,
    name: (digest) => String(new DataView(digest.buffer, digest.byteOffset).getBigInt64(0)),
  },
};

function constraintOf(thrown: unknown): string {
  return String((thrown as { constraint?: unknown }).constraint ?? '');
}

// https://www.postgresql.org/docs/current/errcodes-appendix.html
function troubleOf(thrown: unknown): Parameters<typeof troubleError>[0] {
  const code = codeOf(thrown);
  if (code === '53100') return 'full';
  if (code === '25006' || code === '42501') return 'read-only';
  if (code.startsWith('08') || /^(57P0[1-5]|25P03)$/.test(code) || isNetwork(thrown)) return 'away';
  if (code.startsWith('53') || /^(55P03|57014|40001|40P01)$/.test(code)) return 'busy';
  if (code.startsWith('28') || /^(3D000|3F000|42P01|42703)$/.test(code)) return 'refused';
  if (code === '54000' || code === '54001') return 'too large';
  // The driver has no codes for these.
  return /Connection terminated|not queryable|timeout exceeded|discarded/i.test(String(thrown)) ? 'away' : 'other';
}
