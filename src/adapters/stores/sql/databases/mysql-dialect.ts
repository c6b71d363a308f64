import type { SqlDialect } from '../statements/index.ts';
import { codeOf, isNetwork, one, troubleError, versionTable } from '../statements/index.ts';
import { mysqlSteps } from './mysql-schema.ts';

/**
 * MySQL and MariaDB. Reads of what a transaction has locked are locking reads, which see the newest version under
 * every isolation level.
 */
export const mysql: SqlDialect = {
  name: 'mysql',
  returning: false,
  forUpdate: ' FOR UPDATE',
  begin: { write: 'BEGIN' },
  rowsPerInsert: 64,
  rowsPerCopy: 256,
  timeValue: 'CAST(? AS datetime(6))',
  textValue: '?',
  clock: 'CAST(UNIX_TIMESTAMP(CURRENT_TIMESTAMP(3)) * 1000 AS SIGNED)',
  time: (column) => `date_format(${column}, '%Y-%m-%dT%H:%i:%s.%f')`,
  onConflict: (_, changes) => `ON DUPLICATE KEY UPDATE ${changes.join(', ')}`,
  excluded: (column) => `VALUES(${column})`,
  boolean: (value) => Number(value),
  contains: (column) => `instr(${column}, ?) > 0`,
  text: (sql) => sql,
  isDuplicate: (thrown) => errno(thrown) === 1062 && /PRIMARY'?$/.test(String((thrown as Error).message)),
  isCollision: (thrown) => errno(thrown) === 1213 || errno(thrown) === 1020,
  isLost: (thrown) => troubleOf(thrown) === 'away',
  error: (thrown, store) => troubleError(troubleOf(thrown), thrown, store),
  *fault() {
    const mode = String((yield* one('SELECT @@SESSION.sql_mode AS mode', []))?.mode ?? '');
    const strict = /STRICT_(TRANS|ALL)_TABLES/.test(mode);
    // Drivers escape with backslashes: without them a text could end its own quotes.
    if (strict && !mode.includes('NO_BACKSLASH_ESCAPES')) return undefined;
    return `its connections have sql_mode '${mode}': run "${mysqlSession[0]}" on each that you open`;
  },
  schema: {
    steps: mysqlSteps,
    ...versionTable('database()'),
    lock: {
      take: `SELECT get_lock(concat('coxswain.migrate.', left(sha1(database()), 16)), 60)`,
      free: `SELECT release_lock(concat('coxswain.migrate.', left(sha1(database()), 16)))`,
    },
  },
  locks: {
    prepare: ['SET SESSION wait_timeout = 31536000'],
    take: 'SELECT get_lock(?, 0) AS taken',
    free: 'SELECT release_lock(?)',
    held: 'SELECT is_used_lock(?) IS NOT NULL AS taken',
    scope: 'SELECT database() AS scope',
    name: (digest) => `coxswain.${Buffer.from(digest).toString('base64url')}`,
  },
};

/** What every connection that this package opens is set to: nothing is cut off silently, no locks on gaps. */
export const mysqlSession = [
  "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'",
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
];

function errno(thrown: unknown): number {
  return Number((thrown as { errno?: unknown } | null)?.errno ?? 0);
}

// https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html and MariaDB's own from 1900.
const troubles: readonly [Parameters<typeof troubleError>[0], readonly number[]][] = [
  ['full', [3, 28, 1021, 1114, 1026]],
  ['read-only', [1290, 1792, 1836, 1142, 1143, 1227, 1036]],
  ['away', [1053, 1077, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 4031]],
  ['busy', [1040, 1203, 1205, 1206, 1213, 1020, 1226, 1317, 1969]],
  ['refused', [1044, 1045, 1049, 1054, 1146, 1698, 1251]],
  ['too large', [1153, 1301, 1406]],
];

function troubleOf(thrown: unknown): Parameters<typeof troubleError>[0] {
  const number = errno(thrown);
  for (const [trouble, numbers] of troubles) if (numbers.includes(number)) return trouble;
  const code = codeOf(thrown);
  if (code.startsWith('PROTOCOL_') || isNetwork(thrown)) return 'away';
  return /closed state|Pool is closed|is closed/i.test(String(thrown)) ? 'away' : 'other';
}
