import { callIdOf, isCoxswainError } from '../../contracts/index.ts';
import type { HostedSession } from '../hosted/index.ts';
import type { ApprovalHost, ApprovalPlace, SessionPlace, WaitingSession } from './open-sessions.ts';

type Places = Pick<ApprovalHost, 'openSessions' | 'borrow'>;

/** What a look into one session finds; undefined: it was deleted since the index was read. */
export async function lookInto<T>(
  host: Pick<ApprovalHost, 'borrow'>,
  { agent, userId, sessionId }: SessionPlace,
  look: (session: HostedSession) => Promise<T>,
): Promise<T | undefined> {
  try {
    await using borrowed = await host.borrow(agent, userId, sessionId);
    return await look(borrowed.session);
  } catch (error) {
    if (wasDeleted(error)) return undefined;
    throw error;
  }
}

/** Ids of the sessions of sub-agents that are open below one. */
async function sessionsBelow({ subagents }: HostedSession): Promise<string[]> {
  const ids: string[] = [];
  if (subagents) for await (const { id } of subagents.sessions()) ids.push(id);
  return ids;
}

export function wasDeleted(error: unknown): boolean {
  return isCoxswainError(error) && error.code === 'E_SESSION_NOT_FOUND';
}

/** Those that no session among them has called: what is open inside of a sub-agent is open in its caller's session. */
export async function withoutSubagents<T extends SessionPlace>(host: Places, sessions: readonly T[]): Promise<T[]> {
  const byName = byAgentName(sessions);
  const below = new Set<string>();
  const asked = new Set<SessionPlace>();
  for (const one of sessions) {
    for (const caller of callersOf(one, byName)) {
      if (asked.has(caller)) continue;
      asked.add(caller);
      const ids = await lookInto(host, caller, sessionsBelow);
      for (const id of ids ?? []) below.add(nameOf(one.userId, id));
    }
  }
  return sessions.filter(({ userId, sessionId }) => !below.has(nameOf(userId, sessionId)));
}

/**
 * Where a question of this id may be open: of sessions that others have called, their callers' instead. First where
 * the index has its call; then everywhere else, as a sub-agent may keep its sessions where no index tells of them. The
 * second is for whoever has found nothing in the first: it is every session with an open call.
 */
export async function* placesOf(
  host: Places,
  requestId: string,
  place: ApprovalPlace,
): AsyncGenerator<SessionPlace[], void> {
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
  const asking = open.filter((one) =>
    sessionId === undefined ? (one.calls?.some((call) => wanted.has(call)) ?? true) : one.sessionId === sessionId,
  );
  const callers = sessionId === undefined ? asking.flatMap((one) => callersOf(one, byName)) : open;
  const first = new Set<SessionPlace>([...asking, ...callers]);
  const roots = async (places: readonly SessionPlace[]) =>
    (await withoutSubagents(host, places)).filter((one) => isAt(one, place));
  yield roots([...first]);
  if (sessionId === undefined) yield (await roots(open)).filter((one) => !first.has(one));
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

function prefixesOf(sessionId: string): string[] {
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
