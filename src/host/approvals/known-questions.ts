import type { ApproverRule, Principal, SessionPlace } from '../../contracts/index.ts';
import { callIdOf } from '../../contracts/index.ts';
import { whyNotOpen } from '../../gate/index.ts';
import { nameOfPlace, nameOfPrincipal } from '../../session/index.ts';
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
 * 10,000 calls, each until its session is deleted.
 */
export class KnownQuestions {
  readonly #calls = new Map<string, KnownCall>();
  /** Of calls of one id and user, which are several where executors number theirs. */
  readonly #ofId = new Map<string, Set<KnownCall>>();

  note(open: OpenApproval): void {
    const question = knownOf(open);
    const { userId, requestId } = question;
    const callId = callIdOf(requestId);
    const name = nameOf(question, callId);
    const known = this.#calls.get(name) ?? { ofId: JSON.stringify([userId, callId]), questions: new Map() };
    known.questions.set(requestId, question);
    this.#calls.delete(name);
    this.#calls.set(name, known);
    this.#ofId.set(known.ofId, (this.#ofId.get(known.ofId) ?? new Set()).add(known));
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MAX_CALLS && oldest !== undefined) this.#forget(oldest);
  }

  /** In whichever of the user's sessions. */
  ofCall(userId: string, callId: string): KnownQuestion[] {
    const calls = [...(this.#ofId.get(JSON.stringify([userId, callId])) ?? [])];
    return calls.flatMap(({ questions }) => [...questions.values()]);
  }

  /** Who may know of it is decided by what was asked in that very session of that agent. */
  find(place: SessionPlace, requestId: string): KnownQuestion | undefined {
    return this.#calls.get(nameOf(place, callIdOf(requestId)))?.questions.get(requestId);
  }

  /** A session is deleted: another one may have its id, and the same ids in it. @returns what was known of it */
  forgetSession(userId: string, sessionId: string): KnownQuestion[] {
    const found: KnownQuestion[] = [];
    for (const [name, { questions }] of this.#calls) {
      const [one] = questions.values();
      if (one?.sessionId !== sessionId || one.userId !== userId) continue;
      found.push(...questions.values());
      this.#forget(name);
    }
    return found;
  }

  #forget(name: string): void {
    const known = this.#calls.get(name);
    if (!known) return;
    this.#calls.delete(name);
    const others = this.#ofId.get(known.ofId);
    others?.delete(known);
    if (others?.size === 0) this.#ofId.delete(known.ofId);
  }
}

/** Questions about one call of one session, by their ids. */
interface KnownCall {
  readonly ofId: string;
  readonly questions: Map<string, KnownQuestion>;
}

const nameOf = (place: SessionPlace, callId: string) => JSON.stringify([nameOfPlace(place), callId]);
