import type { Check } from '../../base/index.ts';
import { anything, checkIs, checkOptions, list, object, text } from '../../base/index.ts';
import type {
  DecidedPage,
  DecidedQuery,
  HostContext,
  SessionHandle,
  SessionProvider,
  SessionSummary,
  StoredDecision,
} from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import type {
  AgentTree,
  Lease,
  SessionKey,
  SessionRecord,
  SessionService,
  UnattendedOptions,
} from '../../runtime/index.ts';
import { sessionTitle } from '../../session/index.ts';
import { project } from './project.ts';

const nothing: Check = {
  needs: 'nothing; whose session it is goes into sessions(userId)',
  fits: (value) => list.fits(value) && (value as unknown[]).length === 0,
};

/** Stored sessions of the context's (app, user). */
export function sessionProvider(service: SessionService, context: HostContext, tree: AgentTree): SessionProvider {
  const scope = { app: context.app, userId: context.userId ?? 'local' };
  return {
    async create(options = {}) {
      checkOptions<typeof options>(options, 'sessions.create: options', {
        id: anything,
        state: object,
        title: sessionTitle,
      });
      const { id, ...rest } = options;
      return handleOf(await service.create(id === undefined ? scope : { ...scope, id }, rest));
    },
    async load(sessionId) {
      const record = await service.get({ ...scope, id: sessionId });
      return record && handleOf(record);
    },
    list: async (options = {}) => service.list(scope, options),
    listAll: async (options = {}) => {
      const sessions = await service.list({ app: scope.app }, options);
      return Promise.all(sessions.map((session) => withAgent(service, session)));
    },
    ...(service.decided ? { decided: (query) => decided(service, scope.app, query) } : {}),
    // It has no options: what would be ignored may be meant to say whose it is.
    delete: async (sessionId, ...more: unknown[]) => {
      checkIs(more, 'sessions.delete: what follows the id', nothing);
      await deleteFree(service, { ...scope, id: sessionId });
    },
    async openTurns() {
      const turns: { userId: string; sessionId: string; running: boolean }[] = [];
      for (const { key, agent } of await service.openTurns({ app: scope.app })) {
        // An older version has not said whose it is.
        if (agent !== '' && agent !== tree.root.name) continue;
        const running = (await service.holder(key)) !== undefined;
        turns.push({ userId: key.userId, sessionId: key.id, running });
      }
      return turns;
    },
    ...(service.unattended ? { unattended: (options) => unattended(service, scope.app, tree, options) } : {}),
    ...(service.releaseDead
      ? { releaseDead: async (userId, id) => service.releaseDead?.({ app: scope.app, userId, id }) }
      : {}),
    async open(options = {}) {
      checkOptions<typeof options>(options, 'sessions.open: options', { userId: text, sessionId: text });
      const { userId, sessionId } = options;
      const within = {
        ...(userId === undefined ? {} : { userId }),
        ...(sessionId === undefined ? {} : { id: sessionId }),
      };
      const calls = await service.openCalls({ app: scope.app, ...within });
      const seen = new Map<
        string,
        { userId: string; sessionId: string; calls: string[]; tools: string[]; since: number; lastSeq?: number }
      >();
      for (const { key, callId, name: tool, openedAt, lastSeq } of calls) {
        const name = JSON.stringify(key);
        const known = seen.get(name);
        if (known) {
          known.calls.push(callId);
          known.tools.push(tool);
        } else {
          const at = { userId: key.userId, sessionId: key.id, since: openedAt };
          const stands = lastSeq === undefined ? {} : { lastSeq };
          seen.set(name, { ...at, ...stands, calls: [callId], tools: [tool] });
        }
      }
      return [...seen.values()];
    },
  };
}

async function unattended(
  service: SessionService,
  app: string,
  tree: AgentTree,
  options: UnattendedOptions,
): Promise<{ userId: string; sessionId: string; lastSeq: number; wasTaken: boolean; deaths: number }[]> {
  const turns = (await service.unattended?.({ app }, options)) ?? [];
  return turns
    .filter(({ agent }) => agent === '' || tree.find(agent) !== undefined)
    .map(({ key: { userId, id: sessionId }, lastSeq, wasTaken, deaths }) => ({
      userId,
      sessionId,
      lastSeq,
      wasTaken,
      deaths,
    }));
}

async function decided(
  service: SessionService,
  app: string,
  query: DecidedQuery,
): Promise<DecidedPage<StoredDecision>> {
  const page = (await service.decided?.({ app }, query)) ?? { decided: [] };
  const agents = new Map<string, Promise<string | undefined>>();
  const named = page.decided.map(async (one) => {
    if (one.agent !== '') return one;
    const { userId, sessionId: id } = one;
    const name = JSON.stringify([userId, id]);
    const known = agents.get(name) ?? agentOf(service, { app, userId, id });
    agents.set(name, known);
    return { ...one, agent: (await known) ?? '' };
  });
  return { ...page, decided: await Promise.all(named) };
}

/** Of a session whose store does not say it, or has not counted it yet: the first author who is no user. */
async function withAgent(service: SessionService, session: SessionSummary): Promise<SessionSummary> {
  if (session.steps !== undefined) return session;
  const { app, userId, id } = session;
  const agent = await agentOf(service, { app, userId, id });
  return agent === undefined ? session : { ...session, agent };
}

async function agentOf(service: SessionService, key: SessionKey): Promise<string | undefined> {
  const record = await service.get(key, { limit: 4 });
  return record?.events.find(({ author }) => author !== 'user' && author !== 'host')?.author;
}

/** Whoever runs a session would go on with tools whose results nothing can hold: it is deleted when nobody does. */
async function deleteFree(service: SessionService, key: SessionKey): Promise<void> {
  let lease: Lease;
  try {
    lease = await service.acquire(key);
  } catch (error) {
    if (isCoxswainError(error) && error.code === 'E_SESSION_NOT_FOUND') return;
    throw error;
  }
  try {
    await service.delete(key);
  } finally {
    await lease.release();
  }
}

function handleOf(record: SessionRecord): SessionHandle {
  return {
    id: record.key.id,
    agentName: record.key.app,
    events: record.events.flatMap((event) => project(record.key.id, event)),
    state: { ...record.state },
    lastUpdateTime: record.updatedAt,
  };
}
