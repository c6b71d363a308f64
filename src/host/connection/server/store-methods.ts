import type { AttachResult, SessionSnapshot } from '../../../contracts/index.ts';
import { assertSafeId, CoxswainError } from '../../../contracts/index.ts';
import { listedSession, nameOfPrincipal } from '../../../session/index.ts';
import type { ClaimedPosition } from '../../../session/resume/index.ts';
import { findSessions, shownSummary } from '../../operator/index.ts';
import type { Channel } from '../stream/index.ts';
import type { Caller, Handlers } from './caller.ts';
import type { OpenSessionParams } from './served.ts';
import type { SessionHold } from './session-hold.ts';

/** Sessions that one answer lists, or finds, unless another number is asked for. */
const PAGE = 200;
const FOUND = 100;

/** Opening, finding and removing sessions. */
export const storeMethods: Handlers<
  | 'session/open'
  | 'session/attach'
  | 'session/load'
  | 'session/list'
  | 'session/find'
  | 'session/fork'
  | 'session/delete'
> = {
  'session/open': async (connection, params) => {
    const request: OpenSessionParams = {
      ...(params.sessionId === undefined ? {} : { sessionId: params.sessionId }),
      ...(params.create === undefined ? {} : { create: params.create }),
      ...(params.fork === undefined ? {} : { fork: params.fork as boolean }),
      ...(params.state === undefined ? {} : { state: params.state }),
      ...(params.snapshot === undefined ? {} : { snapshot: params.snapshot as unknown as SessionSnapshot }),
      ...(params.ephemeral === undefined ? {} : { ephemeral: params.ephemeral }),
      ...(params.permissionMode === undefined ? {} : { permissionMode: params.permissionMode }),
    };
    if (request.sessionId !== undefined) assertSafeId('session', request.sessionId);
    const wait = connection.hub.starts.enter();
    if (wait) await wait;
    connection.assertCurrent();
    const hold = await take(connection, await connection.hub.hold(params.agent, request, connection.principal), params);
    // Opened once more: its frames are coming already.
    if (params.attach !== false && !hold.attachment) return hold.attach(params);
    const { session, epoch, durable, ring } = hold.channel;
    const token = hold.offer(params.control, params.fencingToken);
    return {
      sessionId: session.id,
      descriptor: session.descriptor,
      epoch,
      recovered: false,
      offset: ring.head,
      ...(durable.cursor === undefined ? {} : { cursor: durable.cursor }),
      ...(token === undefined ? {} : { fencingToken: token }),
    } satisfies AttachResult;
  },

  'session/attach': async (connection, params) => {
    const { agent, sessionId, permissionMode } = params;
    const request: OpenSessionParams = { sessionId, ...(permissionMode === undefined ? {} : { permissionMode }) };
    const known = connection.holds.get(sessionId);
    if (known && (agent === undefined || agent === known.channel.options.agent)) {
      await known.channel.assertCursor(params.cursor);
      await connection.hub.served.join(known.channel.session, request, connection.principal);
      return connection.held(sessionId).attach(params);
    }
    assertSafeId('session', sessionId);
    if (agent === undefined) return connection.held(sessionId);
    const channel = await connection.hub.hold(agent, request, connection.principal);
    return (await take(connection, channel, params)).attach(params);
  },

  'session/load': async (connection, { sessionId, agent }) => {
    const found = await provider(connection, agent).load(sessionId);
    if (!found) throw notFound(sessionId);
    // Its events are read page by page, with session/events.
    return { id: found.id, agentName: found.agentName, state: found.state, lastUpdateTime: found.lastUpdateTime };
  },

  'session/list': async (connection, { agent, limit = PAGE, after }) => {
    // One more than asked for tells whether there is more.
    const options = { limit: limit + 1, ...(after === undefined ? {} : { after }) };
    const sessions = await provider(connection, agent).list(options);
    return {
      sessions: sessions.slice(0, limit).map((one) => shownSummary(listedSession(one), true)),
      more: sessions.length > limit,
    };
  },

  'session/find': async (connection, { agent, limit = FOUND, ...query }) => {
    const { principal } = connection;
    const sessions = provider(connection, undefined);
    const userId = nameOfPrincipal(principal);
    return findSessions(
      {
        page: async (options) => (await sessions.list(options)).map(listedSession),
        placeOf: ({ id }) => id,
        isTheirs: (one) => one.userId === userId,
        seesContent: true,
      },
      { ...query, agent, limit },
    );
  },

  'session/fork': async (connection, { agent, sessionId, after }) => {
    const fork = after === undefined ? true : { after };
    const channel = await connection.hub.hold(agent, { sessionId, fork }, connection.principal);
    // Whoever wants the copy opens it.
    connection.hub.release(channel);
    return { sessionId: channel.session.id };
  },

  'session/delete': async (connection, { sessionId, agent }) => {
    const { hub, principal } = connection;
    const sessions = provider(connection, agent);
    const userId = nameOfPrincipal(principal);
    await hub.served.assertRemovable(sessionId, principal);
    for (const { name } of hub.served.agents) await hub.drop(name, userId, sessionId);
    connection.assertCurrent();
    for (const { name } of hub.served.agents) hub.assertDropped(name, userId, sessionId);
    await sessions.delete(sessionId);
    for (const { name } of hub.served.agents) hub.forgetKeys(name, userId, sessionId);
    return {};
  },
};

/** The connection's own hold of a channel; refused where the client says that it has what was never there. */
async function take(connection: Caller, channel: Channel, { cursor }: ClaimedPosition): Promise<SessionHold> {
  try {
    await channel.assertCursor(cursor);
  } catch (error) {
    connection.hub.release(channel);
    throw error;
  }
  return connection.hold(channel);
}

function provider(connection: Caller, agent: string | undefined) {
  return connection.hub.served.sessions(connection.principal, agent);
}

function notFound(sessionId: string): CoxswainError {
  return new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', `there is no session ${JSON.stringify(sessionId)}`);
}
