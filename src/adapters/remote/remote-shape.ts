import type { Shape } from '../../session/index.ts';
import {
  amount,
  anything,
  checkIs,
  checkOptions,
  either,
  flag,
  fn,
  number,
  object,
  permissionMode,
  text,
} from '../../session/index.ts';
import type { ConnectOptions, RemoteOpenOptions } from './options.ts';
import type { RemoteApprovals, RemoteOperator, SessionQuery } from './remote-host.ts';

const connect: Shape<ConnectOptions> = {
  getToken: fn,
  token: text,
  WebSocket: fn,
  connectTimeoutMs: amount,
  minBackoffMs: amount,
  maxBackoffMs: amount,
  giveUpMs: amount,
  onState: fn,
  random: fn,
};
const open: Shape<RemoteOpenOptions> = {
  sessionId: text,
  snapshot: object,
  create: flag,
  fork: either(flag, object),
  state: object,
  ephemeral: flag,
  permissionMode,
  control: flag,
};
type DecidedQuery = NonNullable<Parameters<RemoteApprovals['decided']>[0]>;
type OperatorQuery = NonNullable<Parameters<RemoteOperator['sessions']>[0]>;
const list: Shape<{ limit?: number; after?: string }> = { limit: number, after: text };
const found: Shape<SessionQuery> = {
  agent: text,
  state: text,
  tool: text,
  since: text,
  before: text,
  search: text,
  limit: number,
  after: text,
};
const create: Shape<{ id?: string; state?: object; title?: string }> = { id: text, state: object, title: text };

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export const remoteInput = {
  connect: (url: string, options: ConnectOptions): void => {
    checkIs(url, 'connect: url', text);
    checkOptions<ConnectOptions>(options, 'connect: options', connect);
  },
  open: (agent: string, options: RemoteOpenOptions): void => {
    checkIs(agent, 'open: agent', text);
    checkOptions<RemoteOpenOptions>(options, 'open: options', open);
  },
  list: (options: { limit?: number; after?: string }): void =>
    checkOptions<typeof options>(options, 'sessions.list: options', list),
  create: (options: { id?: string; state?: object; title?: string }): void =>
    checkOptions<typeof options>(options, 'sessions.create: options', create),
  sessionId: (id: string): void => checkIs(id, 'session id', text),
  agent: (agent: string | undefined): void => {
    if (agent !== undefined) checkIs(agent, 'sessions: agent', text);
  },
  query: (query: object): void =>
    checkOptions<OperatorQuery>(query, 'operator.sessions: query', { ...found, user: text }),
  find: (query: object): void => checkOptions<SessionQuery>(query, 'findSessions: query', found),
  decided: (query: object): void =>
    checkOptions<DecidedQuery>(query, 'approvals.decided: query', {
      user: text,
      agent: text,
      action: text,
      tool: text,
      by: text,
      since: text,
      before: text,
      search: text,
      limit: number,
      after: text,
    }),
  filter: (filter: { sessionId?: string; own?: boolean }): void =>
    checkOptions<typeof filter>(filter, 'approvals.list: filter', { sessionId: text, own: flag }),
  place: (place: { sessionId?: string; userId?: string; agent?: string }): void =>
    checkOptions<typeof place & { by?: unknown }>(place, 'approvals.decide: place', {
      sessionId: text,
      userId: text,
      agent: text,
      // What a host asks for besides: here the connection says who decides.
      by: anything,
    }),
};
