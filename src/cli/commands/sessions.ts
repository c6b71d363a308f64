import { endData, project, projectEnd } from '../../adapters/adk/index.ts';
import type { AgentEvent, SessionSummary } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import type { SessionKey } from '../../runtime/index.ts';
import { effectiveEvents, Fold } from '../../runtime/index.ts';
import { clean, EXIT, oneLine, Screen } from '../terminal/index.ts';
import { JsonView, TextView } from '../view/index.ts';
import type { Store, StoreFlags } from '../workspace/index.ts';
import { openWorkspaceStore } from '../workspace/index.ts';

interface ShowFlags extends StoreFlags {
  json?: true;
}

export interface ListFlags extends ShowFlags {
  limit?: number;
  after?: string;
  /** The user whose sessions were asked for; absent: everybody's. */
  only?: string;
}

/** Sessions that are asked of the store at a time. */
const PAGE = 200;

/** `coxswain sessions list`: those of the app, or of one of its users, newest first. */
export async function listSessions(flags: ListFlags): Promise<number> {
  return withStore(flags, async (store) => {
    let left = flags.limit ?? Number.POSITIVE_INFINITY;
    let { after } = flags;
    for (let count = 0; left > 0; ) {
      const limit = Math.min(PAGE, left);
      const scope = { app: flags.app, ...(flags.only === undefined ? {} : { userId: flags.only }) };
      const page = await store.sessions.list(scope, after === undefined ? { limit } : { limit, after });
      for (const session of page) process.stdout.write(flags.json ? `${JSON.stringify(session)}\n` : line(session));
      count += page.length;
      left -= page.length;
      const last = page.at(-1);
      if (last) after = `${last.userId}/${last.id}`;
      const whose = flags.only === undefined ? '' : ` of user ${clean(flags.only)}`;
      if (count === 0 && !flags.json) process.stderr.write(`there are no sessions${whose} in ${store.url}\n`);
      if (page.length < limit) return EXIT.done;
    }
    if (after !== undefined) process.stderr.write(`more, if there are any: --after ${after}\n`);
    return EXIT.done;
  });
}

function line({ id, userId, updatedAt, length, pending, unfinished, title }: SessionSummary): string {
  const open = pending > 0 ? `, ${pending} open` : unfinished ? ', unfinished' : '';
  const name = title === undefined ? '' : `  ${oneLine(title, 60)}`;
  return `${id}  ${updatedAt}  ${clean(userId)}  ${length} events${open}${name}\n`;
}

/** `coxswain sessions show`: what was said and done. */
export async function showSession(id: string, flags: ShowFlags): Promise<number> {
  return withStore(flags, async (store) => {
    const key = { app: flags.app, userId: flags.user, id };
    const record = await store.sessions.get(key);
    if (!record) throw missing(key, store);
    const view = flags.json ? new JsonView({ all: false }) : new TextView(new Screen(), { showsUser: true });
    // What was taken back is not shown; an export has it.
    const fold = new Fold(record.initialState, {});
    for (const event of effectiveEvents(record.events)) {
      fold.apply(event);
      const shown: AgentEvent[] = project(id, event);
      if (event.actions.end) shown.push(projectEnd(id, event, shown.length, endData(fold, [], event)));
      for (const item of shown) await view.event(item);
    }
    const open = await store.sessions.openCalls(key);
    for (const { callId, name } of open) process.stderr.write(`open: ${clean(name)} ${callId}\n`);
    return EXIT.done;
  });
}

/** `coxswain sessions delete`: refuses one that is running. */
export async function deleteSessions(ids: readonly string[], flags: StoreFlags): Promise<number> {
  return withStore(flags, async (store) => {
    for (const id of ids) {
      const key = { app: flags.app, userId: flags.user, id };
      try {
        await store.sessions.acquire(key);
      } catch (error) {
        if (isCoxswainError(error) && error.code === 'E_SESSION_NOT_FOUND') throw missing(key, store);
        throw error;
      }
      await store.sessions.delete(key);
      process.stderr.write(`deleted ${id}\n`);
    }
    return EXIT.done;
  });
}

export async function withStore<T>(flags: StoreFlags, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openWorkspaceStore(flags.store);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

export function missing({ app, userId, id }: SessionKey, store: Store): CoxswainError {
  return new CoxswainError(
    'NOT_FOUND',
    'E_SESSION_NOT_FOUND',
    `${store.url} has no session ${id} of user ${userId} in app ${app}; "coxswain sessions list" shows what is there`,
  );
}
