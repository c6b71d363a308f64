import type { HostContext, SessionHandle, SessionProvider } from '../../contracts/index.ts';
import type { SessionRecord, SessionService } from '../../runtime/index.ts';
import { anything, checkOptions, object, text } from '../../session/index.ts';
import { project } from './project.ts';

/** Stored sessions of the context's (app, user). */
export function sessionProvider(service: SessionService, context: HostContext): SessionProvider {
  const scope = { app: context.app, userId: context.userId ?? 'local' };
  return {
    async create(options = {}) {
      checkOptions<typeof options>(options, 'sessions.create: options', { id: anything, state: object, title: text });
      const { id, ...rest } = options;
      return handleOf(await service.create(id === undefined ? scope : { ...scope, id }, rest));
    },
    async load(sessionId) {
      const record = await service.get({ ...scope, id: sessionId });
      return record && handleOf(record);
    },
    list: async (options = {}) => service.list(scope, options),
    delete: async (sessionId) => service.delete({ ...scope, id: sessionId }),
    async open(options = {}) {
      checkOptions<typeof options>(options, 'sessions.open: options', { userId: text });
      const calls = await service.openCalls({ app: scope.app, ...options });
      const seen = new Map<string, { userId: string; sessionId: string; calls: string[] }>();
      for (const { key, callId } of calls) {
        const name = JSON.stringify(key);
        const known = seen.get(name);
        if (known) known.calls.push(callId);
        else seen.set(name, { userId: key.userId, sessionId: key.id, calls: [callId] });
      }
      return [...seen.values()];
    },
  };
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
