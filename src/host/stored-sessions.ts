import type { AgentSource, HostContext, SessionPlace, SessionProvider, SessionSummary } from '../contracts/index.ts';
import { CoxswainError } from '../contracts/index.ts';
import { listedSession } from '../session/index.ts';
import type { WaitingSession } from './approvals/index.ts';

type Sources = ReadonlyMap<string, AgentSource>;

/**
 * The sessions of the first agent's store, as a host gives them out.
 * @param forget what the host itself has of a session that was deleted
 * @throws CoxswainError `UNIMPLEMENTED / E_UNSUPPORTED`
 */
export function storedSessions(
  sources: Sources,
  context: HostContext,
  forget: (sessionId: string) => Promise<void>,
): SessionProvider {
  const [source] = sources.values();
  const provider = source?.sessions?.(context);
  if (!provider) throw unsupported('that can be listed');
  const open = provider.open?.bind(provider);
  const listAll = provider.listAll?.bind(provider);
  const decided = provider.decided?.bind(provider);
  return {
    create: (options) => provider.create(options),
    load: (sessionId) => provider.load(sessionId),
    list: async (options) => (await provider.list(options)).map(listedSession),
    delete: async (sessionId, ...more: []) => {
      await provider.delete(sessionId, ...more);
      await forget(sessionId);
    },
    ...(open ? { open } : {}),
    ...(decided ? { decided } : {}),
    ...(listAll ? { listAll: async (options) => (await listAll(options)).map(listedSession) } : {}),
  };
}

/** @throws CoxswainError `UNIMPLEMENTED / E_UNSUPPORTED` */
export async function allSessions(
  { listAll }: SessionProvider,
  page: { limit: number; after?: string },
): Promise<SessionSummary[]> {
  if (listAll) return listAll(page);
  throw unsupported('that can be listed over all users');
}

/** Sessions with open requests, of each agent. */
export async function waitingSessions(
  sources: Sources,
  context: HostContext,
  scope?: { userId?: string; sessionId?: string },
): Promise<WaitingSession[]> {
  const found: WaitingSession[] = [];
  for (const [agent, source] of sources) {
    for (const open of (await source.sessions?.(context).open?.(scope)) ?? []) found.push({ agent, ...open });
  }
  return found;
}

/** Sessions whose newest turn has not ended, of each agent. */
export async function sessionsInTurn(
  sources: Sources,
  context: HostContext,
): Promise<(SessionPlace & { running: boolean })[]> {
  const found: (SessionPlace & { running: boolean })[] = [];
  for (const [agent, source] of sources) {
    for (const turn of (await source.sessions?.(context).openTurns?.()) ?? []) found.push({ agent, ...turn });
  }
  return found;
}

function unsupported(which: string): CoxswainError {
  const message = `the agents of this host keep no sessions ${which}`;
  return new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', message);
}
