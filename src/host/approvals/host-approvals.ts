import type { GivenAnswer, Principal, ReportedRequest, SessionPlace, Settlement } from '../../contracts/index.ts';
import { CoxswainError, callIdOf, openRequestOf } from '../../contracts/index.ts';
import type { AskedRequest } from '../../gate/index.ts';
import { approversOf, notApprover, putAs, whyNotOpen } from '../../gate/index.ts';
import type { DecidedPage, Shape } from '../../session/index.ts';
import {
  amount,
  anything,
  checkAnswer,
  checkOptions,
  checkPrincipal,
  checkRequestId,
  either,
  flag,
  nameOfPrincipal,
  names,
  object,
  StreamQueue,
  text,
} from '../../session/index.ts';
import type { HostedSession } from '../hosted/index.ts';
import { goOn } from '../hosted/index.ts';
import type { Holder } from '../terms/index.ts';
import { held } from '../terms/index.ts';
import { ApprovalLookout } from './approval-lookout.ts';
import type { Approvals, DecidedFilter } from './approvals.ts';
import { AskedPlaces } from './asked-places.ts';
import { DecidedQuestions } from './decided-questions.ts';
import { explainCall } from './explain-call.ts';
import { KnownAnswers } from './known-answers.ts';
import type { KnownQuestion } from './known-questions.ts';
import { KnownQuestions, knownOf, mayKnow } from './known-questions.ts';
import { isLeft, placesOf, wasDeleted } from './open-places.ts';
import { askedIn, checkFilter, matches, OpenQuestions } from './open-questions.ts';
import type { ApprovalFilter, ApprovalHost, ApprovalPlace, BorrowedSession, OpenApproval } from './open-sessions.ts';
import { outcomeOf } from './outcome.ts';
import { storedDecisions } from './stored-decisions.ts';

/** Questions, or changes of some, that a watcher may leave unread. */
const MAX_UNREAD = 1000;

/** What it finds in the store's index, and what this process asks. */
export class HostApprovals implements Approvals, Holder {
  readonly #host: ApprovalHost;
  readonly #watchers = new Set<(open: OpenApproval) => void>();
  readonly #changeWatchers = new Set<(question: KnownQuestion) => void>();
  readonly #known = new KnownQuestions();
  readonly #open: OpenQuestions;
  readonly #answers: KnownAnswers;
  readonly #decided: DecidedQuestions;
  readonly #askedPlaces: AskedPlaces;
  readonly #lookout: ApprovalLookout;

