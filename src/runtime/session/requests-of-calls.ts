import { isoTime, Pace } from '../../base/index.ts';
import type { ReportedRequest, TurnTerms } from '../../contracts/index.ts';
import { announcing, decisionShown } from '../../session/index.ts';
import type { CallState, Standing } from '../log/index.ts';
import { threadOf } from '../log/index.ts';
import type { SessionKey } from '../store/index.ts';

/** What a request was made from: while it is the same, so is the request. */
interface Made {
  version: number;
  terms: unknown;
  detached: boolean;
  /** Undefined: nobody is waited for. */
  request: ReportedRequest | undefined;
}

/**
 * Open requests, derived from what the log says of the calls. One is made anew only when its call, or its turn, has
 * changed: many that are open are listed often. They are shared, and frozen.
 */
export class OpenRequests {
  readonly #key: SessionKey;
  readonly #agentPath: (call: CallState) => readonly string[];
  readonly #made = new WeakMap<CallState, Made>();

  /** @param agentPath names from the root to whoever made a call */
  constructor(key: SessionKey, agentPath: (call: CallState) => readonly string[]) {
    this.#key = key;
    this.#agentPath = agentPath;
  }

  of(standing: Standing): ReportedRequest[] {
    const requests: ReportedRequest[] = [];
    for (const call of standing.open.values()) {
      const request = this.one(standing, call);
      if (request) requests.push(request);
    }
    return requests;
  }

  /** Makes them, so that others of the process are let in on the way. */
  async make(standing: Standing): Promise<void> {
    const pace = new Pace();
    for (const call of [...standing.open.values()]) {
      this.one(standing, call);
      const rest = pace.rest();
      if (rest) await rest;
    }
  }

  /** What is waited for about an open call. */
  one({ turn, terms }: Standing, call: CallState): ReportedRequest | undefined {
    const own = terms.get(call.turnId);
    const detached = turn?.ended !== undefined || call.turnId !== turn?.id;
    const known = this.#made.get(call);
    if (known?.version === call.version && known.terms === own && known.detached === detached) return known.request;
    const request = requestOf(call, this.#key, this.#agentPath, own);
    if (request && detached) request.detached = true;
    this.#made.set(call, { version: call.version, terms: own, detached, request: request && Object.freeze(request) });
    return request;
  }
}

function requestOf(
  call: CallState,
  key: SessionKey,
  agentPath: (call: CallState) => readonly string[],
  terms: TurnTerms | undefined,
): ReportedRequest | undefined {
  if (call.interim) return undefined;
  const ask = call.asks.at(-1);
  const threadId = threadOf(call);
  const base: Base = {
    sessionId: key.id,
    turnId: call.turnId,
    callId: call.id,
    name: call.name,
    args: call.args,
    handledBy: call.handledBy,
    started: call.started,
    path: call.path,
    agentPath: [...agentPath(call)],
  };
  if (threadId !== undefined) base.threadId = threadId;
  if (terms?.principal !== undefined) base.requestedBy = terms.principal;
  if (terms?.permissionMode !== undefined) base.permissionMode = terms.permissionMode;
  if (terms?.version !== undefined) base.version = terms.version;
  if (terms?.approvedFor !== undefined) base.approvedFor = terms.approvedFor;
  if (ask && !ask.answer) {
    const rerun = ask.kind === 'rerun_unknown';
    const context = ask.context ?? (rerun ? contextOf(call) : undefined);
    const request: ReportedRequest = {
      ...base,
      requestId: ask.requestId,
      kind: rerun ? 'rerun_unknown' : 'elicitation',
      elicitation: ask.kind,
      message: ask.message,
      requestedAt: isoTime(ask.requestedAt),
      ...(ask.args ? { args: ask.args } : {}),
      ...(context ? { context } : {}),
      ...(ask.requestedSchema ? { requestedSchema: ask.requestedSchema } : {}),
      ...(ask.expiresAt === undefined ? {} : { expiresAt: isoTime(ask.expiresAt) }),
    };
    return onRecord(request, call);
  }
  if (ask || (call.decision?.outcome === 'approved' && call.handledBy === 'agent')) return undefined;
  const request: ReportedRequest = {
    ...base,
    requestId: call.id,
    kind: 'tool',
    requestedAt: isoTime(call.requestedAt),
  };
  if (call.floor !== undefined) request.message = call.floor;
  const context = contextOf(call);
  if (context) request.context = context;
  return onRecord(request, call);
}

/** Adds what a host holds whoever answers to. */
function onRecord(request: ReportedRequest, call: CallState): ReportedRequest {
  const { decision, questions, hostAnswers, attempts } = call;
  if (attempts > 0) request.attempts = attempts;
  if (decision?.outcome === 'approved') request.decision = decisionShown(decision);
  if (questions) request.questions = questions;
  if (hostAnswers.length > 0) request.answers = hostAnswers.map((answer) => publicAnswer(answer, attempts));
  return request;
}

type Base = Omit<ReportedRequest, 'requestId' | 'kind' | 'requestedAt'>;

/** A host knows nothing else of a tool that is the agent's own, nor of what a hook of the agent asks with. */
function contextOf({ tool, handledBy, asked }: CallState): ReportedRequest['context'] {
  const told = handledBy === 'host' ? undefined : tool;
  return told || asked ? announcing(told, asked) : undefined;
}

function publicAnswer(
  answer: CallState['hostAnswers'][number],
  attempts: number,
): NonNullable<ReportedRequest['answers']>[number] {
  const { by, roles, onBehalfOf, content: _, attempt, ...rest } = answer;
  const spent = attempt < attempts ? { spent: true } : {};
  if (by === undefined) return { ...rest, ...spent };
  const giver = { id: by, ...(roles ? { roles } : {}), ...(onBehalfOf === undefined ? {} : { onBehalfOf }) };
  return { ...rest, ...spent, by: giver };
}
