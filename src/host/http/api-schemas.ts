type Json = Readonly<Record<string, unknown>>;

/** Bodies. */
export type Taken =
  | 'OpenSession'
  | 'Message'
  | 'Respond'
  | 'Steer'
  | 'Update'
  | 'Compact'
  | 'Abort'
  | 'Decide'
  | 'Messages'
  | 'Chat'
  | 'RunAgentInput';

/** Answers. */
export type Given =
  | 'AgentList'
  | 'SessionList'
  | 'OpenedSession'
  | 'Session'
  | 'Nothing'
  | 'StreamStarted'
  | 'EventPage'
  | 'PendingList'
  | 'Settlement'
  | 'Steered'
  | 'Updated'
  | 'Compacted'
  | 'Control'
  | 'ApprovalList'
  | 'UiMessageList';

export type QueryName =
  | 'agent'
  | 'limit'
  | 'after'
  | 'before'
  | 'history'
  | 'sessionId'
  | 'abort-on-disconnect'
  | 'wait';

const text = { type: 'string' };

/** Parameters of the query. */
export const queryParameters: Readonly<Record<QueryName, { description: string; schema: Json }>> = {
  agent: { description: 'Name of an agent.', schema: text },
  limit: { description: 'How many, at most.', schema: { type: 'integer', minimum: 1, maximum: 1000 } },
  after: { description: 'Behind this one: a session id, or the id of an event.', schema: text },
  before: { description: 'Before this place, as `earlier` of an answer names it.', schema: text },
  history: { description: 'False: from now on only.', schema: { type: 'boolean', default: true } },
  sessionId: { description: 'Of this session only.', schema: text },
  'abort-on-disconnect': {
    description: 'The turn ends where its client goes before it has the end of an event stream.',
    schema: { type: 'boolean', default: false },
  },
  wait: {
    description: 'True: a turn that waits for the answer of somebody else is waited for.',
    schema: { type: 'boolean', default: false },
  },
};

export const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

const listOf = (name: string): Json => ({ type: 'array', items: refTo(name) });
const object = (properties: Record<string, Json>, optional: readonly string[] = []): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});
const flag = { type: 'boolean' };
const count = { type: 'integer', minimum: 0 };
/** By the id of a question. */
const edits = { type: 'object', additionalProperties: { type: 'object' } };

/** Schemas of answers that no message of the session protocol has by itself. */
const answers: Readonly<
  Record<
    | Exclude<Given, 'Settlement'>
    | 'OpenApproval'
    | 'Error'
    | 'Messages'
    | 'ProtocolMessage'
    | 'Chat'
    | 'RunAgentInput'
    | 'AgUiEvent'
    | 'UiMessage'
    | 'UiMessageChunk',
    Json
  >
> = {
  AgentList: object({ agents: listOf('AgentDescriptor') }),
  SessionList: object({ sessions: listOf('SessionSummary'), more: flag }),
  OpenedSession: object({ sessionId: text, descriptor: refTo('AgentDescriptor'), cursor: text }, ['cursor']),
  Session: object({ id: text, agentName: text, state: { type: 'object' }, lastUpdateTime: {} }),
  Nothing: { type: 'object' },
  StreamStarted: object({ streamId: text, duplicate: flag }, ['duplicate']),
  EventPage: object({ events: listOf('AgentEvent'), more: flag }),
  PendingList: object({ pending: listOf('OpenRequest'), standing: { type: 'object' }, streamId: text }, [
    'standing',
    'streamId',
  ]),
  Steered: object({ steerId: text, disposition: { enum: ['current_turn', 'next_turn'] } }),
  Updated: object({ effective: { const: 'next_step' } }),
  Compacted: object({ compacted: flag, tokensBefore: count, tokensAfter: count, reason: text }, ['reason']),
  Control: object({ fencingToken: text }),
  ApprovalList: object({ approvals: listOf('OpenApproval') }),
  OpenApproval: object({ agent: text, userId: text, request: refTo('OpenRequest') }),
  Messages: object({ messages: listOf('ProtocolMessage') }),
  ProtocolMessage: object({ jsonrpc: { const: '2.0' } }),
  Chat: {
    ...object({ id: text, messages: listOf('UiMessage'), messageId: text, trigger: text, edits, answers: edits }, [
      'messageId',
      'trigger',
      'edits',
      'answers',
    ]),
    additionalProperties: true,
  },
  RunAgentInput: {
    ...object({ threadId: text, runId: text, messages: { type: 'array' }, resume: { type: 'array' } }, [
      'messages',
      'resume',
    ]),
    additionalProperties: true,
  },
  AgUiEvent: object({ type: text }),
  UiMessage: object({ id: text, role: { enum: ['user', 'assistant'] }, parts: { type: 'array' }, metadata: {} }, [
    'metadata',
  ]),
  UiMessageList: object({ messages: listOf('UiMessage'), earlier: text }, ['earlier']),
  UiMessageChunk: object({ type: text }),
  Error: object({
    error: object({ code: text, status: text, message: text, retryable: flag, details: { type: 'object' } }, [
      'details',
    ]),
  }),
};

/** All schemas of the document, by name: made of the contracts, once. */
export async function apiSchemas(): Promise<Record<string, object>> {
  const contracts = await import('../../contracts/schemas/index.ts');
  const { rpcParams } = contracts;
  const path = { sessionId: true, key: true } as const;
  const bodies: Record<
    Exclude<Taken, 'Messages' | 'Chat' | 'RunAgentInput'>,
    Parameters<typeof contracts.jsonSchemasOf>[0][string]
  > = {
    OpenSession: rpcParams['session/open'].omit({
      agent: true,
      attach: true,
      epoch: true,
      offset: true,
      cursor: true,
      history: true,
      control: true,
      fencingToken: true,
    }),
    Message: rpcParams['session/stream'].omit(path).partial({ streamId: true, fencingToken: true }),
    Respond: rpcParams['session/respond'].omit(path).partial({ fencingToken: true }),
    Steer: rpcParams['session/steer'].omit(path).partial({ fencingToken: true }),
    Update: rpcParams['session/update'].omit(path).partial({ fencingToken: true }),
    Compact: rpcParams['session/compact'].omit(path).partial({ fencingToken: true }),
    Abort: rpcParams['session/abort'].omit(path).partial({ fencingToken: true }),
    Decide: rpcParams['approvals/decide'],
  };
  const made = contracts.jsonSchemasOf(
    {
      ...bodies,
      AgentDescriptor: contracts.agentDescriptor,
      AgentEvent: contracts.agentEvent,
      ContentPart: contracts.contentPart,
      OpenRequest: contracts.reportedRequest,
      RequestAnswer: contracts.requestAnswer,
      SessionInput: contracts.sessionInput,
      SessionSummary: contracts.sessionSummary,
      Settlement: contracts.settlement,
    },
    (name) => refTo(name).$ref as string,
  );
  return { ...made, ...answers };
}
