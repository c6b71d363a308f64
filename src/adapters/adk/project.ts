import { isEmpty, isoTime, MANY } from '../../base/index.ts';
import type {
  AgentEvent,
  ContentPart,
  ElicitationRequestEvent,
  FunctionCallPart,
  FunctionResponsePart,
  StreamEndData,
} from '../../contracts/index.ts';
import { fromResponse } from '../../gate/index.ts';
import type { Ask, BeganRecord, CompletedRecord, StoredEvent } from '../../runtime/index.ts';
import { callNotes, isTruncated, isWithin, noDelta, noEffects, threadOf } from '../../runtime/index.ts';
import { nameOfPrincipal, VOTE } from '../../session/index.ts';
import { cursorOf } from '../../session/resume/index.ts';

type Body = Record<string, unknown> & { type: string };

const none: readonly never[] = [];

/**
 * What a host sees of one stored event. Pure, and in a fixed order: which agents have ended and begun (custom),
 * session_update, message, tool_request…,
 * tool_update…, tool_response…, elicitation_request…, elicitation_response…, usage, custom…, error. The end of a
 * turn is the stream's to tell: {@link projectEnd}.
 */
export function project(sessionId: string, event: StoredEvent): AgentEvent[] {
  const bodies: Body[] = [];
  const { content, actions } = event;
  // In the order of `sections`. Each event passes here: a call for all that it does not say would cost more than the looks.
  if (actions.completed || actions.began) lifecycle(event, bodies);
  if (actions.config || actions.stateDelta !== noDelta) sessionUpdate(event, bodies);
  if (content || actions.steer) message(event, bodies);
  if (content) requests(event, bodies);
  if (actions.started || actions.interim) calls(event, bodies);
  if (content) responses(event, bodies);
  if (actions.asks) questions(event, bodies);
  if (actions.answers) answers(event, bodies);
  if (event.usage) usage(event, bodies);
  if (actions !== noEffects || event.customMetadata) customs(event, bodies);
  if (event.errorCode !== undefined) failure(event, bodies);
  for (let n = 0; n < bodies.length; n++) complete(bodies[n] as Body, sessionId, event, n);
  return bodies as unknown as AgentEvent[];
}

/** The same, made as it is asked for. */
export function* projectInPieces(sessionId: string, event: StoredEvent): Generator<AgentEvent> {
  let n = 0;
  for (const section of sections) {
    for (const piece of ofParts.has(section) ? slicesOf(event) : [event]) {
      const bodies: Body[] = [];
      section(piece, bodies);
      for (const body of bodies) yield complete(body, sessionId, event, n++);
    }
  }
}

/** The event with a few of its parts at a time. */
function* slicesOf(event: StoredEvent): Generator<StoredEvent> {
  const { content } = event;
  for (let at = 0; content && at < content.parts.length; at += MANY) {
    yield { ...event, content: { ...content, parts: content.parts.slice(at, at + MANY) } };
  }
}

/** What each kind of thing that an event says comes to, in the order in which it is shown. */
const sections: readonly ((event: StoredEvent, bodies: Body[]) => void)[] = [
  lifecycle,
  sessionUpdate,
  words,
  requests,
  calls,
  responses,
  questions,
  answers,
  usage,
  customs,
  failure,
];

/** Those that look at each part by itself. */
const ofParts = new Set([requests, responses]);

function words(event: StoredEvent, bodies: Body[]): void {
  if (event.content || event.actions.steer) message(event, bodies);
}

function requests({ content, actions }: StoredEvent, bodies: Body[]): void {
  if (!content || actions.steer) return;
  for (const part of content.parts) if (part.type === 'function_call') bodies.push(toolRequest(part));
}

function responses(event: StoredEvent, bodies: Body[]): void {
  if (!event.content) return;
  for (const part of event.content.parts) {
    if (part.type === 'function_response') bodies.push(toolResponse(part, event));
  }
}

function questions({ actions }: StoredEvent, bodies: Body[]): void {
  if (!actions.asks) return;
  for (const ask of actions.asks) bodies.push(elicitation(ask));
}

function answers({ actions }: StoredEvent, bodies: Body[]): void {
  if (!actions.answers) return;
  for (const [requestId, answer] of entriesOf(actions.answers)) {
    const { action, by, onBehalfOf, quorum, reason, content } = answer;
    // The id alone would name the same principal acting for others, too.
    const byName = by === undefined ? undefined : nameOfPrincipal({ id: by, ...defined({ onBehalfOf }) });
    // One of several votes is no answer yet.
    if (quorum) bodies.push({ type: 'custom', kind: VOTE, data: { requestId, ...defined({ by, byName }) } });
    else bodies.push({ type: 'elicitation_response', requestId, action, ...defined({ by, byName, reason, content }) });
  }
}

