import { hash } from 'node:crypto';
import type {
  DecisionRecord,
  FunctionResponsePart,
  HostAnswer,
  Settlement,
  ToolResult,
} from '../../contracts/index.ts';
import { CoxswainError, canonicalJson } from '../../contracts/index.ts';
import type { HasRun } from '../../gate/index.ts';
import { abandonedResult, deniedResult, isRepeatable, questionState, toResponse } from '../../gate/index.ts';
import { callIdOf, isHostQuestion, unreachable } from '../../session/index.ts';
import type { AskState, CallState } from './call-state.ts';
import type { EventActions, EventInit, StoredAnswer, StoredEvent } from './event.ts';
import { createEvent } from './event.ts';
import type { Fold } from './fold.ts';

export interface AnswerOrigin {
  streamId: string;
  invocationId: string;
  /** The answer comes from whoever runs host tools and starts now. */
  starts: boolean;
  /** The call was started before and is started once more. */
  rerun?: boolean;
}

type Found = { call: CallState; ask: AskState | undefined; policyAsk: boolean };

/**
 * The event that stores an answer to an open request. Its id is made from the request, so that two processes that
 * answer at once cannot both be stored.
 * @throws CoxswainError `FAILED_PRECONDITION / E_UNKNOWN_REQUEST | E_REQUEST_CLOSED | E_WRONG_ANSWER`
 */
export function answerEvent(fold: Fold, requestId: string, answer: HostAnswer, origin: AnswerOrigin): StoredEvent {
  const found = findRequest(fold, requestId);
  const { call, ask, policyAsk } = found;
  if (ask || policyAsk) return elicitationEvent(found, requestId, answer, origin);
  switch (answer.kind) {
    case 'result':
      return responseEvent(call, answer.result, origin, {
        by: answer.by?.id,
        ...(answer.decision ? { actions: { decisions: { [call.id]: answer.decision } } } : {}),
      });
    case 'approve': {
      const canStart = origin.starts && call.handledBy === 'host' && call.interim === undefined;
      const restarts = canStart && (origin.rerun === true || !call.started);
      if (call.decision?.outcome === 'approved' && !restarts) throw closed(requestId, 'approved');
      const decision: DecisionRecord = (origin.starts ? answer.decision : undefined) ?? {
        outcome: 'approved',
        by: answer.by ? `user:${answer.by.id}` : 'host',
        ...(answer.args ? { args: answer.args } : {}),
        ...(answer.reason === undefined ? {} : { reason: answer.reason }),
      };
      const starts = origin.starts && call.handledBy === 'host';
      return approvalEvent(
        call,
        { decisions: { [call.id]: decision }, ...(starts ? { started: [call.id] } : {}) },
        origin,
      );
    }
    case 'deny': {
      const by = answer.by ? `user:${answer.by.id}` : 'host';
      const reason = answer.reason === undefined ? {} : { reason: answer.reason };
      return responseEvent(call, deniedResult(answer.reason), origin, {
        by: answer.by?.id,
        actions: { decisions: { [call.id]: { outcome: 'denied', by, ...reason } } },
      });
    }
    case 'elicitation':
      throw wrong(requestId, 'it is a tool request; answer with a result, approve or deny');
    default:
      return unreachable(answer, 'an answer');
  }
}

/** Records that (and why) a call may run; with `started`, that it does. */
export function approvalEvent(call: CallState, actions: Partial<EventActions>, origin: AnswerOrigin): StoredEvent {
  // One id for each attempt: of two hosts that start a call at once, one is refused.
  const step = actions.started ? `go.${call.attempts}` : 'ok';
  return createEvent({ ...placeOf(call, origin), id: answerId(call, `${step}:${call.id}`), author: 'user', actions });
}

/**
 * What an answer is called: made from the request, so that the same answer is taken once only. Where a rewind has cut
 * that answer, the next one has another name, which again all makers of it come to.
 */
export function answerId({ cutIds }: CallState, id: string): string {
  for (let n = 1, name = id; ; name = `${id}~${++n}`) if (!cutIds.has(name)) return name;
}

