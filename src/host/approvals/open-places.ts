import type { SessionPlace } from '../../contracts/index.ts';
import { CoxswainError, callIdOf, isCoxswainError } from '../../contracts/index.ts';
import type { HostedSession } from '../hosted/index.ts';
import type { ApprovalHost, ApprovalPlace, WaitingSession } from './open-sessions.ts';

type Places = Pick<ApprovalHost, 'openSessions' | 'borrow' | 'warn'>;

/** Sessions that are looked into for a question of which no index says where it is. */
const MAX_LOOKED_INTO = 64;

/** What a look into one session finds; undefined: it was deleted since the index was read. `toRun`: it may go on with it. */
export async function lookInto<T>(
  host: Pick<ApprovalHost, 'borrow'>,
  { agent, userId, sessionId }: SessionPlace,
  look: (session: HostedSession) => Promise<T>,
  toRun = false,
): Promise<T | undefined> {
  try {
    await using borrowed = await host.borrow(agent, userId, sessionId, toRun);
    return await look(borrowed.session);
  } catch (error) {
    if (wasDeleted(error)) return undefined;
    throw error;
  }
}

/** The same among others: one that cannot be looked into is told of, and does not keep the others from being found. */
export async function lookPast<T>(
  host: Pick<ApprovalHost, 'borrow' | 'warn'>,
  place: SessionPlace,
  look: (session: HostedSession) => Promise<T>,
): Promise<{ found: T | undefined } | undefined> {
  try {
    return { found: await lookInto(host, place, look) };
  } catch (error) {
    host.warn(leftOut(place), error);
    return undefined;
  }
}

/** What is told of a session that cannot be read. */
export const leftOut = ({ userId, sessionId }: SessionPlace): string =>
  `session ${sessionId} of ${userId} cannot be looked into: what is open in it is left out`;

/** Ids of the sessions of sub-agents that are open below one; undefined: it cannot be read. */
export async function calledBy(host: Pick<ApprovalHost, 'borrow' | 'warn'>, caller: SessionPlace) {
  const looked = await lookPast(host, caller, sessionsBelow);
  return looked && (looked.found ?? []);
}

async function sessionsBelow({ subagents }: HostedSession): Promise<string[]> {
  const ids: string[] = [];
  if (subagents) for await (const { id } of subagents.sessions()) ids.push(id);
  return ids;
}

export function wasDeleted(error: unknown): boolean {
  return isCoxswainError(error) && error.code === 'E_SESSION_NOT_FOUND';
}

/** It was deleted, or the host is closed and begins nothing more: there is nothing to be done about it here. */
export function isLeft(error: unknown): boolean {
  return wasDeleted(error) || (isCoxswainError(error) && error.code === 'E_SESSION_CLOSED');
}

/**
 * Those that no session among them has called: what is open inside of a sub-agent is open in its caller's session. Where
 * that cannot be read, those that it may have called are left out with it.
 */
export function withoutSubagents<T extends SessionPlace>(host: Places, sessions: readonly T[]): Promise<T[]> {
  return withoutCalled(sessions, sessions, (caller) => calledBy(host, caller));
}

/** The same, of some of those that are known; `below` gives the ids of the sessions that one has called, if it can be read. */
export async function withoutCalled<T extends SessionPlace>(
  sessions: readonly T[],
  all: readonly T[],
  below: (caller: T) => Promise<readonly string[] | undefined>,
): Promise<T[]> {
  const byName = byAgentName(all);
  const called = new Set<string>();
  const asked = new Map<SessionPlace, boolean>();
  for (const one of sessions) {
    for (const caller of callersOf(one, byName)) {
      let isRead = asked.get(caller);
      if (isRead === undefined) {
        const ids = await below(caller);
        isRead = ids !== undefined;
        asked.set(caller, isRead);
        for (const id of ids ?? []) called.add(nameOf(one.userId, id));
      }
      if (!isRead) called.add(nameOf(one.userId, one.sessionId));
    }
  }
  return sessions.filter(({ userId, sessionId }) => !called.has(nameOf(userId, sessionId)));
}

/**
 * Where a question of this id may be open: of sessions that others have called, their callers' instead. First where
 * the index has its call; then, for whoever has found nothing there, where the call of a sub-agent is open, as that may
 * keep its sessions where no index tells of them. `withoutThose`: `withoutSubagents`, of some of all that are open.
 * @throws CoxswainError `FAILED_PRECONDITION / E_UNKNOWN_REQUEST` where that would be many sessions
 */
