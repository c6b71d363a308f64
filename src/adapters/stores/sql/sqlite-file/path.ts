import { CoxswainError } from '../../../../contracts/index.ts';

/** Of `sqlite:app.db`, `sqlite:/srv/app.db`, `sqlite:///srv/app.db`, `sqlite::memory:`. */
export function sqlitePath(url: string): string {
  const path = url.replace(/^sqlite:(?:\/\/)?/i, '');
  if (path !== '') return path;
  const message = 'sqlite: needs a path: sqlite:sessions.db, or sqlite::memory:';
  throw new CoxswainError('INVALID_ARGUMENT', 'E_STORE_URL', message);
}