function usage(event: StoredEvent, bodies: Body[]): void {
  if (event.usage) bodies.push({ type: 'usage', ...defined({ model: event.model }), ...event.usage });
}

function failure(event: StoredEvent, bodies: Body[]): void {
  if (event.errorCode !== undefined) bodies.push(error(event));
}

/** A turn's stored end, as it was shown at the end of its stream. */
export function projectEnd(sessionId: string, event: StoredEvent, n: number, data: StreamEndData): AgentEvent {
  const reason = event.actions.end?.reason ?? 'completed';
  return complete({ type: 'stream_end', reason, data }, sessionId, event, n);
}

/** Adds what every event has, in place: a copy of each body would cost as much as making it. */
function complete(body: Body, sessionId: string, event: StoredEvent, n: number): AgentEvent {
  body.id = `${event.id}:${n}`;
  body.timestamp = isoTime(event.timestamp);
  body.sessionId = sessionId;
  body.streamId = event.streamId;
  if (event.turnId !== '') body.turnId = event.turnId;
  body.seq = event.seq;
  body.cursor = cursorOf(event.seq, n);
  // What tells of another agent than the event's says so itself.
  if (body.agentId !== undefined) return body as AgentEvent;
  const threadId = threadOf(event);
  body.agentId = event.author;
  if (threadId !== undefined) body.threadId = threadId;
  body.source = event.author === 'user' ? 'user' : 'agent';
  if (event.actions.skipSummarization) body._meta ??= { skipSummarization: true };
  return body as AgentEvent;
}

/** It happened before anything else that the event says, and mostly to another agent than the event's. */
function lifecycle(event: StoredEvent, bodies: Body[]): void {
  const { completed = none, began = none } = event.actions;
  if (completed === none && began === none) return;
  const around = threadOf(event);
  // Whoever has begun here as well is told to have ended after that.
  const brief = completed.filter(({ path }) => began.some((record) => record.path === path));
  for (const record of completed) if (!brief.includes(record)) bodies.push(completion(record, around));
  const running = new Set<string>();
  const tellEnds = (next?: string) => {
    for (const record of brief) {
      if (!running.has(record.path) || (next !== undefined && isWithin(record.path, next))) continue;
      running.delete(record.path);
      bodies.push(completion(record, around));
    }
  };
  for (const record of began) {
    tellEnds(record.path);
    running.add(record.path);
    bodies.push(beginning(record, around));
  }
  tellEnds();
}

function completion({ agent, path, outcome, thread, aborted }: CompletedRecord, around: string | undefined): Body {
  const escalate = outcome.kind === 'done' && outcome.escalate ? { escalate: true } : {};
  const data = { agent, path, ...escalate, ...(aborted ? { aborted } : {}) };
  return of(agent, thread ?? around, 'agent_completed', data);
}

function beginning({ agent, path, iteration, thread }: BeganRecord, around: string | undefined): Body {
  const at = thread ?? around;
  if (iteration === undefined) return of(agent, at, 'agent_started', { agent, path });
  return of(agent, at, 'loop_iteration', { agent, path, iteration });
}

/** Of an agent, in its own thread. */
function of(agentId: string, threadId: string | undefined, kind: string, data: Record<string, unknown>): Body {
  const body: Body = { type: 'custom', kind, data, agentId, source: 'agent' };
  if (threadId) body.threadId = threadId;
  return body;
}

function sessionUpdate(event: StoredEvent, bodies: Body[]): void {
  const { stateDelta, config } = event.actions;
  // An agent run as a tool keeps its state to itself until it is done.
  const isDelta = event.iso === undefined && !isEmpty(stateDelta);
  if (!config && !isDelta) return;
  const delta = isDelta ? { stateDelta } : {};
  const { tools: _, permissionMode, ...shown } = config ?? {};
  bodies.push({
    type: 'session_update',
    ...shown,
    ...(permissionMode === undefined ? {} : { config: { ...(shown.config as object), permissionMode } }),
    ...delta,
  });
}

const notWords = new Set(['function_call', 'function_response']);

function message(event: StoredEvent, bodies: Body[]): void {
  const words = (event.content?.parts ?? []).filter((part) => !notWords.has(part.type));
  const replaces = event.customMetadata?.replaces;
  if (words.length === 0 && replaces === undefined) return;
  const role = event.author !== 'user' ? 'agent' : event.customMetadata?.role === 'developer' ? 'developer' : 'user';
  bodies.push({
    type: 'message',
    role,
    content: words as ContentPart[],
    ...(event.interrupted ? { interrupted: true } : {}),
    ...(isTruncated(event) ? { truncated: true } : {}),
    _meta: {
      messageId: event.id,
      ...(replaces === undefined ? {} : { replaces }),
      ...(event.actions.steer ? { steer: true, ...defined({ saidBy: event.customMetadata?.saidBy }) } : {}),
      ...(event.actions.skipSummarization ? { skipSummarization: true } : {}),
      ...traceOf(event),
    },
  });
}

