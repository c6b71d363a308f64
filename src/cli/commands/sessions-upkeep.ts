import { hasMaintenance } from '../../adapters/stores/common/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { clean, EXIT } from '../terminal/index.ts';
import type { StoreFlags } from '../workspace/index.ts';
import { isThere, openKeptStore, shownUrl } from '../workspace/index.ts';

export interface PruneFlags extends StoreFlags {
  /** Milliseconds. */
  olderThan: number;
  allUsers?: true;
  withPending?: true;
  dryRun?: true;
}

/** `coxswain sessions prune`: deletes those that nobody has written to for a time. */
export async function pruneSessions(flags: PruneFlags): Promise<number> {
  const store = await openKeptStore(flags.store);
  try {
    const { sessions } = store;
    if (!hasMaintenance(sessions)) throw unsupported(store.url);
    const scope = { app: flags.app, ...(flags.allUsers ? {} : { userId: flags.user }) };
    const before = Date.now() - flags.olderThan;
    if (flags.dryRun) {
      let count = 0;
      for (const { id, userId, updatedAt, pending } of await sessions.list(scope)) {
        if (Date.parse(updatedAt) >= before || (pending > 0 && !flags.withPending)) continue;
        process.stdout.write(`${id}  ${updatedAt}  ${clean(userId)}\n`);
        count += 1;
      }
      process.stderr.write(`would delete ${counted(count)}\n`);
      return EXIT.done;
    }
    const count = await sessions.deleteOlderThan(scope, before, { keepPending: flags.withPending !== true });
    process.stderr.write(`deleted ${counted(count)}\n`);
    return EXIT.done;
  } finally {
    await store.close();
  }
}

export interface EraseFlags extends StoreFlags {
  yes?: true;
  /** The user was said, and is not the default. */
  isNamed: boolean;
}

/** `coxswain sessions erase`: removes all that the store holds of one user. */
export async function eraseUser(flags: EraseFlags): Promise<number> {
  const what = `all sessions, state, schedules, memory and artifacts of ${clean(flags.user)} in ${clean(flags.app)}`;
  if (!flags.isNamed || !flags.yes) {
    const message = `erase removes ${what} for good: name the user with --user, and add --yes`;
    throw new CoxswainError('INVALID_ARGUMENT', 'E_USAGE', message);
  }
  const store = await openKeptStore(flags.store);
  try {
    const { sessions } = store;
    if (!sessions.eraseUser) throw unsupported(store.url);
    const count = await sessions.eraseUser({ app: flags.app, userId: flags.user });
    process.stderr.write(`erased ${what}: ${counted(count)}\n`);
    return EXIT.done;
  } finally {
    await store.close();
  }
}

/** `coxswain sessions rebuild`: rebuilds the index of open calls from the logs. */
export async function rebuildIndex(id: string | undefined, flags: StoreFlags): Promise<number> {
  const store = await openKeptStore(flags.store);
  try {
    const { sessions } = store;
    if (!hasMaintenance(sessions)) throw unsupported(store.url);
    const key = id === undefined ? undefined : { app: flags.app, userId: flags.user, id };
    const count = await sessions.rebuildOpenCalls(key);
    process.stderr.write(`rebuilt the index of ${counted(count)}\n`);
    return EXIT.done;
  } finally {
    await store.close();
  }
}

export interface MigrateFlags {
  store: string;
  to?: number;
  yes?: true;
}

/** `coxswain store migrate`: brings the tables up to date, or back to a version. */
export async function migrateStore(flags: MigrateFlags): Promise<number> {
  const { migrateSql } = await import('../../adapters/stores/sql/index.ts');
  const { to } = flags;
  if (to !== undefined && !flags.yes) {
    const what = to === 0 ? 'all tables, with all that is in them' : `what versions after ${to} have added`;
    throw new CoxswainError(
      'INVALID_ARGUMENT',
      'E_USAGE',
      `--to ${to} may drop ${what}: add --yes if that is meant, after "coxswain sessions export" of what you need`,
    );
  }
  if (!isThere(flags.store) && to !== undefined) {
    throw new CoxswainError('FAILED_PRECONDITION', 'E_STORE', `there is no store ${flags.store}`);
  }
  const migrated = await migrateSql(flags.store, to === undefined ? {} : { target: to });
  const { from, to: now } = migrated;
  const url = shownUrl(flags.store);
  process.stderr.write(from === now ? `${url} has version ${now} already\n` : `${url}: version ${from} → ${now}\n`);
  return EXIT.done;
}

function counted(count: number): string {
  return count === 1 ? '1 session' : `${count} sessions`;
}

function unsupported(url: string): CoxswainError {
  return new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', `the store ${url} has no upkeep of this kind`);
}
