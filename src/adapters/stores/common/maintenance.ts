import { CoxswainError } from '../../../contracts/index.ts';
import type {
  RestoredSession,
  SessionKey,
  SessionRecord,
  SessionService,
  StoredEvent,
} from '../../../runtime/index.ts';
import {
  batchDelta,
  checkScope,
  newId,
  scopeOf,
  sealLog,
  sessionService,
  settling,
  storeRefusal,
} from '../../../runtime/index.ts';
import { checkIs, checkOptions, flag, fn, having, text as isText, iterable, oneOf } from '../../../session/index.ts';
import type { ExportHeader } from './session-lines.ts';
import { headerLine, LineReader, LineWriter } from './session-lines.ts';

export { effectiveEvents, type Rewound, rewoundBy } from '../../../runtime/index.ts';
export { rewind, turnStarts } from './rewind.ts';
export type { RestoredSession };

/** What a store can do beside its sessions' daily work. */
export interface SessionMaintenance {
  /**
   * Adds a session with a whole log. Shared state stays as it is, whatever the log did to it.
   * @throws CoxswainError `ALREADY_EXISTS / E_SESSION_EXISTS`
   */
  restore(key: SessionKey, session: RestoredSession): Promise<SessionRecord>;
  /**
   * Rebuilds the index of open calls from the log, and throws away what was noted of the log's sum: of one session, or
   * of all. The number of sessions.
   */
  rebuildOpenCalls(key?: SessionKey): Promise<number>;
  /**
   * Deletes sessions that were last written to before a time and do not run; with `keepPending`, only those without
   * open calls.
   * Shared state stays. The number of sessions that are gone.
   */
  deleteOlderThan(
    scope: { app?: string; userId?: string },
    time: Date | number,
    options?: { keepPending?: boolean },
  ): Promise<number>;
}

export function hasMaintenance<S extends SessionService>(service: S): service is S & SessionMaintenance {
  try {
    return having('restore', 'rebuildOpenCalls', 'deleteOlderThan').fits(service);
  } catch {
    // A proxy that lets nobody look at it.
    return false;
  }
}

const PAGE = 500;

/**
 * A session as lines of JSON, without line ends: one with its name, title and initial state, then its events. Those that
 * follow one another in one run are a line: what they have in common is said once. Shared state belongs to its app and user and is not part of it.
 * @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND`
 */
export async function* exportSession(service: SessionService, key: SessionKey): AsyncGenerator<string, void, void> {
  checkIs(service, 'exportSession: service', sessionService);
  const record = await service.get(key, { limit: 0 });
  if (!record) throw storeRefusal.missing(key);
  const { title, initialState, createdAt, lastSeq } = record;
  yield headerLine({ key: record.key, ...(title !== undefined && { title }), initialState, createdAt, lastSeq });
  const writer = new LineWriter();
  for (let after = 0; after < lastSeq; after += PAGE) {
    const page = await service.get(key, { after, limit: Math.min(PAGE, lastSeq - after) });
    if (page?.createdAt !== createdAt) throw storeRefusal.missing(key);
    for (const event of page.events) {
      const line = writer.add(event);
      if (line !== undefined) yield line;
    }
  }
  const last = writer.end();
  if (last !== undefined) yield last;
}

export interface ImportOptions {
  /** Without an `id` in the scope: take that of the exported session. Default: make a new one. */
  sameId?: boolean;
  /**
   * `move`: the exported session is gone, or not gone on with; what is open is open again, with the answers that were
   * given. `copy`: it stays; in what is imported all that is open is settled, as in a fork, so that no answer lets a call run
   * in both. Default `move`.
   */
  as?: 'move' | 'copy';
  /** What ends the log, in place of what `as` says: asked before anything is stored, with the session as it is going to be. */
  settle?: (copy: SessionRecord, header: ExportHeader) => readonly StoredEvent[] | Promise<readonly StoredEvent[]>;
}

/**
 * Adds a session that was exported, under a name of its own. It is moved: its open calls are open again, with the answers
 * that were given, so that an approved call runs wherever the lines are imported. Where the exported session stays, or
 * another import is continued, say `as: 'copy'`.
 *
 * All is checked before anything is stored. Shared state stays as it is: a store without `restore` refuses a session
 * whose log wrote any.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` (no export, or not all of it), `ALREADY_EXISTS /
 *   E_SESSION_EXISTS | E_EVENT_EXISTS`, `UNIMPLEMENTED / E_UNSUPPORTED`
 */
export async function importSession(
  service: SessionService,
  scope: { app: string; userId: string; id?: string },
  lines: AsyncIterable<string> | Iterable<string>,
  options: ImportOptions = {},
): Promise<SessionRecord> {
  checkIs(service, 'importSession: service', sessionService);
  checkScope(scope);
  checkIs(lines, 'importSession: lines', iterable);
  checkOptions<ImportOptions>(options, 'importSession: options', {
    sameId: flag,
    as: oneOf('move', 'copy'),
    settle: fn,
  });
  const reader = new LineReader();
  let line = 0;
  const take = (text: string) => {
    line += 1;
    if (typeof text !== 'string') checkIs(text, `importSession: line ${line}`, isText);
    reader.take(text);
  };
  // Lines that are there already are not waited for.
  if (Array.isArray(lines))
    for (const text of lines as readonly string[]) take(typeof text === 'string' ? text : await text);
  else for await (const text of lines) take(text);
  const { header, events } = reader.end();
  const id = scope.id ?? (options.sameId ? header.key.id : newId());
  const key = { app: scope.app, userId: scope.userId, id };
  const { title, initialState, lastSeq } = header;
  const named = title === undefined ? {} : { title };
  const settle = options.settle ?? (options.as === 'copy' ? settling(service) : undefined);
  if (settle) {
    const now = Date.now();
    const place = { key, lastSeq, epoch: 0, createdAt: now, updatedAt: now };
    events.push(
      ...(await settle({ ...place, ...named, initialState, state: initialState, events: [...events] }, header)),
    );
  }
  if (service.restore)
    return service.restore(key, { ...named, initialState, events: settle ? events : sealLog(events) });
  const shared = sharedKey(initialState, events);
  if (shared !== undefined) {
    const message = `the session cannot be imported: its log wrote ${shared}, and this store would write the old value over what is there; give the store a restore()`;
    throw new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', message);
  }
  await service.create(key, { state: initialState, ...named });
  try {
    if (events.length > 0) await service.append(key, events);
  } catch (error) {
    await service.delete(key);
    throw error;
  }
  const record = await service.get(key, { limit: 0 });
  if (!record) throw storeRefusal.missing(key);
  return record;
}

/** A key of the app's or the user's state that creating and appending would write. */
function sharedKey(initialState: Record<string, unknown>, events: readonly StoredEvent[]): string | undefined {
  const { app = {}, user = {} } = batchDelta(events) ?? {};
  const [ofApp] = Object.keys(app);
  const [ofUser] = Object.keys(user);
  if (ofApp !== undefined) return `app:${ofApp}`;
  if (ofUser !== undefined) return `user:${ofUser}`;
  return Object.keys(initialState).find((name) => scopeOf(name) !== 'session');
}