/** By whose trace a turn was begun. Clients may say it: what is none is not shown. */
function traceOf({ actions }: StoredEvent): { traceparent?: string } {
  const { traceparent } = actions.trace ?? {};
  const isOne = typeof traceparent === 'string' && /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(traceparent);
  return isOne ? { traceparent } : {};
}

function toolRequest(part: FunctionCallPart): Body {
  const { tool, rawArgs, hooked, handledBy = 'agent' } = callNotes(part);
  return {
    type: 'tool_request',
    requestId: part.id,
    name: part.name,
    args: part.args,
    ...defined({ kind: tool?.kind }),
    handledBy,
    ...defined({ annotations: tool?.annotations }),
    ...(rawArgs === undefined && hooked === undefined ? {} : { _meta: defined({ rawArgs, hooked }) }),
  };
}

function calls(event: StoredEvent, bodies: Body[]): void {
  const { started, decisions, interim } = event.actions;
  if (!started && !interim) return;
  for (const requestId of started ?? none) {
    bodies.push({ type: 'tool_update', requestId, status: 'started', ...defined({ by: decisions?.[requestId]?.by }) });
  }
  for (const [requestId, response] of entriesOf(interim)) {
    const content = fromResponse({ type: 'function_response', id: requestId, name: '', response }).content;
    bodies.push({ type: 'tool_update', requestId, status: 'pending', content });
  }
}

function toolResponse(part: FunctionResponsePart, event: StoredEvent): Body {
  const { content, structuredContent, display, isError, errorType } = fromResponse(part);
  return {
    type: 'tool_response',
    requestId: part.id,
    name: part.name,
    content,
    ...defined({ structuredContent, display, isError, errorType }),
    ...(event.actions.skipSummarization ? { _meta: { skipSummarization: true } } : {}),
  };
}

/** A stored question as an event. */
export function elicitation(
  ask: Ask,
): Omit<ElicitationRequestEvent, 'id' | 'timestamp' | 'sessionId' | 'streamId'> & Body {
  const { requestId, callId, kind, message: text, context, requestedSchema, expiresAt } = ask;
  return {
    type: 'elicitation_request',
    requestId,
    callId,
    kind,
    message: text,
    ...(context ? { context } : {}),
    ...(requestedSchema ? { requestedSchema } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt: isoTime(expiresAt) }),
  };
}

function customs(event: StoredEvent, bodies: Body[]): void {
  const { decisions, artifactDelta, delivered, transferToAgent, rewound, compacted } = event.actions;
  if (rewound) bodies.push({ type: 'custom', kind: 'rewound', data: rewound });
  if (compacted) bodies.push({ type: 'custom', kind: 'compacted', data: { path: event.path, ...compacted } });
  if (decisions) {
    for (const [callId, decision] of Object.entries(decisions))
      bodies.push({ type: 'custom', kind: 'policy_decision', data: { callId, ...decision } });
  }
  if (!isEmpty(artifactDelta)) bodies.push({ type: 'custom', kind: 'artifact_delta', data: artifactDelta });
  if (delivered) bodies.push({ type: 'custom', kind: 'steer_applied', data: { steerIds: delivered } });
  const response =
    transferToAgent === undefined ? undefined : event.content?.parts.find((part) => part.type === 'function_response');
  if (response?.type === 'function_response') {
    const data = { from: event.author, to: transferToAgent, requestId: response.id };
    bodies.push({ type: 'custom', kind: 'agent_transfer', data });
  }
  const metadata = event.customMetadata && ownMetadata(event.customMetadata);
  if (metadata) bodies.push({ type: 'custom', kind: 'metadata', data: metadata });
}

const internalMetadata = new Set(['replaces', 'role', 'saidBy', 'settledBy', 'step', 'value']);

function ownMetadata(metadata: Record<string, unknown>): Record<string, unknown> | undefined {
  const entries = Object.entries(metadata).filter(([key]) => !internalMetadata.has(key));
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function error(event: StoredEvent): Body {
  return {
    type: 'error',
    status: event.error?.status ?? 'INTERNAL',
    code: event.errorCode,
    message: event.errorMessage ?? '',
    fatal: event.error?.fatal ?? true,
    retryable: event.error?.retryable ?? false,
    ...defined({ details: event.error?.details }),
  };
}

/** Most events have none: nothing is made for them. */
function entriesOf<T>(record: Record<string, T> | undefined): readonly [string, T][] {
  return record ? Object.entries(record) : none;
}

/** Without the members that are undefined. */
function defined<T extends Record<string, unknown>>(value: T): Partial<T> {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) if (value[key] !== undefined) result[key] = value[key];
  return result as Partial<T>;
}
