import { guarded, newId, unreachable } from '../../base/index.ts';
import type {
  ContentPart,
  MessageInput,
  SessionInput,
  ToolApprovalInput,
  ToolResultInput,
  TurnTerms,
} from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { ensureValidator } from '../../gate/index.ts';
import { checkContent, unlessSince } from '../../session/index.ts';
import type { BoundedAnswer } from '../agent/index.ts';
import { assertCallOfAgent, assertTurnOfAgent, boundedAnswer, checkEdited, withBounded } from '../agent/index.ts';
import { callsToJoin, hasUnheard } from '../calls/index.ts';
import { hookUserMessage } from '../hooks/index.ts';
import type { AnswerOrigin, CallState, Fold, StoredEvent } from '../log/index.ts';
import { answerEvent, answerId, createEvent } from '../log/index.ts';
import type { GivenCredential } from '../services/index.ts';
import { givenCredential } from '../services/index.ts';
import { startingAgent } from '../step/index.ts';
import type { OpenRun } from './open-run.ts';

/**
 * What has been made of inputs: hooks are asked, and what is too large is kept elsewhere, once, however often the inputs
 * are looked at.
 */
export interface HeardInputs {
  parts?: ContentPart[];
  readonly results: Map<ToolResultInput, BoundedAnswer>;
}

/**
 * Turns inputs into events, or refuses them all. What is put into `credentials` is to be kept before they are stored.
 * Gives a promise only where something is waited for.
 */
export function acceptInputs(
  invocation: OpenRun,
  inputs: readonly SessionInput[],
  credentials: GivenCredential[],
  heard: HeardInputs,
): StoredEvent[] | Promise<StoredEvent[]> {
  assertNew(invocation, inputs);
  if (!inputs.some(({ kind }) => kind !== 'message' && kind !== 'continue'))
    return withWords(invocation, inputs, { events: [], answered: new Set(), resumesLongRunning: false }, heard);
  return acceptAnswers(invocation, inputs, credentials, heard).then((given) =>
    withWords(invocation, inputs, given, heard),
  );
}

/**
 * A client that gets no answer sends its message to another program: of two that have it one stores it, also where the
 * other was standing still between its look into the log and its turn.
 * @throws CoxswainError `ABORTED / E_SESSION_CONFLICT`
 */
function assertNew({ options, session, streamId }: OpenRun, inputs: readonly SessionInput[]): void {
  const seq = options[unlessSince];
  if (seq === undefined || !inputs.some(({ kind }) => kind === 'message')) return;
  if (!session.since(seq).some((event) => event.streamId === streamId)) return;
  const message = `session ${session.key.id}: this message was stored by another program, which has begun its turn`;
  throw new CoxswainError('ABORTED', 'E_SESSION_CONFLICT', message, { details: { streamId } });
}

/** What answers come to. */
interface Answers {
  readonly events: StoredEvent[];
  /** Ids of requests. */
  readonly answered: ReadonlySet<string>;
  readonly resumesLongRunning: boolean;
}

async function acceptAnswers(
  invocation: OpenRun,
  inputs: readonly SessionInput[],
  credentials: GivenCredential[],
  heard: HeardInputs,
): Promise<Answers> {
  const { fold } = invocation;
  const events: StoredEvent[] = [];
  const answered = new Set<string>();
  let resumesLongRunning = false;
  for (const input of inputs) {
    if (input.kind === 'message' || input.kind === 'continue') continue;
    if (answered.has(input.requestId)) throw twice(input.requestId);
    answered.add(input.requestId);
    if (invocation.session.from > 0) await invocation.session.seek(input.requestId);
    assertCallOfAgent(invocation.tree, fold, input.requestId);
    const edited = input.kind === 'tool_approval' && input.args ? await editedArgs(invocation, input) : undefined;
    let event = answerTo(invocation, edited ? ({ ...input, args: edited } as ToolApprovalInput) : input);
    if (input.kind === 'tool_result') {
      // Only of a call that this is an answer to.
      const bounded = heard.results.get(input) ?? boundedAnswer(invocation, input.requestId, input.result);
      const known = bounded instanceof Promise ? await bounded : bounded;
      heard.results.set(input, known);
      if (known.result !== input.result) event = answerTo(invocation, { ...input, result: known.result });
      event = withBounded(event, known);
    }
    if (input.kind === 'elicitation_response') {
      const given = credentialOf(invocation, input.requestId, input.response);
      if (given) credentials.push(given);
    }
    if (input.kind === 'tool_result' && fold.calls.get(input.requestId)?.longRunning) resumesLongRunning = true;
    events.push(event);
  }
  return { events, answered, resumesLongRunning };
}

