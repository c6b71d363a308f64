import type { ApproverRule, Principal, SessionPlace } from '../../contracts/index.ts';
import { callIdOf } from '../../contracts/index.ts';
import { whyNotOpen } from '../../gate/index.ts';
import { nameOfPrincipal } from '../../session/index.ts';
import type { OpenApproval } from './open-sessions.ts';

/** A question that this host has shown, without what it was about: who may know what came of it. */
export interface KnownQuestion extends SessionPlace {
  requestId: string;
  request: { requestId: string; approvers?: ApproverRule; requestedBy?: Principal };
}

/** What is remembered of a question. */
export function knownOf({ agent, userId, request }: OpenApproval): KnownQuestion {
  const { requestId, sessionId, approval, questions = [] } = request;
  const put = questions.findLast((question) => question.requestId === requestId);
  const approvers: ApproverRule | undefined = approval?.approvers ?? put?.approvers;
  const requestedBy: Principal | undefined = approval?.requestedBy ?? request.requestedBy;
  const terms = { requestId, ...(approvers ? { approvers } : {}), ...(requestedBy ? { requestedBy } : {}) };
  return { agent, userId, sessionId, requestId, request: terms };
}

/** Whether somebody may answer a question, or has asked for its call. */
export function mayKnow({ userId, request }: Pick<KnownQuestion, 'userId' | 'request'>, who: Principal): boolean {
  const { requestedBy } = request;
  if (requestedBy && nameOfPrincipal(requestedBy) === nameOfPrincipal(who)) return true;
  return whyNotOpen({ userId, request }, who) === undefined;
}

/** Calls whose questions are remembered. */
const MAX_CALLS = 10_000;

/**
 * Questions that this host has shown, with who may answer them: once one is closed its log does not say. The newest
 * 10,000 calls, as long as the host lives.
 */
export class KnownQuestions {
  readonly #calls = new Map<string, Map<string, KnownQuestion>>();

  note(open: OpenApproval): void {
    const question = knownOf(open);
    const call = nameOf(question.userId, callIdOf(question.requestId));
    const known = this.#calls.get(call) ?? new Map<string, KnownQuestion>();
    known.set(question.requestId, question);
    this.#calls.delete(call);
    this.#calls.set(call, known);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MAX_CALLS && oldest !== undefined) this.#calls.delete(oldest);
  }

  ofCall(userId: string, callId: string): KnownQuestion[] {
    return [...(this.#calls.get(nameOf(userId, callId))?.values() ?? [])];
  }

  find(userId: string, sessionId: string, requestId: string): KnownQuestion | undefined {
    const known = this.#calls.get(nameOf(userId, callIdOf(requestId)))?.get(requestId);
    return known?.sessionId === sessionId ? known : undefined;
  }
}

const nameOf = (userId: string, callId: string) => JSON.stringify([userId, callId]);
