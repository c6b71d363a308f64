import type { PendingRequest, Principal, RequestAnswer, Settlement } from '../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../contracts/index.ts';
import type { Shape } from '../session/index.ts';
import {
  anything,
  checkAnswer,
  checkOptions,
  checkPrincipal,
  checkRequestId,
  object,
  StreamQueue,
  text,
} from '../session/index.ts';
import { ApprovalLookout } from './approval-lookout.ts';
import { whyNot } from './approver.ts';
import type { HostedSession } from './hosted-session.ts';
import type { ApprovalQuestion } from './options.ts';
import { callIdOf } from './question-id.ts';

/** A question that somebody may answer who holds no session. */
export interface OpenApproval {
  agent: string;
  userId: string;
  request: PendingRequest;
}

export interface ApprovalFilter {
  /** Only what this person may decide. */
  approver?: Principal;
  sessionId?: string;
}

/** Where a question is asked: its id is unique in its session, not beyond. */
export interface ApprovalPlace {
  agent?: string | undefined;
  userId?: string | undefined;
  sessionId?: string | undefined;
}

interface SessionPlace {
  agent: string;
  userId: string;
  sessionId: string;
}

/** A session with open calls. */
export interface OpenSession extends SessionPlace {
  /** Ids of the open calls, where the provider knows them. */
  calls?: string[];
}

/** A session for a moment: disposed of, it is closed unless somebody else holds it, too. */
export interface BorrowedSession extends AsyncDisposable {
  readonly session: HostedSession;
}

/** What approvals need of a host. */
export interface ApprovalHost {
  /** Sessions with open calls, over all users and processes. */
  openSessions(): Promise<OpenSession[]>;
  /** @throws CoxswainError `NOT_FOUND / E_SESSION_NOT_FOUND` for one that was deleted since */
  borrow(agent: string, userId: string, sessionId: string): Promise<BorrowedSession>;
  warn(message: string, error?: unknown): void;
}

/** Open questions across sessions and processes. */
export class Approvals {
  readonly #host: ApprovalHost;
  readonly #watchers = new Set<(open: OpenApproval) => void>();
  readonly #lookout: ApprovalLookout;

  constructor(host: ApprovalHost, pollMs = 2000) {
    this.#host = host;
    this.#lookout = new ApprovalLookout(host, pollMs, (open) => this.#tell(open));
  }

  /** What waits for a person, oldest first. */
  async list(filter: ApprovalFilter = {}): Promise<OpenApproval[]> {
    checkFilter(filter);
    const found: OpenApproval[] = [];
    for (const { agent, userId, sessionId } of await this.#sessions()) {
      if (filter.sessionId !== undefined && filter.sessionId !== sessionId) continue;
      const pending = await this.#look({ agent, userId, sessionId }, (session) => session.pending());
      for (const request of pending ?? []) {
        const open = { agent, userId, request };
        // A session of another agent of this app has another root.
        if (request.kind !== 'tool' && request.agentPath[0] === agent && matches(open, filter)) found.push(open);
      }
    }
    return found.sort((a, b) => a.request.requestedAt.localeCompare(b.request.requestedAt));
  }

