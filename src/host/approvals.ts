import type { PendingRequest, Principal, RequestAnswer, Settlement } from '../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../contracts/index.ts';
import type { Shape } from '../session/index.ts';
import {
  anything,
  checkAnswer,
  checkPrincipal,
  checkRequestId,
  checkShape,
  object,
  StreamQueue,
  text,
} from '../session/index.ts';
import { ApprovalLookout } from './approval-lookout.ts';
import { whyNot } from './approver.ts';
import type { HostedSession } from './hosted-session.ts';
import type { ApprovalQuestion } from './options.ts';

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

/** A session with open calls. */
export interface OpenSession {
  agent: string;
  userId: string;
  sessionId: string;
  /** Ids of the open calls, where the provider knows them. */
  calls?: string[];
}

/** What approvals need of a host. */
export interface ApprovalHost {
  /** Sessions with open calls, over all users and processes. */
  openSessions(): Promise<OpenSession[]>;
  /** An open handle, or a temporary one. */
  session(agent: string, userId: string, sessionId: string): Promise<{ session: HostedSession; temporary: boolean }>;
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
      for (const request of await this.#pending(agent, userId, sessionId)) {
        const open = { agent, userId, request };
        // A session of another agent of this app has another root.
        if (request.kind !== 'tool' && request.agentPath[0] === agent && matches(open, filter)) found.push(open);
      }
    }
    return found.sort((a, b) => a.request.requestedAt.localeCompare(b.request.requestedAt));
  }

  async #pending(agent: string, userId: string, sessionId: string): Promise<PendingRequest[]> {
    try {
      const { session, temporary } = await this.#host.session(agent, userId, sessionId);
      try {
        return await session.pending();
      } finally {
        if (temporary) await session[Symbol.asyncDispose]();
      }
    } catch (error) {
      // Deleted since the index was read.
      if (isCoxswainError(error) && error.code === 'E_SESSION_NOT_FOUND') return [];
      throw error;
    }
  }

  /** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` where several sessions ask a question of this id */
  async get(requestId: string, place: ApprovalPlace = {}): Promise<OpenApproval | undefined> {
    return onlyOne(await this.find(requestId, place), requestId);
  }

  /** All questions of this id: what an executor numbers by itself may be open in several sessions. */
  async find(requestId: string, place: ApprovalPlace = {}): Promise<OpenApproval[]> {
    checkShape<ApprovalPlace>(place, 'approvals: place', placeShape);
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
    checkShape<typeof deciding>(deciding, 'approvals.decide: the third argument', { ...placeShape, by: anything });
    const { by, ...place } = deciding;
    checkPrincipal(by, 'by');
    const given = checkAnswer(answer);
    const found = await this.#asking(requestId, place);
    let settled: HostedSession | undefined;
    try {
      const session = onlyOne(found, requestId)?.session;
      if (!session) {
        const message = `no session has an open request ${JSON.stringify(requestId)}; approvals.list() shows what is open`;
        throw new CoxswainError('FAILED_PRECONDITION', 'E_UNKNOWN_REQUEST', message, { details: { requestId } });
      }
      const settlement = await session.respond(requestId, { ...given, by });
      if (settlement.status === 'settled') settled = session;
      return settlement;
    } finally {
      for (const { session, close } of found) {
        if (session === settled) void this.#resume(session).then(close);
        else await close();
      }
    }
  }

  /** Sessions in which this question is open; the caller closes them. */
  async #asking(requestId: string, place: ApprovalPlace) {
    const found: { session: HostedSession; close(): Promise<void> }[] = [];
    for (const one of await this.#sessions()) {
      const { agent, userId, sessionId } = one;
      if (!isAt(one, place)) continue;
      const { session, temporary } = await this.#host.session(agent, userId, sessionId);
      const close = async () => {
        if (temporary) await session[Symbol.asyncDispose]();
      };
      const callId = requestId.split('#')[0];
      const open = await session.inner.pending();
      const own = open.filter((request) => request.agentPath[0] === agent);
      const isOpen = own.some((request) => request.callId === callId);
      if (isOpen || (own.length > 0 && (await session.subagents.owner(requestId)))) found.push({ session, close });
      else await close();
    }
    return found;
  }

  announce(agent: string, userId: string, question: ApprovalQuestion): void {
    this.#lookout.knows(userId, question);
    this.#tell({ agent, userId, request: question });
  }

  #tell(open: OpenApproval): void {
    for (const watcher of this.#watchers) watcher(open);
  }

  /** What is open inside of a sub-agent is open in its caller's session, and nowhere else. */
  async #sessions(): Promise<{ agent: string; userId: string; sessionId: string }[]> {
    const open = await this.#host.openSessions();
    const below = new Set<string>();
    for (const { agent, userId, sessionId } of open) {
      const prefix = `${sessionId}.`;
      if (!open.some((other) => other.userId === userId && other.sessionId.startsWith(prefix))) continue;
      const { session, temporary } = await this.#host.session(agent, userId, sessionId);
      for (const id of await session.subagents.sessionIds()) below.add(JSON.stringify([userId, id]));
      if (temporary) await session[Symbol.asyncDispose]();
    }
    return open.filter(({ userId, sessionId }) => !below.has(JSON.stringify([userId, sessionId])));
  }

  /** A run belongs to the host: nobody needs to hold it. */
  async #resume(session: HostedSession): Promise<void> {
    try {
      await session.resume();
    } catch (error) {
      const code = (error as { code?: unknown }).code;
      // Somebody holds the session and goes on with it.
      if (code !== 'E_SESSION_BUSY' && code !== 'E_TURN_COMPLETED' && code !== 'E_SESSION_CLOSED') {
        this.#host.warn(`session ${session.id} could not go on after an approval`, error);
      }
    }
  }
}

const placeShape: Shape<ApprovalPlace> = { agent: text, userId: text, sessionId: text };

function checkFilter(filter: ApprovalFilter): void {
  checkShape<ApprovalFilter>(filter, 'approvals: filter', { approver: object, sessionId: text });
  if (filter.approver !== undefined) checkPrincipal(filter.approver, 'approvals: filter.approver');
}

function isAt(here: { agent: string; userId: string; sessionId: string }, place: ApprovalPlace): boolean {
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
