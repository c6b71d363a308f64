import type { PermissionMode, Principal, ReportedRequest } from '../../contracts/index.ts';
import { copyJson, isCoxswainError, isHostQuestion } from '../../contracts/index.ts';
import { charsOf, decisionShown, kindOf, whyTooLong } from '../../session/index.ts';
import { isTighter, stricterMode } from '../terms/index.ts';
import type { KnownCall, KnownCalls } from './known-calls.ts';
import { MOST_UNSETTLED } from './known-calls.ts';
import { announced, isKeptId, MOST_ID } from './records.ts';

/** Nobody waits for more at once; a list without an end is not read. */
const MOST_OPEN = 100_000;
/** Characters of all that is open, as JSON: it is held, shown and evaluated together. */
const MOST_CHARS = 64 * 1024 * 1024;

/** What an executor says that its host knows to be otherwise. */
export interface Contradiction {
  /** Absent where it cannot be told. */
  requestId?: string;
  what: string;
}

/** On whose behalf a call is by the word of its executor alone, `null` where it says nothing. */
export const claimed: unique symbol = Symbol('claimed');

/**
 * With `claimed`, the host knows of no terms of the call's turn: policy must let it run for whoever goes on with it,
 * and for whom its executor says that it is.
 */
export type Claimed = ReportedRequest & { [claimed]?: Principal | null };

/** Whose requests these are. */
export interface Executor {
  readonly sessionId: string;
  /** Of the agent that was opened: nobody else stands above those that ask. */
  readonly agent: string;
}

/**
 * What an executor says is open, as far as a host believes it: which calls there are and what they want. What has been
 * decided, answered and started, on whose behalf, is what the host has noted itself.
 */
export function believed(
  claims: unknown,
  known: KnownCalls,
  executor: Executor,
  most = MOST_CHARS,
): { open: ReportedRequest[]; contradictions: Contradiction[] } {
  const open: ReportedRequest[] = [];
  const contradictions: Contradiction[] = [];
  const ids = new Set<string>();
  if (!Array.isArray(claims)) {
    return { open, contradictions: [{ what: `what is open is ${kindOf(claims)}, not a list` }] };
  }
  const { length } = claims;
  if (length > MOST_OPEN) return { open, contradictions: [{ what: `it lists ${length} open requests` }] };
  let chars = 0;
  // By index: how a list of somebody else's is gone through is its own affair.
  for (let index = 0; index < length; index++) {
    const claim: unknown = claims[index];
    const read = readRequest(claim, executor);
    if ('what' in read) {
      contradictions.push(read);
      continue;
    }
    const { requestId } = read;
    const own = charsOf(read);
    if (chars + own > most) {
      contradictions.push({ requestId, what: `what is open has more than ${most} characters of JSON with it` });
      continue;
    }
    chars += own;
    const call = read.kind === 'tool' ? known.meet(requestId, announced(read)) : undefined;
    const what = ids.has(requestId) ? 'it is listed twice' : whyNotBelieved(read, call, known);
    ids.add(requestId);
    if (what === undefined) open.push(withKnown(read, call, known));
    else contradictions.push({ requestId, what });
  }
  known.forgetHeard(ids);
  return { open, contradictions };
}

