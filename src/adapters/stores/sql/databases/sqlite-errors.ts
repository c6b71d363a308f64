import { CoxswainError, isCoxswainError, messageOf } from '../../../../contracts/index.ts';
import { DuplicateEvent } from '../statements/index.ts';

const BUSY = 5;
const LOCKED = 6;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/** As other drivers name them. */
const named: Readonly<Record<string, number>> = {
  SQLITE_BUSY: BUSY,
  SQLITE_LOCKED: LOCKED,
  SQLITE_READONLY: READ_ONLY,
  SQLITE_CORRUPT: CORRUPT,
  SQLITE_FULL: FULL,
  SQLITE_CANTOPEN: CANNOT_OPEN,
  SQLITE_NOTADB: NOT_A_DATABASE,
  SQLITE_CONSTRAINT_PRIMARYKEY: 1555,
};

/** SQLite's extended result code, or undefined for what does not come from SQLite. */
export function resultCode(thrown: unknown): number | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  if ('errcode' in thrown && typeof thrown.errcode === 'number') return thrown.errcode;
  const code: unknown = 'code' in thrown ? thrown.code : undefined;
  if (typeof code !== 'string' || !code.startsWith('SQLITE_')) return undefined;
  return named[code] ?? named[code.split('_', 2).join('_')];
}

/** Another connection is in the way. */
export function isBusy(thrown: unknown): boolean {
  return ((resultCode(thrown) ?? 0) & 0xff) === BUSY;
}

/** What SQLite raised, as the error that callers of this package expect; everything else as it is. */
export function storeError(thrown: unknown, path: string): unknown {
  if (isCoxswainError(thrown) || thrown instanceof DuplicateEvent) return thrown;
  const code = resultCode(thrown);
  if (code === undefined) {
    return new CoxswainError('INTERNAL', 'E_STORE', `session store ${path}: ${messageOf(thrown)}`, { cause: thrown });
  }
  const options = { cause: thrown, details: { path, sqlite: code } };
  const said = messageOf(thrown);
  switch (code & 0xff) {
    case FULL:
      return new CoxswainError(
        'RESOURCE_EXHAUSTED',
        'E_STORE_FULL',
        `session store ${path} is full (${said}): free space, then repeat; nothing of this write was stored`,
        options,
      );
    case READ_ONLY:
      return new CoxswainError(
        'FAILED_PRECONDITION',
        'E_STORE_READ_ONLY',
        `session store ${path} is read-only (${said}): give this process the right to write it and its folder`,
        options,
      );
    case BUSY:
    case LOCKED:
      return new CoxswainError(
        'UNAVAILABLE',
        'E_STORE',
        `session store ${path} is locked by another process (${said}): repeat, or raise busyTimeout`,
        { ...options, retryable: true },
      );
    case IO_ERROR:
      return new CoxswainError(
        'INTERNAL',
        'E_STORE',
        `session store ${path} cannot be read or written (${said}): look at the disk, its quota and the file size limit`,
        options,
      );
    case NOT_A_DATABASE:
      return new CoxswainError(
        'FAILED_PRECONDITION',
        'E_STORE',
        `${path} is not a SQLite database: give the path of a session store, or of a file to be made`,
        options,
      );
    case CORRUPT:
      return new CoxswainError(
        'DATA_LOSS',
        'E_STORE',
        `session store ${path} is damaged (${said}): restore a backup, or save what "sqlite3 ${path} .recover" finds`,
        options,
      );
    case CANNOT_OPEN:
      return new CoxswainError(
        'FAILED_PRECONDITION',
        'E_STORE',
        `session store ${path} cannot be opened (${said}): check that it is a file and may be read and written`,
        options,
      );
    default:
      return new CoxswainError('INTERNAL', 'E_STORE', `session store ${path}: ${said}`, options);
  }
}
