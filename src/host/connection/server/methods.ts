import type { RpcMethod } from '../../../contracts/index.ts';
import { CoxswainError } from '../../../contracts/index.ts';
import { artifactContent } from '../../operator/index.ts';
import { fittingPending, protocolError } from '../protocol/index.ts';
import { eventsFrom, lastEvents } from '../stream/index.ts';
import { approvalMethods } from './approval-methods.ts';
import type { Caller, Handlers } from './caller.ts';
import { controlMethods } from './control-methods.ts';
import { operatorMethods } from './operator-methods.ts';
import { storeMethods } from './store-methods.ts';

const PAGE = 200;

const readMethods: Handlers<
  | 'ping'
  | 'agents/list'
  | 'session/detach'
  | 'session/close'
  | 'session/pending'
  | 'session/events'
  | 'session/verify'
  | 'session/artifact'
  | 'session/ack'
> = {
  ping: () => ({}),

  'agents/list': ({ hub }) => ({ agents: [...hub.served.agents] }),

  'session/detach': (connection, { sessionId }) => {
    connection.held(sessionId).detach();
    return {};
  },

  'session/close': (connection, { sessionId }) => {
    connection.held(sessionId).release();
    connection.holds.delete(sessionId);
    return {};
  },

  'session/pending': async (connection, { sessionId }) => {
    const { channel } = connection.held(sessionId);
    const { session } = channel;
    const pending = await session.pending();
    // The client of a bare executor is its host.
    const { served, options } = connection.hub;
    const standing = served.kind === 'executor' ? await session.standing?.() : undefined;
    const { streamId } = channel;
    return {
      pending: fittingPending(pending, options.limits.maxPayload),
      ...(standing ? { standing } : {}),
      ...(streamId === undefined ? {} : { streamId }),
    };
  },

  'session/events': async (connection, { sessionId, after, limit = PAGE, newest }) => {
    const { session, options, durable } = connection.held(sessionId).channel;
    const { maxPayload } = options.limits;
    if (!newest) return eventsFrom(session, after, limit, maxPayload);
    if (after !== undefined) throw protocolError('newest events are those before no place: leave after out');
    return lastEvents(session, durable.cursor, limit, maxPayload);
  },

  'session/verify': async (connection, { sessionId }) => {
    const { session, options } = connection.held(sessionId).channel;
    const { verify } = connection.hub.served;
    if (verify && !options.ephemeral) return verify({ userId: options.userId, sessionId: session.id });
    throw new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', 'this server does not verify the logs of sessions');
  },

  'session/artifact': (connection, { sessionId, name, version }) => {
    const { session, options } = connection.held(sessionId).channel;
    return artifactContent(session, name, version, options.limits.maxPayload);
  },

  'session/ack': (connection, { sessionId, epoch, offset }) => {
    const hold = connection.holds.get(sessionId);
    // Acknowledgements of what is over may still be on their way.
    if (hold?.channel.epoch === epoch) hold.attachment?.ack(offset);
    return {};
  },
};

const methods: Handlers<Exclude<RpcMethod, 'initialize'>> = {
  ...readMethods,
  ...storeMethods,
  ...controlMethods,
  ...approvalMethods,
  ...operatorMethods,
};

/** Methods whose answers may be large: one after the other, and no faster than the client reads. */
export const largeAnswers: ReadonlySet<string> = new Set<RpcMethod>([
  'session/events',
  'session/list',
  'session/find',
  'session/load',
  'session/pending',
  'session/verify',
  'session/artifact',
  'approvals/list',
  'approvals/outcome',
  'approvals/decided',
  'approvals/explain',
  'operator/sessions',
  'operator/artifact',
  'operator/events',
]);

/** The method of this name, for params that were checked; undefined: there is none. */
export function methodNamed(name: string): ((connection: Caller, params: unknown) => unknown) | undefined {
  const method = Object.hasOwn(methods, name) ? methods[name as keyof typeof methods] : undefined;
  return method as ((connection: Caller, params: unknown) => unknown) | undefined;
}
