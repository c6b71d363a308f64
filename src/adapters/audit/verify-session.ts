import { canonicalJson, isCoxswainError, messageOf } from '../../contracts/index.ts';
import type {
  AlteredRow,
  ChainFault,
  ChainHead,
  SessionKey,
  SessionRecord,
  SessionService,
  StoredEvent,
} from '../../runtime/index.ts';
import { foldState, sessionService, splitDelta, storeRefusal, titleChange, verifyLog } from '../../runtime/index.ts';
import type { Check } from '../../session/index.ts';
import { checkIs, checkOptions, count, name, object } from '../../session/index.ts';
import type { AuditReport } from './report.ts';

/**
 * Checks the stored log of a session. `anchor`: the head of an earlier export, which the log must still hold; without
 * one, a person who may write to the database can write a whole new chain.
 * @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND`
 * @example
 * ```ts
 * import { verifySession } from 'coxswain/audit';
 * import { openSqlite } from 'coxswain/stores/sqlite';
 *
 * const { ok, faults } = await verifySession(openSqlite('shop.db'), { app: 'shop', userId: 'anna', id: 'order-7' });
 * console.log(ok, faults);
 * ```
 */
export async function verifySession(
  service: SessionService,
  key: SessionKey,
  options: { anchor?: ChainHead } = {},
): Promise<AuditReport> {
  checkIs(service, 'verifySession: service', sessionService);
  checkOptions<typeof options>(options, 'verifySession: options', { anchor: anchorCheck });
  const { events, lastSeq, unreadable, record } = await readLog(service, key);
  const { faults, ...report } = verifyLog(events, { ...options, lastSeq });
  const known = new Set(unreadable.map(({ seq }) => seq));
  const others = faults.filter(({ fault, seq }) => fault !== 'missing' || !known.has(seq));
  const named = new Set([...unreadable, ...faults].map(({ seq }) => seq));
  const altered = ((await service.altered?.(key)) ?? []).filter(({ seq }) => !named.has(seq)).map(alteration);
  const ofLog = [...unreadable, ...others, ...altered].sort((a, b) => a.seq - b.seq);
  const all = ofLog.length > 0 || !record ? ofLog : faultsOfSession(record);
  return { ...report, ok: report.ok && all.length === 0, faults: all, redacted: 0 };
}

const anchorCheck: Check = {
  needs: 'the head of an export: {seq, hash}',
  fits: (value) => object.fits(value) && count.fits((value as ChainHead).seq) && name.fits((value as ChainHead).hash),
};

/** What is read of it has not changed. */
function alteration({ seq, column }: AlteredRow): ChainFault {
  const message =
    column === 'last_seq'
      ? `event ${seq} stands behind the end that the session's last_seq names`
      : `the ${column} of event ${seq} is not as it was written`;
  return { seq, fault: 'changed', message };
}

/** What stands beside a log that nobody touched is what the log comes to. */
function faultsOfSession(record: SessionRecord): ChainFault[] {
  const { events, lastSeq, initialState, state, title } = record;
  const fault = (what: string): ChainFault => ({
    seq: lastSeq,
    fault: 'changed',
    message: `the ${what} of the session is not what its log comes to`,
  });
  const own = { ...initialState };
  foldState(own, events);
  const { session } = splitDelta(state);
  const said = titleChange(events);
  return [
    ...(canonicalJson(own) === canonicalJson(session) ? [] : [fault('state')]),
    ...(said === undefined || (said ?? undefined) === title ? [] : [fault('title')]),
  ];
}

interface Log {
  /** All of it, where it can be read at once. */
  record: SessionRecord | undefined;
  events: readonly StoredEvent[];
  lastSeq: number;
  unreadable: ChainFault[];
}

/** The whole log; where it cannot be read at once, event by event, so that the broken ones can be named. */
async function readLog(service: SessionService, key: SessionKey): Promise<Log> {
  const empty = await service.get(key, { limit: 0 });
  if (!empty) throw storeRefusal.missing(key);
  const { lastSeq } = empty;
  try {
    const record = await service.get(key);
    return { record, events: record?.events ?? [], lastSeq, unreadable: [] };
  } catch (error) {
    if (!isCoxswainError(error) || error.status !== 'DATA_LOSS') throw error;
    return readSingly(service, key, lastSeq);
  }
}

async function readSingly(service: SessionService, key: SessionKey, lastSeq: number): Promise<Log> {
  const events: StoredEvent[] = [];
  const unreadable: ChainFault[] = [];
  for (let after = 0; after < lastSeq; after++) {
    try {
      const record = await service.get(key, { after, limit: 1 });
      events.push(...(record?.events ?? []));
    } catch (error) {
      if (!isCoxswainError(error) || error.status !== 'DATA_LOSS') throw error;
      // A row that is not there is named with the others that are missing.
      if (error.cause === undefined) continue;
      const message = `event ${after + 1} cannot be read: ${messageOf(error)}`;
      unreadable.push({ seq: after + 1, fault: 'unreadable', message });
    }
  }
  return { record: undefined, events, lastSeq, unreadable };
}
