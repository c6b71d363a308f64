import { CoxswainError } from '../../contracts/index.ts';
import type { Event, EventActions, SessionKey, SessionRecord, SessionService } from '../../runtime/index.ts';
import { newId, storeRefusal } from '../../runtime/index.ts';

export { effectiveEvents, type Rewound, rewoundBy } from '../../runtime/index.ts';
export { rewind, turnStarts } from './rewind.ts';

/** A session as it was elsewhere. */
export interface RestoredSession {
  title?: string;
  /** Own keys only, no prefix. */
  initialState: Readonly<Record<string, unknown>>;
  /** All of the log, from seq 1. */
  events: readonly Event[];
}

/** What a store can do beside its sessions' daily work. */
export interface SessionMaintenance {
  /**
   * Adds a session with a whole log. Shared state stays as it is, whatever the log did to it.
   * @throws CoxswainError `ALREADY_EXISTS / E_SESSION_EXISTS`
   */
  restore(key: SessionKey, session: RestoredSession): Promise<SessionRecord>;
  /** Makes the index of open calls anew from the log: of one session, or of all. The number of sessions. */
  rebuildOpenCalls(key?: SessionKey): Promise<number>;
  /**
   * Deletes sessions that were last written to before a time; with `keepPending`, only those without open calls.
   * Shared state stays. The number of sessions that are gone.
   */
  deleteOlderThan(
    scope: { app?: string; userId?: string },
    time: Date | number,
    options?: { keepPending?: boolean },
  ): Promise<number>;
}

export function hasMaintenance<S extends SessionService>(service: S): service is S & SessionMaintenance {
  return 'restore' in service && 'rebuildOpenCalls' in service && 'deleteOlderThan' in service;
}

const FORMAT = 'coxswain.session';
const VERSION = 1;
const PAGE = 500;

interface Header {
  format: typeof FORMAT;
  version: number;
  key: SessionKey;
  title?: string;
  initialState: Record<string, unknown>;
  createdAt: number;
  lastSeq: number;
}

/**
 * A session as lines of JSON, without line ends: one with its name, title and initial state, then one for each event.
 * Shared state belongs to its app and user and is not part of it.
 * @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND`
 */
export async function* exportSession(service: SessionService, key: SessionKey): AsyncGenerator<string, void, void> {
  const record = await service.get(key, { limit: 0 });
  if (!record) throw storeRefusal.missing(key);
  const { title, initialState, createdAt, lastSeq } = record;
  const header: Header = {
    format: FORMAT,
    version: VERSION,
    key: record.key,
    ...(title !== undefined && { title }),
    initialState,
    createdAt,
    lastSeq,
  };
  yield JSON.stringify(header);
  for (let after = 0; after < lastSeq; after += PAGE) {
    const page = await service.get(key, { after, limit: Math.min(PAGE, lastSeq - after) });
    if (page?.createdAt !== createdAt) throw storeRefusal.missing(key);
    for (const event of page.events) yield JSON.stringify(event);
  }
}

/**
 * Adds a session that was exported, under a name of its own (default: a new id). Its open calls are open again, so
 * whoever copies a session within one database should abort one of the two.
 *
 * A store without {@link SessionMaintenance} applies what the log did to shared state once more.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` (no export, or not all of it), `ALREADY_EXISTS /
 *   E_SESSION_EXISTS`
 */
export async function importSession(
  service: SessionService,
  scope: { app: string; userId: string; id?: string },
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<SessionRecord> {
  let header: Header | undefined;
  const events: Event[] = [];
  let line = 0;
  for await (const text of lines) {
    line += 1;
    if (text.trim() === '') continue;
    const value = parseLine(text, line);
    if (!header) header = asHeader(value);
    else events.push(asEvent(value, events.length + 1, line));
  }
  if (!header) throw refuseImport('it is empty');
  if (events.length !== header.lastSeq) throw refuseImport(`it has ${events.length} of ${header.lastSeq} events`);
  const key = { app: scope.app, userId: scope.userId, id: scope.id ?? newId() };
  const { title, initialState } = header;
  const named = title === undefined ? {} : { title };
  if (hasMaintenance(service)) return service.restore(key, { ...named, initialState, events });
  await service.create(key, { state: initialState, ...named });
  if (events.length > 0) await service.append(key, events);
  const record = await service.get(key, { limit: 0 });
  if (!record) throw storeRefusal.missing(key);
  return record;
}

function parseLine(text: string, line: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw refuseImport(`line ${line} is no JSON object`);
}

function asHeader(value: Record<string, unknown>): Header {
  if (value.format !== FORMAT) throw refuseImport('its first line is not that of an exported session');
  if (value.version !== VERSION) throw refuseImport(`it has version ${value.version}, this release reads ${VERSION}`);
  if (!Number.isSafeInteger(value.lastSeq) || typeof value.initialState !== 'object' || value.initialState === null) {
    throw refuseImport('its first line is incomplete');
  }
  return value as unknown as Header;
}

function asEvent(value: Record<string, unknown>, seq: number, line: number): Event {
  const whole = typeof value.id === 'string' && typeof value.actions === 'object' && value.actions !== null;
  if (!whole || typeof (value.actions as EventActions).stateDelta !== 'object') {
    throw refuseImport(`line ${line} is no event`);
  }
  if (value.seq !== seq) throw refuseImport(`line ${line} has event ${value.seq} where ${seq} belongs`);
  return value as unknown as Event;
}

function refuseImport(why: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `the session cannot be imported: ${why}`);
}
