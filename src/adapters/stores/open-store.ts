import { CoxswainError } from '../../contracts/index.ts';
import type { SessionService } from '../../runtime/index.ts';
import { InMemorySessionService } from '../../runtime/index.ts';
import { checkIs, text } from '../../session/index.ts';
import { sqlitePath } from './sql/sqlite-file/index.ts';

const forms = 'memory:, sqlite:PATH, postgres://user@host/database, mysql://user@host/database, mariadb://…';

/**
 * The session store that a URL names; only what it needs is loaded.
 * @throws CoxswainError `INVALID_ARGUMENT / E_STORE_URL`, `FAILED_PRECONDITION / E_STORE` (a package is missing,
 *   cannot be opened, a newer schema), `UNAVAILABLE / E_STORE`
 * @example
 * ```ts
 * import { openStore } from 'coxswain/stores';
 *
 * const store = await openStore(process.env.DATABASE_URL ?? 'sqlite:shop.db');
 * console.log(await store.list({ app: 'shop', userId: 'anna' }));
 * ```
 */
export async function openStore(url: string): Promise<SessionService> {
  checkIs(url, 'openStore: url', text);
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  switch (scheme) {
    case 'memory':
      return new InMemorySessionService();
    case 'sqlite': {
      const { openSqlite } = await import('./sql/open-sqlite.ts');
      return openSqlite(sqlitePath(url));
    }
    case 'postgres':
    case 'postgresql':
    case 'mysql':
    case 'mariadb': {
      const { openSql } = await import('./sql/open.ts');
      return openSql(url);
    }
  }
  throw new CoxswainError(
    'INVALID_ARGUMENT',
    'E_STORE_URL',
    // Not the URL itself: it may hold a password.
    `${scheme === undefined ? 'the store is no URL' : `a store of kind ${scheme}: is not known`}: give one of ${forms}`,
  );
}