export async function* placesOf(
  host: Places & Pick<ApprovalHost, 'agentTools'>,
  requestId: string,
  place: ApprovalPlace,
  withoutThose: (places: readonly WaitingSession[], open: readonly WaitingSession[]) => Promise<WaitingSession[]> = (
    places,
  ) => withoutSubagents(host, places),
): AsyncGenerator<WaitingSession[], void> {
  const { userId, sessionId } = place;
  // A session is named: it, and those that may have called it.
  const ids = sessionId === undefined ? [undefined] : [sessionId, ...prefixesOf(sessionId)];
  const open: WaitingSession[] = [];
  for (const id of ids) {
    const scope = { ...(userId === undefined ? {} : { userId }), ...(id === undefined ? {} : { sessionId: id }) };
    open.push(...(await host.openSessions(scope)));
  }
  const byName = byAgentName(open);
  const wanted = new Set([requestId, callIdOf(requestId)]);
  // Where a session is named, all of these may have to do with it; else those that have the call, or whose calls are not known.
  const asking =
    sessionId === undefined ? open.filter(({ calls }) => calls?.some((call) => wanted.has(call)) ?? true) : open;
  // Of those whose calls are not known, each may ask a question of this id: which of several is meant must be known.
  const unknown = sessionId === undefined ? open.filter(({ calls }) => !calls).length : 0;
  if (unknown > MAX_LOOKED_INTO) throw tooMany(requestId, `${unknown} sessions are open of which no call is known`);
  const first = new Set<WaitingSession>([...asking, ...asking.flatMap((one) => callersOf(one, byName))]);
  const roots = async (places: readonly WaitingSession[]) =>
    (await withoutThose(places, open)).filter((one) => isAt(one, place));
  yield roots([...first]);
  if (sessionId !== undefined) return;
  const { agentTools } = host;
  const mayAsk = open.filter(
    ({ tools }) => agentTools.size > 0 && (tools?.some((tool) => agentTools.has(tool)) ?? true),
  );
  const others = mayAsk.filter((one) => !first.has(one));
  if (others.length > MAX_LOOKED_INTO) {
    throw tooMany(requestId, `${others.length} sessions wait for a sub-agent that may ask it`);
  }
  const above = others.flatMap((one) => callersOf(one, byName));
  yield (await roots([...new Set([...others, ...above])])).filter((one) => !first.has(one));
}

function tooMany(requestId: string, sessions: string): CoxswainError {
  const message = `no index says where ${JSON.stringify(requestId)} is asked, and ${sessions}, more than the ${MAX_LOOKED_INTO} that are looked into: name sessionId and userId. If it should be in the index, rebuildOpenCalls() of the store ("coxswain sessions rebuild") rebuilds it`;
  return new CoxswainError('FAILED_PRECONDITION', 'E_UNKNOWN_REQUEST', message, { details: { requestId } });
}

export function isAt(here: SessionPlace, place: ApprovalPlace): boolean {
  const { agent = here.agent, userId = here.userId, sessionId = here.sessionId } = place;
  return agent === here.agent && userId === here.userId && sessionId === here.sessionId;
}

/** Sessions whose ids are what comes before a dot in this one's: one of them may have called it. */
export function callersOf<T extends SessionPlace>(
  { userId, sessionId }: SessionPlace,
  byName: ReadonlyMap<string, readonly T[]>,
): T[] {
  return prefixesOf(sessionId).flatMap((id) => byName.get(nameOf(userId, id)) ?? []);
}

export function prefixesOf(sessionId: string): string[] {
  const prefixes: string[] = [];
  for (let dot = sessionId.indexOf('.'); dot >= 0; dot = sessionId.indexOf('.', dot + 1)) {
    prefixes.push(sessionId.slice(0, dot));
  }
  return prefixes;
}

export function byAgentName<T extends SessionPlace>(sessions: readonly T[]): Map<string, T[]> {
  const byName = new Map<string, T[]>();
  for (const one of sessions) {
    const name = nameOf(one.userId, one.sessionId);
    const known = byName.get(name);
    if (known) known.push(one);
    else byName.set(name, [one]);
  }
  return byName;
}

const nameOf = (userId: string, sessionId: string) => `${userId}/${sessionId}`;