/** With what a message or the wish to go on adds to the answers. */
function withWords(
  invocation: OpenRun,
  inputs: readonly SessionInput[],
  { events, answered, resumesLongRunning }: Answers,
  heard: HeardInputs,
): StoredEvent[] | Promise<StoredEvent[]> {
  const { fold } = invocation;
  const message = inputs.find((input): input is MessageInput => input.kind === 'message');
  if (message) {
    const kept = callsToJoin(invocation, inputs);
    const taken = takeMessage(invocation, message, { answered, kept }, heard);
    if (taken instanceof Promise) return taken.then((more) => events.concat(more));
    return events.length === 0 ? taken : events.concat(taken);
  }
  if (!fold.turn) {
    throw new CoxswainError('FAILED_PRECONDITION', 'E_NO_TURN', 'there is no turn to continue; send a message');
  }
  assertTurnOfAgent(invocation.tree, fold, fold.turn.id);
  const terms = termsOf(invocation);
  if (fold.turn.ended === undefined) {
    if (terms) events.unshift(invocation.rootEvent({ author: 'user', actions: { terms } }));
    return events;
  }
  const { ended } = fold.turn;
  const isClosed = ended === 'completed' || ended === 'refusal';
  const isNews = events.length > 0 || fold.hasLateResult || hasUnheard(invocation);
  if (isClosed ? isNews : resumesLongRunning) {
    // The new turn comes first: it is told what the long-running call came to.
    events.unshift(turnEvent(invocation, [], undefined));
  } else if (isClosed) {
    throw new CoxswainError('FAILED_PRECONDITION', 'E_TURN_COMPLETED', 'the turn is complete; send a message');
  } else {
    events.push(invocation.rootEvent({ author: 'user', actions: { reopened: true, ...(terms ? { terms } : {}) } }));
  }
  return events;
}

/** Edited arguments as the tool takes them; a host has checked what it decides on. */
async function editedArgs(
  { fold, tree }: OpenRun,
  { requestId, args, decision }: ToolApprovalInput,
): Promise<Record<string, unknown> | undefined> {
  const call = args && !decision ? fold.callOf(requestId) : undefined;
  if (!args || !call) return undefined;
  await ensureValidator();
  return checkEdited(tree, fold, call, args);
}

function answerTo(invocation: OpenRun, input: Exclude<SessionInput, { kind: 'message' | 'continue' }>): StoredEvent {
  const origin = {
    ...invocation.origin(),
    starts: true,
    rerun: input.kind === 'tool_approval' && input.rerun === true,
  };
  switch (input.kind) {
    case 'tool_result': {
      if (invocation.running.has(input.requestId)) throw twice(input.requestId);
      const { requestId, result, decision } = input;
      const event = answerEvent(
        invocation.fold,
        requestId,
        { kind: 'result', result, ...(decision ? { decision } : {}) },
        origin,
      );
      const call = invocation.fold.calls.get(requestId);
      return input.interim && call ? interimOf(event, call) : event;
    }
    case 'tool_approval':
      return approvedEvent(invocation.fold, input, origin);
    case 'elicitation_response': {
      const { requestId, response, by } = input;
      return answerEvent(
        invocation.fold,
        requestId,
        { kind: 'elicitation', ...response, ...(by ? { by } : {}) },
        origin,
      );
    }
    default:
      return unreachable(input, 'an answer');
  }
}

/** The event that stores a yes to a call, or to what a host asked about it. */
export function approvedEvent(fold: Fold, input: ToolApprovalInput, origin: AnswerOrigin): StoredEvent {
  const { requestId, args, by, decision, previewDigest } = input;
  return answerEvent(
    fold,
    requestId,
    {
      kind: 'approve',
      ...(args ? { args } : {}),
      ...(by ? { by } : {}),
      ...(previewDigest === undefined ? {} : { previewDigest }),
      ...(decision ? { decision } : {}),
    },
    origin,
  );
}

function credentialOf(
  invocation: OpenRun,
  requestId: string,
  response: { action: string; content?: Record<string, unknown> | undefined },
): GivenCredential | undefined {
  const call = invocation.fold.callOf(requestId);
  const ask = call?.asks.find((candidate) => candidate.requestId === requestId);
  return call && ask && givenCredential(ask, call.name, response);
}