function whyNotBelieved(
  { requestId, kind }: ReportedRequest,
  call: KnownCall | undefined,
  known: KnownCalls,
): string | undefined {
  if (isHostQuestion(requestId)) return 'questions under such an id are the host’s own';
  if (kind !== 'tool' || call) return undefined;
  if (known.isSettled(requestId)) return 'it was settled';
  if (known.isFull && !known.calls.has(requestId)) {
    return `${MOST_UNSETTLED} calls of the session have neither a result nor been given up`;
  }
  return 'another name, other arguments or another place to run were announced for it';
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The wants of a request, copied: whoever made it cannot change them later. */
function readRequest(claim: unknown, { sessionId, agent }: Executor): Claimed | Contradiction {
  let given: Record<string, unknown>;
  try {
    if (!isRecord(claim)) return { what: `an open request is ${kindOf(claim)}` };
    given = copyJson(claim, 'request');
  } catch (error) {
    if (!isCoxswainError(error)) throw error;
    return { what: error.message };
  }
  const { requestId, kind, turnId, args, name, path, agentPath, requestedAt } = given;
  if (!isText(requestId) || requestId === '') return { what: 'an open request has no requestId' };
  if (!isKeptId(requestId)) return { what: `the requestId of an open request is longer than ${MOST_ID} characters` };
  const wrong = (what: string): Contradiction => ({ requestId, what: `its ${what}` });
  if (!isText(kind)) return wrong('kind is no text');
  const callId = given.callId ?? (kind === 'tool' ? requestId : undefined);
  if (callId !== undefined && !isText(callId)) return wrong('callId is no text');
  if (kind === 'tool' && callId !== requestId) return wrong('callId is not its requestId');
  if (kind === 'tool' && !isText(name)) return wrong('name is no text');
  if (args !== undefined && !isRecord(args)) return wrong('args are no object');
  const agents = Array.isArray(agentPath) && agentPath.every(isText) ? agentPath : [];
  const { decision: _, answers: __, approval: ___, questions: ____, attempts: _____, requestedBy, ...wants } = given;
  const { args: ______, ...words } = wants;
  const tooLong = whyTooLong(words);
  if (tooLong !== undefined) return { requestId, what: tooLong };
  for (const word of ['message', 'threadId', 'permissionMode'] as const) if (!isText(wants[word])) delete wants[word];
  if (!Number.isFinite(Date.parse(String(wants.expiresAt)))) delete wants.expiresAt;
  return {
    ...(wants as ReportedRequest),
    requestId,
    sessionId,
    kind,
    turnId: isText(turnId) ? turnId : '',
    ...(callId === undefined ? {} : { callId }),
    ...(kind === 'tool' ? { args: args ?? {}, handledBy: given.handledBy === 'host' ? 'host' : 'agent' } : {}),
    started: given.started === true,
    path: isText(path) ? path : '',
    agentPath: agents[0] === agent ? agents : [agent, ...agents],
    requestedAt: isText(requestedAt) ? requestedAt : '',
    detached: given.detached === true,
    [claimed]: isRecord(requestedBy) && isText(requestedBy.id) ? (requestedBy as Principal) : null,
  };
}

function withKnown(wanted: Claimed, call: KnownCall | undefined, known: KnownCalls): ReportedRequest {
  const of = call ?? (wanted.callId === undefined ? undefined : known.calls.get(wanted.callId));
  const terms = known.terms[of?.turn ?? known.turn];
  const mode = stricter(terms?.permissionMode, wanted.permissionMode);
  const { permissionMode: _, detached, ...wants } = wanted;
  const requestedBy: Principal | undefined = terms?.principal;
  const request: Claimed = {
    ...wants,
    ...(detached ? { detached } : {}),
    requestedAt: earlier(wanted.requestedAt, of?.since ?? Date.now()),
    ...(requestedBy ? { requestedBy } : {}),
    ...(mode === undefined ? {} : { permissionMode: mode }),
  };
  if (requestedBy) delete request[claimed];
  if (!call) return request;
  const { decision, attempts } = call;
  // That it was started may be believed of anybody: it is not what lets it run.
  request.started ||= call.started;
  if (attempts > 0) request.attempts = attempts;
  if (decision?.outcome === 'approved') request.decision = decisionShown(decision);
  if (call.questions.length > 0) request.questions = [...call.questions];
  if (call.answers.length > 0) {
    request.answers = call.answers.map(({ id, attempt, isVoid, ...answer }) => {
      const { digest: _, ...nothing } = answer;
      return { ...(isVoid ? nothing : answer), ...(attempt < attempts ? { spent: true } : {}) };
    });
  }
  return request;
}

/** What tightens may be believed of anybody: an executor may have been told so by others than this host. */
export function stricter(own: PermissionMode | undefined, said: unknown): PermissionMode | undefined {
  if (!isText(said)) return own;
  if (own !== undefined) return stricterMode(own, said);
  return isTighter(said, undefined) ? said : undefined;
}

/** A question runs out of time by the earlier of two clocks. */
function earlier(said: string, since: number): string {
  const time = Date.parse(said);
  return Number.isFinite(time) && time <= since ? said : new Date(since).toISOString();
}
