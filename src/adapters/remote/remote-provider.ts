import type {
  AgentEvent,
  EventsOptions,
  SessionHandle,
  SessionProvider,
  SessionSummary,
} from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import { nameOfPrincipal } from '../../session/index.ts';
import type { Link } from './link.ts';
import { storedEvents } from './log.ts';
import type { RemoteOperator, RemoteSession } from './remote-host.ts';
import { remoteInput } from './remote-shape.ts';

const PAGE = 200;

interface Opener {
  readonly agents: readonly { name: string }[];
  readonly principal: { id: string };
  open(agent: string, options: object): Promise<RemoteSession>;
}

/** Stored sessions of this principal on a server. */
export function remoteProvider(link: Link, opener: Opener, agent: string | undefined): SessionProvider {
  const list = async (options: { limit?: number; after?: string } = {}) => {
    remoteInput.list(options);
    const { limit = Number.POSITIVE_INFINITY, after } = options;
    const found: SessionSummary[] = [];
    for (let last = after; ; last = found.at(-1)?.id) {
      const params = { agent, after: last, limit: Math.min(PAGE, limit - found.length) };
      const page = await link.request<{ sessions: SessionSummary[]; more: boolean }>('session/list', params);
      found.push(...page.sessions);
      if (!page.more || page.sessions.length === 0 || found.length >= limit) return found;
    }
  };
  const handleOf = async (sessionId: string): Promise<SessionHandle> => {
    const found = await link.request<Omit<SessionHandle, 'events'>>('session/load', { sessionId, agent });
    const name = agent ?? opener.agents[0]?.name ?? '';
    const session = await opener.open(name, { sessionId, control: false });
    const events: AgentEvent[] = [];
    for await (const event of session.events()) events.push(event);
    await session[Symbol.asyncDispose]();
    return { ...found, events };
  };
  return {
    async create(options = {}) {
      remoteInput.create(options);
      const { id, state } = options;
      const ref = {
        ...(id === undefined ? {} : { sessionId: id, create: true }),
        ...(state === undefined ? {} : { state }),
      };
      const session = await opener.open(agent ?? opener.agents[0]?.name ?? '', ref);
      await session[Symbol.asyncDispose]();
      return handleOf(session.id);
    },
    async load(sessionId) {
      remoteInput.sessionId(sessionId);
      try {
        return await handleOf(sessionId);
      } catch (error) {
        if (isCoxswainError(error) && error.code === 'E_SESSION_NOT_FOUND') return undefined;
        throw error;
      }
    },
    list,
    async delete(sessionId) {
      remoteInput.sessionId(sessionId);
      await link.request('session/delete', { sessionId, agent });
    },
    async open() {
      const waiting = (await list()).filter(({ pending }) => pending > 0);
      return waiting.map(({ id }) => ({ userId: nameOfPrincipal(opener.principal), sessionId: id }));
    },
  };
}

/** Sessions of others, for who may look at them. */
export function remoteOperator(link: Link): RemoteOperator {
  return {
    async sessions(query = {}) {
      remoteInput.query(query);
      return link.request('operator/sessions', { ...query });
    },
    artifact(place, name, version) {
      remoteInput.place(place);
      const { agent, userId, sessionId } = place;
      return link.request('operator/artifact', { agent, userId, sessionId, name, version });
    },
    events(place, options: EventsOptions = {}) {
      remoteInput.place(place);
      const { agent, userId, sessionId } = place;
      return storedEvents(
        (after, limit) => link.request('operator/events', { agent, userId, sessionId, after, limit }),
        options,
      );
    },
  };
}