  constructor(host: ApprovalHost, pollMs = 2000) {
    this.#host = host;
    this.#open = new OpenQuestions(host, this.#known, pollMs);
    this.#answers = new KnownAnswers(host, pollMs);
    this.#askedPlaces = new AskedPlaces(host);
    this.#decided = new DecidedQuestions(host, this.#askedPlaces);
    this.#lookout = new ApprovalLookout(host, pollMs, {
      asked: (open) => this.#tell(open),
      over: (userId, callId) => this.changed(userId, callId),
    });
  }

  [held](): Record<string, number> {
    return { watchers: this.#watchers.size + this.#changeWatchers.size };
  }

  list(filter: ApprovalFilter = {}): Promise<OpenApproval[]> {
    return this.#open.list(filter);
  }

  async get(requestId: string, place: ApprovalPlace = {}): Promise<OpenApproval | undefined> {
    return onlyOne(await this.find(requestId, place), requestId);
  }

  async find(requestId: string, place: ApprovalPlace = {}): Promise<OpenApproval[]> {
    checkRequestId(requestId);
    checkOptions<ApprovalPlace>(place, 'approvals: place', placeShape);
    return this.#open.find(requestId, place);
  }

  watch(filter: ApprovalFilter = {}): AsyncIterableIterator<OpenApproval> {
    checkFilter(filter);
    return this.#following<OpenApproval, OpenApproval>(this.#watchers, (open, push) => {
      if (matches(open, filter)) push(open);
    });
  }

  changes(filter: ApprovalFilter = {}): AsyncIterableIterator<Required<ApprovalPlace> & { requestId: string }> {
    checkFilter(filter);
    return this.#following<KnownQuestion, Required<ApprovalPlace> & { requestId: string }>(
      this.#changeWatchers,
      (question, push) => {
        const { agent, userId, sessionId, requestId } = question;
        if (matchesKnown(question, filter)) push({ agent, userId, sessionId, requestId });
      },
    );
  }

  /** What is told of from now on, until its reader leaves. */
  #following<T, Out>(
    watchers: Set<(told: T) => void>,
    see: (told: T, push: (out: Out) => void) => void,
  ): AsyncIterableIterator<Out> {
    const over = Promise.withResolvers<void>();
    // Its reader is told, once they have read what waits.
    over.promise.catch(() => {});
    return new StreamQueue<Out>(
      async (out) => {
        const push = (one: Out) => {
          if (out.ahead < MAX_UNREAD) out.push(one);
          else over.reject(tooSlow());
        };
        const watcher = (told: T) => see(told, push);
        watchers.add(watcher);
        try {
          const leave = await this.#lookout.begin();
          await over.promise.finally(leave);
        } finally {
          watchers.delete(watcher);
        }
      },
      async () => over.resolve(),
    );
  }

  /** A question about a call was answered, or the call is over. */
  changed(userId: string, callId: string): void {
    this.#open.forget(userId);
    this.#answers.forget(userId);
    if (this.#changeWatchers.size === 0) return;
    for (const question of this.#known.ofCall(userId, callId)) {
      for (const watcher of this.#changeWatchers) watcher(question);
    }
  }

  /** What was asked in it is over, and nothing of it holds in another session of its id. */
  async sessionDeleted(agents: Iterable<string>, userId: string, sessionId: string): Promise<void> {
    this.#open.forget(userId);
    for (const question of this.#known.forgetSession(userId, sessionId)) {
      for (const watcher of this.#changeWatchers) watcher(question);
    }
    await Promise.all([...agents].map((agent) => this.#answers.forgetSession({ agent, userId, sessionId })));
  }

  async outcome(
    requestId: string,
    asking: { by: Principal; agent: string; userId: string; sessionId: string },
  ): ReturnType<Approvals['outcome']> {
    checkRequestId(requestId);
    checkOptions<typeof asking>(asking, 'approvals.outcome: the second argument', { ...placeShape, by: anything });
    const { by, agent, userId, sessionId } = asking;
    checkPrincipal(by, 'by');
    const place = { agent, userId, sessionId };
    const found = await this.#knownTo(by, requestId, place);
    return found && outcomeOf(this.#host, { requestId, by, place, open: found.open });
  }

  async decided(filter: DecidedFilter): Promise<DecidedPage> {
    checkOptions<DecidedFilter>(filter, 'approvals.decided: filter', decidedShape);
    checkPrincipal(filter.by, 'approvals.decided: filter.by');
    const stored = await storedDecisions((query) => this.#host.storedDecisions(query), filter, this.#askedPlaces);
    return stored ?? this.#decided.list(filter);
  }

  async explain(requestId: string, asking: Parameters<Approvals['explain']>[1]): ReturnType<Approvals['explain']> {
    checkRequestId(requestId);
    checkOptions<typeof asking>(asking, 'approvals.explain: the second argument', {
      ...placeShape,
      by: anything,
      args: object,
      everything: flag,
    });
    const { by, agent, userId, sessionId, args, everything = false } = asking;
    checkPrincipal(by, 'by');
    const place = { agent, userId, sessionId };
    const found = everything
      ? { open: (await this.find(requestId, place))[0], known: undefined }
      : await this.#knownTo(by, requestId, place);
    return found && explainCall(this.#host, { requestId, by, place, args, everything, ...found });
  }

  /** What is open of a question, and what was shown of it, for somebody who may know of it. */
  async #knownTo(
    by: Principal,
    requestId: string,
    place: SessionPlace,
  ): Promise<{ open: OpenApproval | undefined; known: KnownQuestion | undefined } | undefined> {
    const { userId } = place;
    const known = this.#known.find(place, requestId);
    const isTheirs = userId === nameOfPrincipal(by) || (known !== undefined && mayKnow(known, by));
    // Who may know of it is decided before its log is read, and as far as that can be before its session is opened.
    const open = isTheirs ? (await this.find(requestId, place))[0] : await this.#open.of(requestId, place, by);
    const mayAsk = isTheirs || (open !== undefined && mayKnow(knownOf(open), by));
    if (!mayAsk && !(await this.#answers.has(place, requestId, nameOfPrincipal(by)))) return undefined;
    return { open, known };
  }

  async decide(
    requestId: string,
    answer: GivenAnswer,
    deciding: { by: Principal } & ApprovalPlace,
  ): Promise<Settlement> {
    checkRequestId(requestId);
    checkOptions<typeof deciding>(deciding, 'approvals.decide: the third argument', { ...placeShape, by: anything });
    const { by, ...place } = deciding;
    checkPrincipal(by, 'by');
    const given = checkAnswer(answer);
    const found: BorrowedSession[] = [];
    let settled: HostedSession | undefined;
    try {
      for await (const borrowed of this.#asking(requestId, place)) found.push(borrowed);
      const session = await whereMayDecide(found, requestId, by);
      if (!session) {
        const message = `no session has an open request ${JSON.stringify(requestId)}; approvals.list() shows what is open. If one should, rebuildOpenCalls() of the store ("coxswain sessions rebuild") rebuilds the index`;
        throw new CoxswainError('FAILED_PRECONDITION', 'E_UNKNOWN_REQUEST', message, { details: { requestId } });
      }
      const settlement = await session.respond(requestId, { ...given, by });
      if (settlement.status === 'settled') settled = session;
      return settlement;
    } finally {
      for (const borrowed of found) {
        if (borrowed.session === settled) await this.#wakeOrGoOn(borrowed);
        else await borrowed[Symbol.asyncDispose]();
      }
    }
  }

  /** Sessions in which this question is open; the caller gives them back. */
  async *#asking(requestId: string, place: ApprovalPlace): AsyncGenerator<BorrowedSession, void> {
    for await (const places of placesOf(this.#host, requestId, place)) {
      let isFound = false;
      for (const one of places) {
        const borrowed = await this.#borrowAsking(one, requestId);
        if (!borrowed) continue;
        isFound = true;
        yield borrowed;
      }
      if (isFound) return;
    }
  }

  async #borrowAsking(
    { agent, userId, sessionId }: SessionPlace,
    requestId: string,
  ): Promise<BorrowedSession | undefined> {
    let borrowed: BorrowedSession | undefined;
    let isAsking = false;
    try {
      borrowed = await this.#host.borrow(agent, userId, sessionId);
      isAsking = await asks(borrowed.session, agent, requestId);
    } catch (error) {
      if (!wasDeleted(error)) throw error;
    } finally {
      if (!isAsking) await borrowed?.[Symbol.asyncDispose]();
    }
    return isAsking ? borrowed : undefined;
  }

  announce(agent: string, userId: string, question: ReportedRequest): void {
    this.#open.forget(userId);
    this.#lookout.knows(userId, question);
    this.#tell({ agent, userId, request: openRequestOf(question) });
  }

  #tell(open: OpenApproval): void {
    this.#known.note(open);
    for (const watcher of this.#watchers) watcher(open);
  }

  /** The answer is stored, whoever hears of it now. */
  async #wakeOrGoOn(borrowed: BorrowedSession): Promise<void> {
    const { id: sessionId, descriptor, frame, liveRun } = borrowed.session;
    if (!this.#host.wake || liveRun) return this.#host.during(this.#goOn(borrowed));
    try {
      await this.#host.wake({ agent: descriptor.name, userId: frame.userId, sessionId });
      await borrowed[Symbol.asyncDispose]();
    } catch (error) {
      this.#host.warn(`nobody could be woken for session ${sessionId}: it continues here`, error);
      this.#host.during(this.#goOn(borrowed));
    }
  }

  /** A run belongs to the host: nobody needs to hold it. */
  async #goOn(borrowed: BorrowedSession): Promise<void> {
    const { id, descriptor, frame } = borrowed.session;
    try {
      await using _ = borrowed;
      await using own = await this.#host.borrow(descriptor.name, frame.userId, id, true);
      await goOn(own.session);
    } catch (error) {
      if (!isLeft(error)) this.#host.warn(`session ${id} could not continue after an approval`, error);
    }
  }
}

const decidedShape: Shape<DecidedFilter> = {
  by: object,
  everybodys: either(flag, names),
  userId: text,
  agent: text,
  action: text,
  answeredBy: text,
  since: amount,
  before: amount,
  tool: text,
  search: text,
  limit: amount,
  after: text,
};

const placeShape: Shape<ApprovalPlace> = { agent: text, userId: text, sessionId: text };

/**
 * Of the sessions that ask a question of this id, the one in which it is this person's to decide on.
 * @throws CoxswainError `PERMISSION_DENIED / E_NOT_APPROVER`, `INVALID_ARGUMENT / E_BAD_INPUT` where there are several
 */
async function whereMayDecide(
  found: readonly BorrowedSession[],
  requestId: string,
  by: Principal,
): Promise<HostedSession | undefined> {
  const theirs: HostedSession[] = [];
  let why: string | undefined;
  for (const { session } of found) {
    const request = standingOf(await askedIn(session), requestId);
    const fault = whyNotOpen({ userId: session.frame.userId, request }, by);
    if (fault === undefined) theirs.push(session);
    why ??= fault;
  }
  if (theirs.length === 0 && why !== undefined) throw notApprover(requestId, by, why);
  return onlyOne(theirs, requestId);
}

/**
 * What an answer under this id is to: the question itself, or whatever stands about its call, as the id of a call is
 * answered for its question. One that is not asked any more is held to what it was put with.
 */
function standingOf(asked: readonly { request: ReportedRequest }[], requestId: string): AskedRequest {
  const open = asked.map(({ request }) => request);
  const request =
    open.find((one) => one.requestId === requestId) ?? open.find(({ callId }) => callId === callIdOf(requestId));
  if (!request || request.requestId === requestId || request.approval) return request ?? {};
  return { ...request, ...approversOf(putAs(request, requestId) ?? {}) };
}

/** The question is open in the session, which is the agent's, or below it. */
async function asks(session: HostedSession, agent: string, requestId: string): Promise<boolean> {
  const callId = callIdOf(requestId);
  const own = (await session.inner.pending()).filter(({ agentPath }) => agentPath[0] === agent);
  if (own.some((request) => request.callId === callId)) return true;
  return own.length > 0 && (await session.subagents?.find({ requestId })) !== undefined;
}

/** Who watches and does not read: what is open is at hand for them all the same. */
function tooSlow(): CoxswainError {
  const message = `approvals: ${MAX_UNREAD} questions wait to be read by this watcher; call approvals.list(), and watch again`;
  return new CoxswainError('RESOURCE_EXHAUSTED', 'E_TOO_LARGE', message);
}

/** What a yes to one question would do must not befall another. @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function onlyOne<T>(found: readonly T[], requestId: string): T | undefined {
  if (found.length <= 1) return found[0];
  const message = `${found.length} sessions ask a question ${JSON.stringify(requestId)}; name sessionId, userId and agent too`;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message, { details: { requestId } });
}

function matchesKnown(question: KnownQuestion, filter: ApprovalFilter): boolean {
  const { approver, sessionId = question.sessionId, userId = question.userId } = filter;
  if (question.userId !== userId || question.sessionId !== sessionId) return false;
  return !approver || whyNotOpen(question, approver) === undefined;
}