/** The response to a call, whoever ran it. */
export function responseEvent(
  call: CallState,
  result: ToolResult,
  origin: { streamId: string; invocationId: string },
  extra: { by?: string | undefined; actions?: Partial<EventActions> } = {},
): StoredEvent {
  const { response, content } = toResponse(result);
  const part: FunctionResponsePart = { type: 'function_response', id: call.id, name: call.name, response };
  if (content) part.content = content;
  if (result.isError) part.isError = true;
  if (result.errorType !== undefined) part.errorType = result.errorType;
  const meta = storedMeta(result);
  if (meta) part._meta = meta;
  const init: EventInit = {
    ...placeOf(call, origin),
    id: answerId(call, `res:${call.id}`),
    author: call.author,
    content: { role: 'user', parts: [part] },
  };
  if (extra.by !== undefined) init.customMetadata = { settledBy: extra.by };
  if (extra.actions) init.actions = extra.actions;
  return createEvent(init);
}

/** What is stored beside a response: what people are shown, and what was cut off and where it is kept. */
function storedMeta({ display, _meta }: ToolResult): FunctionResponsePart['_meta'] {
  const truncated = _meta?.truncated;
  if (display === undefined && truncated === undefined) return undefined;
  return { ...(display === undefined ? {} : { display }), ...(truncated === undefined ? {} : { truncated }) };
}

/** What a call that nobody will answer any more is settled with. */
export function abandoned(call: CallState, why: string, hasRun: HasRun = hasRunOf(call)): ToolResult {
  return abandonedResult(hasRun, why);
}

/** What the log says of a call that has no result. */
export function hasRunOf(call: CallState): HasRun {
  if (hasBegun(call)) return 'begun';
  return isUnrecorded(call) ? 'unknown' : 'never';
}

/** A tool that may run again runs without a start in the log: nothing but a question that waits says that it has not begun. */
function isUnrecorded({ tool, asks, questions, hostAnswers }: CallState): boolean {
  if (!isRepeatable(tool?.annotations)) return false;
  if (asks.some(({ answer }) => answer === undefined)) return false;
  return questions === undefined || hostAnswers.some(({ action }) => action === 'accept');
}

/** One with an interim word has run, and so has one whose agent was asked. */
function hasBegun(call: CallState): boolean {
  return call.started || call.interim !== undefined || call.entered === true;
}

/** How a request was answered, if it was: for whoever comes second. A call that may run still waits for its result. */
export function settlementOf(fold: Fold, requestId: string, given?: HostAnswer): Settlement | undefined {
  const call = fold.callOf(requestId);
  if (!call) return undefined;
  if (given?.kind === 'result' && requestId === call.id && !call.settled) return undefined;
  const stored =
    call.asks.find((ask) => ask.requestId === requestId)?.answer ??
    call.hostAnswers.find((answer) => answer.requestId === requestId && !answer.quorum);
  if (stored) {
    return { status: 'already_settled', outcome: stored.action, ...(stored.by === undefined ? {} : { by: stored.by }) };
  }
  if (requestId !== call.id || !call.decision) return undefined;
  const { outcome, by } = call.decision;
  const hasResult = call.settled !== undefined && outcome === 'approved';
  return {
    status: 'already_settled',
    outcome: hasResult ? 'result' : outcome === 'approved' ? 'approve' : 'deny',
    by: (hasResult && call.settled?.by) || by.replace(/^user:/, ''),
  };
}

function findRequest(fold: Fold, requestId: string): Found {
  const call = fold.callOf(requestId);
  const callId = call?.id ?? callIdOf(requestId);
  const gone = call?.settled ?? fold.closed.get(callId);
  if (gone) throw closed(requestId, gone.errorType ?? 'answered');
  if (!call) throw unknown(requestId);
  if (requestId === call.id) return { call, ask: undefined, policyAsk: false };
  if (isHostQuestion(requestId)) return { call, ask: undefined, policyAsk: true };
  const ask = call.asks.find((candidate) => candidate.requestId === requestId);
  if (!ask) throw unknown(requestId);
  if (ask.answer) throw closed(requestId, ask.answer.action);
  if (questionState(ask) === 'expired') throw closed(requestId, 'expired');
  return { call, ask, policyAsk: false };
}

