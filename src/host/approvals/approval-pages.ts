import type { ReportedRequest } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { OpenApproval, WaitingSession } from './open-sessions.ts';

/** Where a page begins: behind this question of this session. */
interface Place {
  since: number;
  userId: string;
  sessionId: string;
  requestedAt: string;
  requestId: string;
}

/** Opaque to callers: a question that is answered meanwhile has a place still. */
export function approvalCursor({ since = 0, userId, sessionId }: WaitingSession, request: ReportedRequest): string {
  return JSON.stringify([since, userId, sessionId, request.requestedAt, request.requestId]);
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function startOf(cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined;
  try {
    const [since, ...texts] = JSON.parse(cursor) as unknown[];
    const [userId, sessionId, requestedAt, requestId] = texts as string[];
    if (typeof since === 'number' && texts.length === 4 && texts.every((text) => typeof text === 'string')) {
      return { since, userId, sessionId, requestedAt, requestId } as Place;
    }
  } catch {
    // Said below.
  }
  const message = 'approvals: filter.after is no cursor of a listed question; list again from the start';
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}

/** Those that have waited longest come first. */
export function byAge(a: WaitingSession, b: WaitingSession): number {
  return (a.since ?? 0) - (b.since ?? 0) || order(a.userId, b.userId) || order(a.sessionId, b.sessionId);
}

/** All of its questions have been shown. */
export function isBefore(session: WaitingSession, { since, userId, sessionId }: Place): boolean {
  return byAge(session, { agent: '', since, userId, sessionId }) < 0;
}

export function wasShown({ request }: OpenApproval, session: WaitingSession, place: Place): boolean {
  if (session.userId !== place.userId || session.sessionId !== place.sessionId) return false;
  const at = request.requestedAt.localeCompare(place.requestedAt) || order(request.requestId, place.requestId);
  return (session.since ?? 0) === place.since && at <= 0;
}

export const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
