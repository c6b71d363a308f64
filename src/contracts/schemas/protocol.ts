import { z } from 'zod';
import { record } from './open.ts';
import { permissionMode } from './permission-mode.ts';
import { limits, requestAnswer, sessionInput, sessionUpdate, steerData, turnTerms } from './session.ts';
import { toolDescriptor } from './tools.ts';

const id = z.string().min(1).max(256);
const session = { sessionId: id };
/** Who changes a session shows that it is in control. */
const control = { ...session, fencingToken: z.string().max(256), key: z.string().min(1).max(256).optional() };

/** One request or notification of a client. */
export const rpcRequest = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(256), z.number()]).optional(),
  method: z.string().max(64),
  params: record.optional(),
});

/** Options of a stream, as far as they cross a wire. */
export const streamOptions = z.looseObject({
  tools: z.array(toolDescriptor).optional(),
  excludeTools: z.array(z.string()).optional(),
  model: z.string().optional(),
  hostToolExecution: z.boolean().optional(),
  streaming: z.boolean().optional(),
  permissionMode: permissionMode.optional(),
  whilePending: z.enum(['cancel', 'hold', 'proceed']).optional(),
  limits: limits.optional(),
  /** Of a host, to an executor; a server of hosted sessions does not listen to it. */
  terms: turnTerms.optional(),
  traceContext: record.optional(),
});

const place = {
  /** Of the session that is opened; needed where this connection does not hold it yet. */
  agent: id.optional(),
  sessionId: id.optional(),
  create: z.boolean().optional(),
  fork: z.union([z.boolean(), z.looseObject({ after: z.string().optional() })]).optional(),
  state: record.optional(),
  snapshot: record.optional(),
  ephemeral: z.boolean().optional(),
  permissionMode: permissionMode.optional(),
};

/** What a client has of a session. */
const position = {
  epoch: z.string().max(256).optional(),
  offset: z.number().int().min(0).optional(),
  /** Of the newest durable event that it has. */
  cursor: z.string().max(256).optional(),
  /** False: nothing that was before; live frames only. Default true. */
  history: z.boolean().optional(),
  /** Shows that it was in control before its connection was lost. */
  fencingToken: z.string().max(256).optional(),
  /** False: watch only. Default: take control if nobody has it. */
  control: z.boolean().optional(),
};

/** Absent `version`: the newest. */
const artifact = { name: z.string().min(1).max(512), version: z.number().int().min(1).optional() };

/** What sessions are found by: all of it. */
const found = {
  agent: id.optional(),
  state: z.enum(['waits', 'runs', 'rests']).optional(),
  /** Name of a tool that was called. */
  tool: id.optional(),
  /** ISO 8601: it changed then or later, or before. */
  since: z.string().max(64).optional(),
  before: z.string().max(64).optional(),
  search: z.string().max(256).optional(),
  limit: z.number().int().min(1).max(200).optional(),
  after: z.string().max(600).optional(),
};

/** Params of each method. */
export const rpcParams = {
  initialize: z.looseObject({
    protocolVersion: z.string(),
    client: z.looseObject({ name: z.string(), version: z.string().optional() }).optional(),
    token: z.string().optional(),
  }),
  ping: z.looseObject({}),
  'agents/list': z.looseObject({}),
  'session/open': z.looseObject({ ...place, ...position, agent: id, attach: z.boolean().optional() }),
  'session/attach': z.looseObject({
    ...session,
    ...position,
    agent: id.optional(),
    permissionMode: permissionMode.optional(),
  }),
  'session/load': z.looseObject({ ...session, agent: id.optional() }),
  'session/list': z.looseObject({
    agent: id.optional(),
    limit: z.number().int().min(1).max(1000).optional(),
    after: z.string().optional(),
  }),
  'session/find': z.looseObject(found),
  'session/fork': z.looseObject({ ...session, agent: id, after: z.string().optional() }),
  'session/delete': z.looseObject({ ...session, agent: id.optional() }),
  'session/detach': z.looseObject(session),
  'session/close': z.looseObject(session),
  'session/stream': z.looseObject({
    ...control,
    /** Chosen by the client, new for each stream that is not the continuation of one. */
    streamId: id,
    input: z.union([z.string(), sessionInput, z.array(sessionInput).min(1)]),
    options: streamOptions.optional(),
    /** It was sent before; whether it was accepted is not known. */
    retry: z.boolean().optional(),
  }),
  'session/respond': z.looseObject({ ...control, requestId: z.string(), answer: requestAnswer }),
  'session/steer': z.looseObject({ ...control, data: steerData }),
  'session/update': z.looseObject({ ...control, config: sessionUpdate }),
  'session/compact': z.looseObject(control),
  /** `through`: `seq` of the last event that still counts. */
  'session/rewind': z.looseObject({ ...control, through: z.number().int().min(0) }),
  'session/abort': z.looseObject({
    ...control,
    target: z
      .looseObject({
        reason: z.string().optional(),
        threadId: z.string().optional(),
        requestId: z.string().optional(),
      })
      .optional(),
  }),
  'session/pending': z.looseObject(session),
  'session/events': z.looseObject({
    ...session,
    after: z.string().max(256).optional(),
    limit: z.number().int().min(1).max(1000).optional(),
    /** The last ones in place of the first ones. */
    newest: z.boolean().optional(),
  }),
  'session/verify': z.looseObject(session),
  'session/artifact': z.looseObject({ ...session, ...artifact }),
  'session/ack': z.looseObject({ ...session, epoch: z.string().max(256), offset: z.number().int().min(0) }),
  'session/takeControl': z.looseObject(session),
  'operator/sessions': z.looseObject({ ...found, user: id.optional() }),
  'operator/events': z.looseObject({
    ...session,
    agent: id,
    userId: id,
    after: z.string().max(256).optional(),
    limit: z.number().int().min(1).max(1000).optional(),
  }),
  'operator/artifact': z.looseObject({ ...session, agent: id, userId: id, ...artifact }),
  'approvals/list': z.looseObject({ sessionId: id.optional(), own: z.boolean().optional() }),
  'approvals/watch': z.looseObject({ sessionId: id.optional(), stop: z.boolean().optional() }),
  'approvals/outcome': z.looseObject({ requestId: z.string().min(1), sessionId: id, userId: id, agent: id }),
  'approvals/decided': z.looseObject({
    user: id.optional(),
    agent: id.optional(),
    action: z.enum(['accept', 'edit', 'decline', 'cancel', 'expire']).optional(),
    tool: id.optional(),
    /** Who has answered it. */
    by: id.optional(),
    since: z.string().max(64).optional(),
    before: z.string().max(64).optional(),
    search: z.string().max(256).optional(),
    limit: z.number().int().min(1).max(200).optional(),
    after: z.string().max(1024).optional(),
  }),
  'approvals/explain': z.looseObject({
    requestId: z.string().min(1),
    sessionId: id,
    userId: id,
    agent: id,
    /** In place of the call's. */
    args: record.optional(),
  }),
  'approvals/decide': z.looseObject({
    requestId: z.string().min(1),
    answer: requestAnswer,
    /** Where it is asked; needed where several sessions ask a question of this id. */
    sessionId: id.optional(),
    userId: id.optional(),
    agent: id.optional(),
  }),
};
