import type {
  ExecutionOptions,
  ParamsOf,
  RequestAnswer,
  SessionInput,
  SessionUpdate,
  SteerData,
} from '../../../contracts/index.ts';
import { CoxswainError } from '../../../contracts/index.ts';
import { compactIn } from '../../../session/index.ts';
import type { Channel } from '../stream/index.ts';
import type { Caller, Handlers } from './caller.ts';

interface Controlled {
  sessionId: string;
  fencingToken: string;
  key?: string | undefined;
}

/** Only whoever is in control changes a session; each change is done once for its key. */
function controlled<P extends Controlled, T>(
  act: (channel: Channel, params: P, connection: Caller) => Promise<T>,
  /** The log tells whether it was done. */
  isInLog = false,
) {
  return (connection: Caller, params: P): Promise<T> => {
    const { channel } = connection.held(params.sessionId);
    channel.control.assert(connection.controller, params.fencingToken);
    const { key, fencingToken: _, retry: __, ...body } = params as P & { retry?: unknown };
    const { hub } = connection;
    return hub.during(hub.changeOf(channel, { key, body, isInLog }, () => act(channel, params, connection)));
  };
}

const stream = controlled(
  async (channel, params: ParamsOf<'session/stream'>, connection): Promise<{ epoch?: string }> => {
    const { streamId } = params;
    const { hub, principal } = connection;
    const { served } = hub;
    const input = served.input(params.input as SessionInput[], principal);
    const options = served.options((params.options ?? {}) as ExecutionOptions, principal);
    const mayBeAgain = params.retry === true || params.key !== undefined;
    // Its first copy was accepted by a server that is gone, or by this one, which has forgotten the key.
    const isLookedFor = mayBeAgain && opensTurn(input);
    if (isLookedFor && (await channel.knows(streamId))) return {};
    const wait = opensTurn(input) ? hub.starts.enter() : undefined;
    if (wait) await wait;
    const results = [input].flat().flatMap((item) => (isResult(item) ? [item.requestId] : []));
    if (results.length > 0) await served.assertResults(channel.session, results);
    connection.assertCurrent();
    hub.assertTaking();
    try {
      await channel.stream(input, { ...options, streamId }, isLookedFor);
    } catch (error) {
      // Another server has stored it between the look and the turn.
      if (isLookedFor && (await channel.knows(streamId))) return {};
      throw error;
    }
    return { epoch: channel.epoch };
  },
  true,
);

export const controlMethods: Handlers<
  | 'session/stream'
  | 'session/respond'
  | 'session/steer'
  | 'session/update'
  | 'session/compact'
  | 'session/rewind'
  | 'session/abort'
  | 'session/takeControl'
> = {
  'session/stream': async (connection, params) => {
    const { streamId, sessionId } = params;
    const { channel } = connection.held(sessionId);
    const { epoch } = await stream(connection, params);
    // Accepted before the session was opened this time: its events are in the log, and are not shown anew.
    return epoch === channel.epoch ? { streamId } : { streamId, duplicate: true };
  },

  'session/respond': controlled(async ({ session }, { requestId, answer }, { hub, principal }) => {
    const given = hub.served.answer(answer as RequestAnswer, principal);
    if (given.kind === 'result') await hub.served.assertResults(session, [requestId]);
    return session.respond(requestId, given);
  }, true),

  'session/steer': controlled(async ({ session }, { data }, { hub, principal }) =>
    hub.served.steer(session, data as SteerData, principal),
  ),

  'session/update': controlled(async ({ session }, { config }, { hub }) =>
    session.update(hub.served.update(config as SessionUpdate)),
  ),

  'session/compact': controlled(async ({ session }) => compactIn(session)),

  'session/rewind': controlled(async ({ session, options, running }, { through }, { hub }) => {
    const { rewind } = hub.served;
    if (!rewind || options.ephemeral) {
      const message = 'this server takes no sessions back; a copy of an earlier moment is made with session/fork';
      throw new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', message);
    }
    if (running) {
      const message = `session ${session.id} runs; wait for the end of its turn, or abort it`;
      throw new CoxswainError('ABORTED', 'E_SESSION_BUSY', message);
    }
    await rewind(session, options.userId, through);
    return {};
  }),

  'session/abort': controlled(async ({ session, running }, { target }) => {
    await session.abort({
      ...(target?.reason === undefined ? {} : { reason: target.reason }),
      ...(target?.threadId === undefined ? {} : { threadId: target.threadId }),
      ...(target?.requestId === undefined ? {} : { requestId: target.requestId }),
    });
    // Nothing more is written, and whoever asked for it may begin anew at once: the end is shown before they hear of it.
    if (target?.threadId === undefined && target?.requestId === undefined) await running;
    return {};
  }),

  'session/takeControl': (connection, { sessionId }) => ({
    fencingToken: connection.held(sessionId).channel.control.take(connection.controller),
  }),
};

const isResult = (item: string | SessionInput): item is Extract<SessionInput, { kind: 'tool_result' }> =>
  typeof item !== 'string' && item.kind === 'tool_result';

function opensTurn(input: string | SessionInput | SessionInput[]): boolean {
  if (typeof input === 'string') return true;
  return [input].flat().some(({ kind }) => kind === 'message');
}
