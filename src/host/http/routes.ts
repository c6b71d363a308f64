import type { RpcMethod } from '../../contracts/index.ts';
import { postAgUi } from './ag-ui-run.ts';
import type { Given, QueryName, Taken } from './api-schemas.ts';
import type { HttpExchange } from './exchange.ts';
import { eventAnswer, given, jsonAnswer, numberIn, segment, textIn } from './exchange.ts';
import { eventPage, followEvents, postMessage } from './follow-session.ts';
import { chatMessages, postChat, resumeChat } from './ui-chat.ts';

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** What it does, in a sentence of the OpenAPI document. */
  readonly says: string;
  /** Schema of the body; absent: it takes none, or an empty one. */
  readonly takes?: Taken;
  /** Schema of the answer, with its status. */
  readonly gives: readonly [status: 200 | 202, schema: Given];
  /** Schema of the data of the event stream that is sent to who takes one. */
  readonly events?: 'AgentEvent' | 'OpenApproval' | 'ProtocolMessage' | 'UiMessageChunk' | 'AgUiEvent';
  /** Bytes that a body may have beside one message of the greatest size. */
  readonly envelope?: number;
  /** Parameters of the query that it takes; others are refused. */
  readonly query: readonly QueryName[];
  readonly answer: (exchange: HttpExchange) => Promise<Response>;
}

const SESSION = '/v1/agents/{agent}/sessions/{session}';

/** A change of a session by a method of the session protocol, with what the body says. */
const change = (method: RpcMethod, takes: Taken, gives: Given, says: string): Route => ({
  method: 'POST',
  says,
  takes,
  gives: [200, gives],
  query: [],
  async answer(exchange) {
    const { caller, body, key } = exchange;
    const sessionId = segment(exchange, 'session');
    const hold = await caller.takeUp(segment(exchange, 'agent'), sessionId);
    const fencingToken = caller.token(hold, textIn(exchange, 'fencingToken'));
    return jsonAnswer(200, await caller.call(method, { ...body, ...given({ sessionId, fencingToken, key }) }));
  },
});

/** What a method of the session protocol shows of a session. */
const shown =
  (method: RpcMethod): Route['answer'] =>
  async (exchange) => {
    const sessionId = segment(exchange, 'session');
    await exchange.caller.takeUp(segment(exchange, 'agent'), sessionId);
    return jsonAnswer(200, await exchange.caller.call(method, { sessionId }));
  };

/** What a method says of a session that need not be open. */
const said =
  (method: RpcMethod): Route['answer'] =>
  async (exchange) => {
    const place = { sessionId: segment(exchange, 'session'), agent: segment(exchange, 'agent') };
    return jsonAnswer(200, await exchange.caller.call(method, place));
  };

async function watchApprovals(exchange: HttpExchange): Promise<Response> {
  const { caller, query } = exchange;
  const body = exchange.open();
  await caller.call('approvals/watch', given({ sessionId: query.get('sessionId') }));
  return eventAnswer(body);
}

