import type { OpenRequest, Principal, ReportedRequest, SessionPlace } from '../../contracts/index.ts';
import { whyNotOpen } from '../../gate/index.ts';
import { breath, checkOptions, checkPrincipal, number, object, text } from '../../session/index.ts';
import type { DeniedSince, HostedSession } from '../hosted/index.ts';
import { deniedQuestion, settleExpired } from '../hosted/index.ts';
import { isApprovalQuestion } from '../questions/index.ts';
import { approvalCursor, byAge, isBefore, order, startOf, wasShown } from './approval-pages.ts';
import { AskedSessions, Stands } from './asked-sessions.ts';
import type { KnownQuestions } from './known-questions.ts';
import { calledBy, isAt, leftOut, lookInto, placesOf, withoutCalled, withoutSubagents } from './open-places.ts';
import type { ApprovalFilter, ApprovalHost, ApprovalPlace, OpenApproval, WaitingSession } from './open-sessions.ts';

/** Sessions that a list looks into at a time. */
const AT_ONCE = 8;

/** What waits for people, in the sessions of the store's index. */
export class OpenQuestions {
  readonly #host: ApprovalHost;
  readonly #known: KnownQuestions;
  readonly #asked: AskedSessions;

  constructor(host: ApprovalHost, known: KnownQuestions, pollMs: number) {
    this.#host = host;
    this.#known = known;
    this.#asked = new AskedSessions(pollMs);
  }

  async list(filter: ApprovalFilter): Promise<OpenApproval[]> {
    checkFilter(filter);
    const { since, end } = this.#asked.begin();
    try {
      return await this.#list(filter, since);
    } finally {
      end();
    }
  }

