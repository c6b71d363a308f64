import type { AgentEvent } from '../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../contracts/index.ts';
import { project, projectEnd } from '../index.ts';
import type { SessionKey } from '../runtime/index.ts';
import { EXIT } from './exit-code.ts';
import type { StoreFlags } from './flags.ts';
import { Screen } from './screen.ts';
import type { Store } from './store.ts';
import { openStore } from './store.ts';
import { clean, oneLine } from './text.ts';
import { TextView } from './text-view.ts';
import { JsonView } from './view.ts';

interface ListFlags extends StoreFlags {
  json?: true;
}

/** `coxswain sessions list`: those of the app, newest first. */
export async function listSessions(flags: ListFlags): Promise<number> {
  return withStore(flags, async (store) => {
    const sessions = await store.sessions.list({ app: flags.app });
    if (flags.json) {
      for (const session of sessions) process.stdout.write(`${JSON.stringify(session)}\n`);
      return EXIT.done;
    }
    if (sessions.length === 0) process.stderr.write(`there are no sessions in ${store.url}\n`);
    for (const { id, userId, updatedAt, length, pending, title } of sessions) {
      const open = pending > 0 ? `, ${pending} open` : '';
      const name = title === undefined ? '' : `  ${oneLine(title, 60)}`;
      process.stdout.write(`${id}  ${updatedAt}  ${clean(userId)}  ${length} events${open}${name}\n`);
    }
    return EXIT.done;
  });
}

/** `coxswain sessions show`: what was said and done. */
export async function showSession(id: string, flags: ListFlags): Promise<number> {
  return withStore(flags, async (store) => {
    const key = { app: flags.app, userId: flags.user, id };
    const record = await store.sessions.get(key);
    if (!record) throw missing(key, store);
    const view = flags.json ? new JsonView({ all: false }) : new TextView(new Screen(), { showsUser: true });
    for (const event of record.events) {
      const shown: AgentEvent[] = project(id, event);
      if (event.actions.end) shown.push(projectEnd(id, event, shown.length, {}));
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

async function withStore<T>(flags: StoreFlags, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(flags.store);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function missing({ app, userId, id }: SessionKey, store: Store): CoxswainError {
  return new CoxswainError(
    'NOT_FOUND',
    'E_SESSION_NOT_FOUND',
    `${store.url} has no session ${id} of user ${userId} in app ${app}; "coxswain sessions list" shows what is there`,
  );
}