/** What stands in the id of an event as it is, and cannot be taken for a digest of somebody else. */
const plainVoter = /^(?![0-9a-f]{64}$)[!-~]{1,64}$/;

function elicitationEvent(found: Found, requestId: string, answer: HostAnswer, origin: AnswerOrigin): StoredEvent {
  const stored = storedAnswer(requestId, answer, found.ask?.kind);
  const { call } = found;
  const previous = call.hostAnswers.find((known) => known.requestId === requestId && !known.quorum);
  if (previous) throw closed(requestId, previous.action);
  // One person's vote on one thing: of another preview or other arguments it is another.
  const { by = '', onBehalfOf, digest = '', args } = stored;
  const isPlain = onBehalfOf === undefined && plainVoter.test(by);
  const who = isPlain ? by : hash('sha256', canonicalJson([by, onBehalfOf ?? null]));
  const voter = stored.quorum ? `:${who}:${hash('sha256', canonicalJson([digest, args ?? null])).slice(0, 16)}` : '';
  return createEvent({
    ...placeOf(call, origin),
    id: answerId(call, `ans:${requestId}${voter}`),
    author: 'user',
    actions: { answers: { [requestId]: stored } },
  });
}

const actions: ReadonlySet<unknown> = new Set(['accept', 'decline', 'cancel']);

function storedAnswer(requestId: string, answer: HostAnswer, kind: string | undefined): StoredAnswer {
  const stored: StoredAnswer = { action: 'accept' };
  if (answer.by) {
    stored.by = answer.by.id;
    if (answer.by.roles) stored.roles = answer.by.roles;
    if (answer.by.onBehalfOf !== undefined) stored.onBehalfOf = answer.by.onBehalfOf;
  }
  switch (answer.kind) {
    case 'approve':
      // What came with it would be stored.
      if (kind === 'auth_required') {
        throw wrong(requestId, 'it asks for a credential; accept with content.credential, or decline');
      }
      if (answer.args) stored.args = answer.args;
      if (answer.previewDigest !== undefined) stored.digest = answer.previewDigest;
      break;
    case 'deny':
      stored.action = 'decline';
      break;
    case 'elicitation':
      if (!actions.has(answer.action)) throw wrong(requestId, 'its action is not accept, decline or cancel');
      stored.action = answer.action;
      // A credential is for the credential store; the log never holds one.
      if (answer.content && kind !== 'auth_required') stored.content = answer.content;
      break;
    case 'result':
      throw wrong(requestId, 'it is a question; answer with approve, deny or an elicitation action');
    default:
      unreachable(answer, 'an answer');
  }
  if ('reason' in answer && answer.reason !== undefined) stored.reason = answer.reason;
  // A no is no vote.
  const quorum = answer.kind === 'approve' ? answer.quorum : undefined;
  if (typeof quorum === 'number' && quorum > 1) stored.quorum = quorum;
  return stored;
}

function placeOf(call: CallState, origin: { streamId: string; invocationId: string }) {
  const { turnId, path, branch, iso, thread } = call;
  const place: Partial<StoredEvent> = { turnId, streamId: origin.streamId, invocationId: origin.invocationId, path };
  if (branch !== undefined) place.branch = branch;
  if (iso !== undefined) place.iso = iso;
  if (thread !== undefined) place.thread = thread;
  return place;
}

function unknown(requestId: string): CoxswainError {
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_UNKNOWN_REQUEST',
    `this session has no request ${JSON.stringify(requestId)}; pending() lists what is open`,
    { details: { requestId } },
  );
}

function closed(requestId: string, how: string): CoxswainError {
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_REQUEST_CLOSED',
    `request ${JSON.stringify(requestId)} is closed (${how}); nothing was stored`,
    { details: { requestId, how } },
  );
}

function wrong(requestId: string, why: string): CoxswainError {
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_WRONG_ANSWER',
    `wrong answer to ${JSON.stringify(requestId)}: ${why}`,
    {
      details: { requestId },
    },
  );
}