  /** What a look into one session finds; undefined: it was deleted since the index was read. */
  async #look<T>(
    { agent, userId, sessionId }: SessionPlace,
    look: (session: HostedSession) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      await using borrowed = await this.#host.borrow(agent, userId, sessionId);
      return await look(borrowed.session);
    } catch (error) {
      if (wasDeleted(error)) return undefined;
      throw error;
    }
  }

  /** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` where several sessions ask a question of this id */
  async get(requestId: string, place: ApprovalPlace = {}): Promise<OpenApproval | undefined> {
    return onlyOne(await this.find(requestId, place), requestId);
  }

  /** All questions of this id: what an executor numbers by itself may be open in several sessions. */
  async find(requestId: string, place: ApprovalPlace = {}): Promise<OpenApproval[]> {
    checkOptions<ApprovalPlace>(place, 'approvals: place', placeShape);
    const open = await this.list(place.sessionId === undefined ? {} : { sessionId: place.sessionId });
    return open.filter(
      ({ agent, userId, request }) =>
        request.requestId === requestId && isAt({ agent, userId, sessionId: request.sessionId }, place),
    );
  }

  /** Questions from now on: at once where this process asks them, a little later where another one over the store does. */
  watch(filter: ApprovalFilter = {}): AsyncIterableIterator<OpenApproval> {
    checkFilter(filter);
    let stop = () => {};
    const over = new Promise<void>((resolve) => {
      stop = resolve;
    });
    return new StreamQueue<OpenApproval>(
      async (out) => {
        const see = (open: OpenApproval) => {
          if (matches(open, filter)) out.push(open);
        };
        this.#watchers.add(see);
        const leave = await this.#lookout.begin();
        await over;
        this.#watchers.delete(see);
        leave();
      },
      async () => stop(),
    );
  }

  /**
   * Answers one question. Once it is durable the run goes on, whether or not anybody watches it.
   * @throws CoxswainError `FAILED_PRECONDITION / E_UNKNOWN_REQUEST | E_REQUEST_CLOSED`, `PERMISSION_DENIED /
   *   E_NOT_APPROVER`, `INVALID_ARGUMENT / E_BAD_INPUT` where several sessions ask a question of this id
   */
  async decide(
    requestId: string,
    answer: RequestAnswer,
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
      const session = onlyOne(found, requestId)?.session;
      if (!session) {
        const message = `no session has an open request ${JSON.stringify(requestId)}; approvals.list() shows what is open`;
        throw new CoxswainError('FAILED_PRECONDITION', 'E_UNKNOWN_REQUEST', message, { details: { requestId } });
      }
      const settlement = await session.respond(requestId, { ...given, by });
      if (settlement.status === 'settled') settled = session;
      return settlement;
    } finally {
      for (const borrowed of found) {
        if (borrowed.session === settled) void this.#goOn(borrowed);
        else await borrowed[Symbol.asyncDispose]();
      }
    }
  }

  /** Sessions in which this question is open; the caller gives them back. */
  async *#asking(requestId: string, place: ApprovalPlace): AsyncGenerator<BorrowedSession, void> {
    for (const one of await this.#sessions()) {
      const borrowed = isAt(one, place) ? await this.#borrowAsking(one, requestId) : undefined;
      if (borrowed) yield borrowed;
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

  announce(agent: string, userId: string, question: ApprovalQuestion): void {
    this.#lookout.knows(userId, question);
    this.#tell({ agent, userId, request: question });
  }

  #tell(open: OpenApproval): void {
    for (const watcher of this.#watchers) watcher(open);
  }

  /** What is open inside of a sub-agent is open in its caller's session, and nowhere else. */
  async #sessions(): Promise<SessionPlace[]> {
    const open = await this.#host.openSessions();
    const below = new Set<string>();
    for (const { agent, userId, sessionId } of open) {
      const prefix = `${sessionId}.`;
      if (!open.some((other) => other.userId === userId && other.sessionId.startsWith(prefix))) continue;
      const ids = await this.#look({ agent, userId, sessionId }, (session) => session.subagents.sessionIds());
      for (const id of ids ?? []) below.add(JSON.stringify([userId, id]));
    }
    return open.filter(({ userId, sessionId }) => !below.has(JSON.stringify([userId, sessionId])));
  }

  /** A run belongs to the host: nobody needs to hold it. */
  async #goOn(borrowed: BorrowedSession): Promise<void> {
    const { session } = borrowed;
    try {
      await using _ = borrowed;
      await session.resume();
    } catch (error) {
      // Somebody holds the session and goes on with it.
      if (isCoxswainError(error) && goneOn.has(error.code)) return;
      this.#host.warn(`session ${session.id} could not go on after an approval`, error);
    }
  }
}

const placeShape: Shape<ApprovalPlace> = { agent: text, userId: text, sessionId: text };

function checkFilter(filter: ApprovalFilter): void {
  checkOptions<ApprovalFilter>(filter, 'approvals: filter', { approver: object, sessionId: text });
  if (filter.approver !== undefined) checkPrincipal(filter.approver, 'approvals: filter.approver');
}

const goneOn: ReadonlySet<string> = new Set(['E_SESSION_BUSY', 'E_TURN_COMPLETED', 'E_SESSION_CLOSED']);

function wasDeleted(error: unknown): boolean {
  return isCoxswainError(error) && error.code === 'E_SESSION_NOT_FOUND';
}

/** The question is open in this session of the agent's, or below it. */
async function asks(session: HostedSession, agent: string, requestId: string): Promise<boolean> {
  const callId = callIdOf(requestId);
  const own = (await session.inner.pending()).filter(({ agentPath }) => agentPath[0] === agent);
  if (own.some((request) => request.callId === callId)) return true;
  return own.length > 0 && (await session.subagents.owner(requestId)) !== undefined;
}

function isAt(here: SessionPlace, place: ApprovalPlace): boolean {
  const { agent = here.agent, userId = here.userId, sessionId = here.sessionId } = place;
  return agent === here.agent && userId === here.userId && sessionId === here.sessionId;
}

/** What a yes to one question would do must not befall another. @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function onlyOne<T>(found: readonly T[], requestId: string): T | undefined {
  if (found.length <= 1) return found[0];
  const message = `${found.length} sessions ask a question ${JSON.stringify(requestId)}; name sessionId, userId and agent too`;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message, { details: { requestId } });
}

function matches(open: OpenApproval, filter: ApprovalFilter): boolean {
  const { request } = open;
  if (filter.sessionId !== undefined && request.sessionId !== filter.sessionId) return false;
  const { approver } = filter;
  if (!approver || !request.approval) return true;
  return whyNot(request.approval.approvers, request.approval.requestedBy, approver) === undefined;
}