/** All routes, by their path; `{name}` is one segment. */
export const routes: Readonly<Record<string, readonly Route[]>> = {
  '/v1/agents': [
    {
      method: 'GET',
      says: 'The agents that are served.',
      gives: [200, 'AgentList'],
      query: [],
      answer: async ({ caller }) => jsonAnswer(200, await caller.call('agents/list', {})),
    },
  ],
  '/v1/connections': [
    {
      method: 'POST',
      says: 'Begins a connection of the session protocol, for clients that implement it: its messages are the event stream.',
      gives: [200, 'Nothing'],
      events: 'ProtocolMessage',
      query: [],
      answer: async (exchange) => eventAnswer(exchange.connect()),
    },
  ],
  '/v1/connections/{connection}': [
    {
      method: 'POST',
      says: 'Sends messages of the session protocol over a connection, in their order.',
      takes: 'Messages',
      gives: [202, 'Nothing'],
      query: [],
      envelope: 1024,
      async answer(exchange) {
        await exchange.deliver(segment(exchange, 'connection'), exchange.body.messages);
        return jsonAnswer(202, {});
      },
    },
  ],
  '/v1/sessions': [
    {
      method: 'GET',
      says: 'Sessions of the caller, a page at a time.',
      gives: [200, 'SessionList'],
      query: ['agent', 'limit', 'after'],
      async answer(exchange) {
        const { caller, query } = exchange;
        const params = { agent: query.get('agent'), limit: numberIn(exchange, 'limit'), after: query.get('after') };
        return jsonAnswer(200, await caller.call('session/list', given(params)));
      },
    },
  ],
  '/v1/agents/{agent}/sessions': [
    {
      method: 'POST',
      says: 'Opens a session, or creates one: without `sessionId` a new one, else with `create: true`.',
      takes: 'OpenSession',
      gives: [200, 'OpenedSession'],
      query: [],
      async answer(exchange) {
        const { caller, body, key } = exchange;
        const isNew = body.sessionId === undefined && body.fork === undefined;
        const params = { create: isNew, ...body, agent: segment(exchange, 'agent'), attach: false, control: false };
        const { sessionId, descriptor, cursor } = (await caller.callOnce('session/open', params, key)) as Record<
          string,
          unknown
        >;
        return jsonAnswer(200, given({ sessionId, descriptor, cursor }));
      },
    },
  ],
  [SESSION]: [
    {
      method: 'GET',
      says: 'State of a session.',
      gives: [200, 'Session'],
      query: [],
      answer: said('session/load'),
    },
    {
      method: 'DELETE',
      says: 'Deletes a session; one that is not there is no error.',
      gives: [200, 'Nothing'],
      query: [],
      async answer(exchange) {
        const place = { sessionId: segment(exchange, 'session'), agent: segment(exchange, 'agent') };
        return jsonAnswer(200, await exchange.caller.callOnce('session/delete', place, exchange.key));
      },
    },
  ],
  [`${SESSION}/messages`]: [
    {
      method: 'POST',
      says:
        'Sends a message, or continues a turn. The turn runs on the server whether or not anybody reads; its events are the answer ' +
        'where the request accepts `text/event-stream`.',
      takes: 'Message',
      gives: [202, 'StreamStarted'],
      events: 'AgentEvent',
      query: ['abort-on-disconnect'],
      answer: postMessage,
    },
  ],
  [`${SESSION}/events`]: [
    {
      method: 'GET',
      says:
        'What happens in a session behind `Last-Event-ID` or `after`, and on, where the request accepts ' +
        '`text/event-stream`; else a page of stored events.',
      gives: [200, 'EventPage'],
      events: 'AgentEvent',
      query: ['after', 'limit', 'history'],
      answer: (exchange) => (exchange.wantsEvents ? followEvents(exchange) : eventPage(exchange)),
    },
  ],
  [`${SESSION}/pending`]: [
    {
      method: 'GET',
      says: 'What the session waits for.',
      gives: [200, 'PendingList'],
      query: [],
      answer: shown('session/pending'),
    },
  ],
  [`${SESSION}/respond`]: [change('session/respond', 'Respond', 'Settlement', 'Answers an open request.')],
  [`${SESSION}/steer`]: [change('session/steer', 'Steer', 'Steered', 'Adds words to a turn while it runs.')],
  [`${SESSION}/update`]: [change('session/update', 'Update', 'Updated', 'Changes settings of a session.')],
  [`${SESSION}/compact`]: [
    change(
      'session/compact',
      'Compact',
      'Compacted',
      'Sums up older messages of what the model is sent; the log stays whole.',
    ),
  ],
  [`${SESSION}/abort`]: [
    change('session/abort', 'Abort', 'Nothing', 'Ends what runs; answered when nothing more is written.'),
  ],
  [`${SESSION}/control`]: [
    {
      method: 'POST',
      says: 'Takes control of a session from a client that has it.',
      gives: [200, 'Control'],
      query: [],
      answer: shown('session/takeControl'),
    },
  ],
  '/v1/agents/{agent}/chat': [
    {
      method: 'POST',
      says:
        'Takes what `useChat` of the AI SDK posts: a message, or answers to approvals. The answer is its UI message stream. ' +
        'What the body says of the past is ignored.',
      takes: 'Chat',
      gives: [200, 'Nothing'],
      events: 'UiMessageChunk',
      query: ['abort-on-disconnect'],
      answer: postChat,
    },
  ],
  '/v1/agents/{agent}/chat/{session}': [
    {
      method: 'GET',
      says: 'The newest messages of a session, as pages of the AI SDK keep them; `earlier`, where there are older ones, is the `before` of those.',
      gives: [200, 'UiMessageList'],
      query: ['before'],
      answer: chatMessages,
    },
  ],
  '/v1/agents/{agent}/chat/{session}/stream': [
    {
      method: 'GET',
      says: 'The turn that runs, from its beginning, as a UI message stream; 204 where none runs.',
      gives: [200, 'Nothing'],
      events: 'UiMessageChunk',
      query: ['abort-on-disconnect', 'wait'],
      answer: resumeChat,
    },
  ],
  '/v1/agents/{agent}/ag-ui': [
    {
      method: 'POST',
      says:
        'One run of AG-UI: the newest message, or answers to interrupts; with neither, the messages of the session. ' +
        'What the body says of the past is ignored.',
      takes: 'RunAgentInput',
      gives: [200, 'Nothing'],
      events: 'AgUiEvent',
      query: ['abort-on-disconnect'],
      answer: postAgUi,
    },
  ],
  '/v1/approvals': [
    {
      method: 'GET',
      says:
        'Questions of all sessions that the caller may decide; as they come, where the request accepts ' +
        '`text/event-stream`.',
      gives: [200, 'ApprovalList'],
      events: 'OpenApproval',
      query: ['sessionId'],
      async answer(exchange) {
        if (exchange.wantsEvents) return watchApprovals(exchange);
        const { caller, query } = exchange;
        return jsonAnswer(200, await caller.call('approvals/list', given({ sessionId: query.get('sessionId') })));
      },
    },
  ],
  '/v1/approvals/decide': [
    {
      method: 'POST',
      says: 'Decides a question; the turn continues by itself.',
      takes: 'Decide',
      gives: [200, 'Settlement'],
      query: [],
      answer: async ({ caller, body, key }) => jsonAnswer(200, await caller.callOnce('approvals/decide', body, key)),
    },
  ],
};

const patterns = Object.entries(routes).map(([path, methods]) => ({
  path,
  names: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''),
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '([^/]+)')}$`),
  methods,
}));

/** What is at a path below the base path; undefined: nothing. */
export function routesAt(
  path: string,
): { methods: readonly Route[]; segments: Record<string, string> | undefined } | undefined {
  for (const { pattern, names, methods } of patterns) {
    const match = pattern.exec(path);
    if (!match) continue;
    try {
      const values = match.slice(1).map(decodeURIComponent);
      return { methods, segments: Object.fromEntries(names.map((name, at) => [name, values[at] ?? ''])) };
    } catch {
      // No UTF-8.
      return { methods, segments: undefined };
    }
  }
  return undefined;
}