/** What an open call is answered by, and the call where that is another id. */
function askedAs({ id, asks, questions = [] }: CallState): string {
  const requestId = asks.findLast(({ answer }) => !answer)?.requestId ?? questions.at(-1)?.requestId ?? id;
  return requestId === id ? id : `${requestId} (of call ${id})`;
}

/** Words begin a turn, or join the one that waits, where that goes on with calls which are kept for it. */
function takeMessage(
  invocation: OpenRun,
  message: MessageInput,
  { answered, kept }: { answered: ReadonlySet<string>; kept: ReadonlySet<CallState> },
  heard: HeardInputs,
): StoredEvent[] | Promise<StoredEvent[]> {
  const { fold } = invocation;
  const open = [...fold.open.values()].filter((call) => !answered.has(call.id) && !call.longRunning && !kept.has(call));
  const policy = invocation.options.whilePending ?? 'cancel';
  if (open.length > 0 && policy === 'hold') {
    const ids = open.map(askedAs).join(', ');
    throw new CoxswainError('FAILED_PRECONDITION', 'E_INPUT_REQUIRED', `answer first: ${ids}; or abort the turn`);
  }
  const events = policy === 'proceed' ? [] : invocation.settle(open, 'a new message came');
  const words = (parts: ContentPart[]) => {
    heard.parts = parts;
    return events.concat((kept.size > 0 ? joiningEvents : turnEvents)(invocation, parts, message.role));
  };
  if (heard.parts) return words(heard.parts);
  const { plugins } = invocation.engine;
  const said = checkContent(message.content);
  return plugins.length === 0 ? words(said) : hookUserMessage(invocation, plugins, said).then(words);
}

const turnEvents = (...about: Parameters<typeof turnEvent>): StoredEvent[] => [turnEvent(...about)];

function joiningEvents(invocation: OpenRun, parts: ContentPart[], role: string | undefined): StoredEvent[] {
  const terms = termsOf(invocation);
  const words = invocation.rootEvent({
    author: 'user',
    content: { role: 'user', parts },
    ...(role === 'developer' ? { customMetadata: { role } } : {}),
    actions: { steer: true },
  });
  return terms ? [invocation.rootEvent({ author: 'user', actions: { terms } }), words] : [words];
}

/** As they are stored: what is read of them later is read of this. @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
function termsOf({ options: { terms } }: OpenRun): TurnTerms | undefined {
  return terms && guarded('options.terms', () => ({ ...terms }));
}

function turnEvent(invocation: OpenRun, parts: ContentPart[], role: string | undefined): StoredEvent {
  const start = startingAgent(invocation.tree, invocation.fold).name;
  const { name: root } = invocation.tree.root;
  // Words that came too late for their turn belong to the next one and stand before its message.
  const late = [...invocation.fold.steers.keys()];
  const before = invocation.fold.terms.get(invocation.turnId);
  // One that nobody begins with a message goes on with what the turn before it was held to.
  const held = termsOf(invocation) ?? (parts.length > 0 ? undefined : before);
  // A copy of a sub-agent's session has what its caller has said: whose it was stays known.
  const terms = before?.calledBy && !held?.calledBy ? { ...held, calledBy: before.calledBy } : held;
  const { traceparent, tracestate }: Record<string, string> = { ...invocation.options.traceContext };
  const trace = traceparent !== undefined && { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
  return createEvent({
    ...invocation.origin(),
    turnId: newId(),
    author: 'user',
    ...(parts.length > 0 ? { content: { role: 'user', parts } } : {}),
    ...(role === 'developer' ? { customMetadata: { role } } : {}),
    actions: {
      turn: { start, ...(start === root ? {} : { root }) },
      ...(terms ? { terms } : {}),
      ...(trace ? { trace } : {}),
      ...(late.length > 0 ? { delivered: late } : {}),
    },
  });
}

function interimOf(event: StoredEvent, call: CallState): StoredEvent {
  const part = event.content?.parts[0];
  const response = part?.type === 'function_response' ? part.response : {};
  const { content: _, ...rest } = event;
  const id = answerId(call, `int:${call.id}`);
  return { ...rest, id, actions: { ...event.actions, interim: { [call.id]: response } } };
}

function twice(requestId: string): CoxswainError {
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_REQUEST_CLOSED',
    `request ${JSON.stringify(requestId)} is answered twice`,
  );
}
