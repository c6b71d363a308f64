import type { Kysely } from 'kysely';
import { CoxswainError } from '../../../contracts/index.ts';
import { wholeNumber } from '../../../runtime/index.ts';
import { mysql, postgres, sqlite } from './databases/index.ts';
import { KyselyEngine, loadKysely } from './kysely/index.ts';
import { migrateFile, openSqlite } from './open-sqlite.ts';
import type { SqlOptions } from './options.ts';
import { oneConnection, SqlSessionService } from './services/index.ts';
import { sqlitePath } from './sqlite-file/index.ts';
import type { SqlDialect } from './statements/index.ts';
import { databaseTime } from './statements/index.ts';
import { checkSql } from './store-shape.ts';

/** One holds the locks of running sessions. */
const MIN_CONNECTIONS = 2;

const dialects = { sqlite, postgres, mysql };

/**
 * A session store in an SQL database: `postgres:`, `mysql:` or `mariadb:` URL, `sqlite:PATH`, or a Kysely of the
 * caller's own, which stays the caller's to close and needs at least two connections, or SQLite.
 *
 * With a `pg` pool of your own, listen to `error` on its clients: a lost connection ends the process otherwise.
 * @throws CoxswainError `INVALID_ARGUMENT / E_STORE_URL`, `FAILED_PRECONDITION / E_STORE` (a package is missing, no
 *   such database, tables of a newer release), `UNAVAILABLE / E_STORE`
 * @example
 * ```ts
 * import { openSql } from 'coxswain/stores/sql';
 *
 * const store = await openSql('postgres://127.0.0.1/shop');
 * console.log(await store.list({ app: 'shop', userId: 'anna' }));
 * await store.close();
 * ```
 */
export async function openSql<DB>(target: string | Kysely<DB>, options: SqlOptions = {}): Promise<SqlSessionService> {
  checkSql(target, options);
  if (typeof target === 'string' && /^sqlite:/i.test(target))
    return openSqlite(sqlitePath(target), options.host === undefined ? {} : { host: options.host });
  const engine = await openEngine(target, options);
  try {
    if (typeof target !== 'string') await engine.checkSettings();
    if (options.migrate !== false) await engine.migrate();
    else await engine.check();
    await databaseTime(engine);
    return new SqlSessionService(engine, options);
  } catch (error) {
    await engine.close().catch(() => {});
    throw error;
  }
}

/**
 * Brings the tables of a database up to date, or back to `target`; 0 drops them with all that is in them.
 * @throws CoxswainError as {@link openSql}, `INVALID_ARGUMENT / E_BAD_INPUT` for a version that is not known
 */
export async function migrateSql<DB>(
  database: string | Kysely<DB>,
  options: Pick<SqlOptions, 'dialect'> & { target?: number } = {},
): Promise<{ from: number; to: number }> {
  checkSql(database, options as SqlOptions & { target?: number });
  wholeNumber('target', options.target);
  if (typeof database === 'string' && /^sqlite:/i.test(database)) {
    return migrateFile(sqlitePath(database), options.target);
  }
  const engine = await openEngine(database, { ...options, maxConnections: MIN_CONNECTIONS });
  try {
    return await engine.migrate(options.target);
  } finally {
    await engine.close();
  }
}

async function openEngine<DB>(target: string | Kysely<DB>, options: SqlOptions): Promise<KyselyEngine> {
  const { CompiledQuery } = await loadKysely(['kysely']);
  const given = typeof target !== 'string';
  const dialect = given ? dialects[options.dialect ?? dialectOf(target)] : dialectOfUrl(target);
  const connections = wholeNumber('maxConnections', options.maxConnections) ?? 10;
  if (!given && connections < MIN_CONNECTIONS && options.locks === undefined)
    throw oneConnection(withoutSecrets(target));
  const open = async (url: string, max: number) => {
    const lazy =
      dialectOfUrl(url) === postgres ? import('./kysely/open-postgres.ts') : import('./kysely/open-mysql.ts');
    const module = await lazy;
    return 'openPostgres' in module ? module.openPostgres(url, max) : module.openMysql(url, max);
  };
  const database = given ? (target as unknown as Kysely<unknown>) : await open(target, connections);
  const locks = typeof options.locks === 'string' ? await open(options.locks, 1) : options.locks;
  return new KyselyEngine(database, {
    dialect,
    store: given ? dialect.name : withoutSecrets(target),
    raw: CompiledQuery.raw,
    owned: !given,
    ...(locks && { locks, locksOwned: typeof options.locks === 'string' }),
  });
}

function dialectOf<DB>(database: Kysely<DB>): SqlDialect['name'] {
  const name = database.getExecutor().adapter.constructor.name;
  if (/sqlite/i.test(name)) return 'sqlite';
  if (/postgres/i.test(name)) return 'postgres';
  if (/mysql|maria/i.test(name)) return 'mysql';
  throw new CoxswainError(
    'INVALID_ARGUMENT',
    'E_STORE_URL',
    `the database behind this Kysely is not known (${name}): give the option dialect: 'sqlite', 'postgres' or 'mysql'`,
  );
}

function dialectOfUrl(url: string): SqlDialect {
  const scheme = URL.canParse(url) ? new URL(url).protocol : '';
  if (scheme === 'postgres:' || scheme === 'postgresql:') return postgres;
  if (scheme === 'mysql:' || scheme === 'mariadb:') return mysql;
  throw new CoxswainError(
    'INVALID_ARGUMENT',
    'E_STORE_URL',
    `${JSON.stringify(scheme || 'this')} is no URL of an SQL database: give postgres://user@host/database, ` +
      'mysql://user@host/database or sqlite:PATH',
  );
}

function withoutSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
