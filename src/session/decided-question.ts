import { isObject } from '../base/index.ts';
import type { AgentEvent, CallResult, DecidedPage, DecidedQuery, StoredDecision } from '../contracts/index.ts';
import { CoxswainError, isSafeId } from '../contracts/index.ts';

export type { CallResult, DecidedPage, DecidedQuery, DecidedQuestion, StoredDecision } from '../contracts/index.ts';

/** Results of calls whose handler was not begun, by what a host or the runtime closes them with. */
const NOT_RUN: ReadonlySet<unknown> = new Set(['denied', 'cancelled', 'invalid_args', 'not_found']);

export function callResult(isError: boolean | undefined, errorType: string | undefined): CallResult {
  if (isError !== true) return 'succeeded';
  if (NOT_RUN.has(errorType)) return 'not_run';
  return errorType === 'interrupted' ? 'unknown' : 'failed';
}

/** Kind of the event of an answer that decides nothing yet: one of several approvals that a question needs. */
export const VOTE = 'ext:approval_vote';

/** What somebody has said to a question. */
export interface SaidAnswer {
  requestId: string;
  action: string;
  by?: string | undefined;
  /** Of the whole principal; absent: an older executor, which gives the id alone. */
  byName?: string | undefined;
  reason?: string | undefined;
}

/** The answer that an event is, one of several that a question needs too; undefined: it is none. */
export function saidIn(event: AgentEvent): SaidAnswer | undefined {
  if (event.type === 'elicitation_response') return event;
  if (event.type !== 'custom' || event.kind !== VOTE || !isObject(event.data)) return undefined;
  const { requestId, by, byName } = event.data;
  if (typeof requestId !== 'string') return undefined;
  return {
    requestId,
    action: 'accept',
    ...(typeof by === 'string' ? { by } : {}),
    ...(typeof byName === 'string' ? { byName } : {}),
  };
}

/** It is theirs to know, and what is looked for. */
export function fitsDecided(one: StoredDecision, query: Omit<DecidedQuery, 'limit'>): boolean {
  const { users, orBy, userId, agent, tool, action, answeredBy, since, before, search } = query;
  if (users && !users.includes(one.userId) && !(orBy !== undefined && one.answerers.includes(orBy))) return false;
  if (userId !== undefined && one.userId !== userId) return false;
  if (agent !== undefined && one.agent !== agent) return false;
  if (tool !== undefined && one.tool !== tool) return false;
  if (action !== undefined && !(action === 'edit' ? one.edited === true : one.action === action)) return false;
  if (answeredBy !== undefined && !one.people.includes(answeredBy) && !one.answerers.includes(answeredBy)) return false;
  const at = Date.parse(one.at);
  if ((since !== undefined && !(at >= since)) || (before !== undefined && !(at < before))) return false;
  if (search === undefined) return true;
  const words = [one.tool, one.sessionId, one.userId, one.ruleId, ...one.people].join(' ').toLowerCase();
  return words.includes(search.toLowerCase());
}

/** Where one stands among all, the newest first. */
export type DecidedPlace = readonly [at: number, userId: string, sessionId: string, requestId: string];

export function decidedPlace({ at, userId, sessionId, requestId }: Placed): DecidedPlace {
  return [Date.parse(at), userId, sessionId, requestId];
}

type Placed = Pick<StoredDecision, 'at' | 'userId' | 'sessionId' | 'requestId'>;

/** Below 0: `a` comes first. Texts are compared by their bytes, as databases compare them. */
export function orderDecided(a: DecidedPlace, b: DecidedPlace): number {
  if (a[0] !== b[0]) return b[0] - a[0];
  for (let at = 1; at < 4; at++) {
    const order = orderOf(String(b[at]), String(a[at]));
    if (order !== 0) return order;
  }
  return 0;
}

const bytes = new TextEncoder();

function orderOf(a: string, b: string): number {
  if (a === b) return 0;
  const [left, right] = [bytes.encode(a), bytes.encode(b)];
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at++) if (left[at] !== right[at]) return (left[at] ?? 0) - (right[at] ?? 0);
  return left.length - right.length;
}

/** What a page says with `after`. */
export function decidedCursor(place: DecidedPlace): string {
  return JSON.stringify(place);
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function parseDecidedCursor(after: string): DecidedPlace {
  try {
    const place: unknown = JSON.parse(after);
    const isOne = Array.isArray(place) && place.length === 4 && Number.isSafeInteger(place[0]);
    if (isOne && isSafeId(place[1]) && isSafeId(place[2]) && typeof place[3] === 'string')
      return place as unknown as DecidedPlace;
  } catch {
    // Said below.
  }
  const message = '`after` is none of a list of decided questions; give what the page before has there';
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}

/** A page of some that are at hand, in any order. */
export function decidedPage(all: Iterable<StoredDecision>, query: DecidedQuery): DecidedPage<StoredDecision> {
  const { after, limit } = query;
  const behind = after === undefined ? undefined : parseDecidedCursor(after);
  const found: { one: StoredDecision; place: DecidedPlace }[] = [];
  for (const one of all) {
    if (!fitsDecided(one, query)) continue;
    const place = decidedPlace(one);
    if (behind === undefined || orderDecided(behind, place) < 0) found.push({ one, place });
  }
  found.sort((a, b) => orderDecided(a.place, b.place));
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return { decided: shown.map(({ one }) => one), ...(last ? { after: decidedCursor(last.place) } : {}) };
}