  async #list(filter: ApprovalFilter, since: number): Promise<OpenApproval[]> {
    const { sessionId, userId, limit = Number.POSITIVE_INFINITY } = filter;
    const after = startOf(filter.after);
    const open = await this.#host.openSessions(userId === undefined ? {} : { userId });
    const stands = new Stands(open, this.#host.agentTools);
    const asking = open.filter(
      (place) =>
        (sessionId ?? place.sessionId) === place.sessionId &&
        !(after && isBefore(place, after)) &&
        this.#mayConcern(place, stands, filter),
    );
    const places = (await withoutCalled(asking, open, this.#below(stands))).sort(byAge);
    const found: OpenApproval[] = [];
    while (places.length > 0 && found.length < limit) {
      // Somebody else may have read it meanwhile.
      const some = places
        .splice(0, Math.min(AT_ONCE, limit - found.length))
        .filter((place) => this.#mayConcern(place, stands, filter));
      const asked = await Promise.all(some.map((place) => this.#listedAt(place, stands, since, sessionId)));
      for (const [index, place] of some.entries()) {
        for (const one of asked[index] ?? []) {
          if (matches(one, filter) && !(after && wasShown(one, place, after))) found.push(one);
        }
      }
      if (places.length > 0) await breath();
    }
    if (filter.limit === undefined) {
      return found.sort((a, b) => a.request.requestedAt.localeCompare(b.request.requestedAt));
    }
    return found.slice(0, limit);
  }

  /** What is open in one session, oldest first. */
  async at(place: WaitingSession): Promise<OpenApproval[]> {
    const { agent, userId } = place;
    const asked = await lookInto(this.#host, place, async (session) => {
      // One that nobody is asked about may be one that nobody has answered in time.
      if ((await session.pending()).some(isUnasked)) await settleExpired(session);
      return askedIn(session);
    });
    const open = (asked ?? [])
      .filter(({ request: { kind, agentPath } }) => kind !== 'tool' && agentPath[0] === agent) // A session of another agent has another root.
      .sort((a, b) => byTime(a.request, b.request))
      .map((one) => ({ agent, userId, ...one, cursor: approvalCursor(place, one.request) }));
    for (const one of open) this.#known.note(one);
    return open;
  }

  /** All questions of this id; where no session is named, those that are known not to ask it are not opened again. */
  async find(requestId: string, place: ApprovalPlace): Promise<OpenApproval[]> {
    let stands: Stands | undefined;
    const roots = (places: readonly WaitingSession[], open: readonly WaitingSession[]) => {
      // Of one that is named the index was not asked for those below it.
      if (place.sessionId !== undefined) return withoutSubagents(this.#host, places);
      stands = new Stands(open, this.#host.agentTools);
      return withoutCalled(places, places, this.#below(stands));
    };
    const found: OpenApproval[] = [];
    for await (const places of placesOf(this.#host, requestId, place, roots)) {
      for (const one of places) {
        if (stands && !this.#asked.mayAsk(one, stands, requestId)) continue;
        const read = () => this.at(one);
        const asked = await (stands ? this.#asked.read(one, stands, Number.POSITIVE_INFINITY, read) : read());
        found.push(...asked.filter(({ request }) => request.requestId === requestId));
      }
      if (found.length > 0) break;
    }
    return found;
  }

  /** What is open of a question in a session, for somebody who may know of something that it asks. */
  async of(requestId: string, place: SessionPlace, who: Principal): Promise<OpenApproval | undefined> {
    const open = await this.#host.openSessions({ userId: place.userId });
    const stands = new Stands(open, this.#host.agentTools);
    const asking = open.filter((one) => isAt(one, place) && this.#asked.mayConcern(one, stands, who));
    const [found] = await withoutCalled(asking, open, this.#below(stands));
    const asked = found ? await this.#asked.read(found, stands, Number.POSITIVE_INFINITY, () => this.at(found)) : [];
    return asked.find(({ request }) => request.requestId === requestId);
  }

  /** Something was asked of this user's sessions, or answered. */
  forget(userId: string): void {
    this.#asked.forget(userId);
  }

  /** Ids of the sessions that one has called, as they are known. */
  #below(stands: Stands): (caller: WaitingSession) => Promise<readonly string[] | undefined> {
    return (caller) => this.#asked.below(caller, stands, () => calledBy(this.#host, caller));
  }

  /** Decided by what is known: a session is opened for people who may see what it asks, and where that is not known. */
  #mayConcern(place: WaitingSession, stands: Stands, { approver, sessionId }: ApprovalFilter): boolean {
    if (!approver || this.#asked.mayConcern(place, stands, approver)) return true;
    // Whoever asks for it alone is told why it cannot be read.
    return sessionId !== undefined && this.#asked.isUnread(place, stands);
  }

  /** One that cannot be read hides no other; whoever asks for it alone is told. */
  async #listedAt(
    place: WaitingSession,
    stands: Stands,
    since: number,
    wanted: string | undefined,
  ): Promise<OpenApproval[] | undefined> {
    const read = () => this.#asked.read(place, stands, since, () => this.at(place));
    if (wanted !== undefined) return read();
    try {
      return await read();
    } catch (error) {
      this.#host.warn(leftOut(place), error);
      return undefined;
    }
  }
}

export function checkFilter(filter: ApprovalFilter): void {
  checkOptions<ApprovalFilter>(filter, 'approvals: filter', {
    approver: object,
    sessionId: text,
    userId: text,
    limit: number,
    after: text,
  });
  if (filter.approver !== undefined) checkPrincipal(filter.approver, 'approvals: filter.approver');
}

export function matches(open: OpenApproval, filter: ApprovalFilter): boolean {
  const { approver, sessionId, userId = open.userId } = filter;
  if (open.userId !== userId || (sessionId !== undefined && open.request.sessionId !== sessionId)) return false;
  return !approver || whyNotOpen(open, approver) === undefined;
}

/** Nobody is asked about it, or not by this host. */
const isUnasked = (request: ReportedRequest) => request.kind === 'tool' && !isApprovalQuestion(request);

/** What is open in a session, also what policy has put an end to since. */
export async function askedIn(session: HostedSession): Promise<{ request: OpenRequest; denied?: DeniedSince }[]> {
  const open = await session.pending();
  return Promise.all(
    open.map(async (request) => (isUnasked(request) && (await deniedQuestion(session, request))) || { request }),
  );
}

const byTime = (a: ReportedRequest, b: ReportedRequest) =>
  a.requestedAt.localeCompare(b.requestedAt) || order(a.requestId, b.requestId);
