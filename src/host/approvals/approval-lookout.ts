import { callIdOf, isCoxswainError } from '../../contracts/index.ts';
import { MAX_TIMER_MS } from '../../gate/index.ts';
import { nameOfPlace, ToldOnce } from '../../session/index.ts';
import { byAgentName, callersOf } from './open-places.ts';
import type { ApprovalHost, OpenApproval } from './open-sessions.ts';

/**
 * Looks for questions that other processes over the same store ask: its index tells which calls are open, and only
 * sessions with calls that are new are read. Nothing is looked for while nobody watches.
 */
export class ApprovalLookout {
  readonly #host: ApprovalHost;
  readonly #everyMs: number;
  readonly #tell: (open: OpenApproval) => void;
  readonly #over: (userId: string, callId: string) => void;
  readonly #looks = new ToldOnce();
  #watchers = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Calls that were open at the last look; undefined: none was taken since somebody watches. */
  #calls: ReadonlySet<string> | undefined;
  /** Questions that have been told, and their calls. */
  readonly #told = new Map<string, string>();

  constructor(
    host: ApprovalHost,
    everyMs: number,
    { asked, over }: { asked(open: OpenApproval): void; over(userId: string, callId: string): void },
  ) {
    this.#host = host;
    this.#everyMs = Math.min(everyMs, MAX_TIMER_MS);
    this.#tell = asked;
    this.#over = over;
  }

  /** Somebody watches, until the returned function is called. Resolves once what is new can be told from what is not. */
  async begin(): Promise<() => void> {
    if (this.#watchers++ === 0) {
      this.#calls = undefined;
      await this.#look();
    }
    return () => {
      if (--this.#watchers > 0) return;
      clearTimeout(this.#timer);
      this.#calls = undefined;
      this.#told.clear();
    };
  }

  /** Told already: it was asked in this process. */
  knows(userId: string, { sessionId, requestId }: { sessionId: string; requestId: string }): void {
    if (this.#watchers > 0) this.#told.set(JSON.stringify([userId, sessionId, requestId]), callIdOf(requestId));
  }

  async #look(): Promise<void> {
    try {
      await this.#compare();
      this.#looks.succeeded();
    } catch (error) {
      const message = 'questions of other processes could not be looked for; the next look is as usual';
      this.#looks.failed(this.#host.warn, message, error);
    }
    clearTimeout(this.#timer);
    if (this.#watchers > 0) this.#timer = setTimeout(() => void this.#look(), this.#everyMs).unref();
  }

  async #compare(): Promise<void> {
    const open = await this.#host.openSessions();
    const before = this.#calls;
    const calls = new Set<string>();
    const byName = byAgentName(open);
    const changed = new Map<string, (typeof open)[number]>();
    for (const one of open) {
      for (const callId of one.calls ?? []) {
        const call = JSON.stringify([one.userId, one.sessionId, callId]);
        calls.add(call);
        if (!before || before.has(call)) continue;
        // What a sub-agent asks is asked in its caller's session.
        const caller = callersOf(one, byName).find(({ agent }) => agent === one.agent);
        const place = caller ?? one;
        changed.set(nameOfPlace(place), place);
      }
    }
    this.#calls = calls;
    for (const call of before ?? []) {
      if (calls.has(call)) continue;
      const [userId, , callId] = JSON.parse(call) as [string, string, string];
      this.#over(userId, callId);
    }
    const ids = new Set(open.flatMap((one) => one.calls ?? []));
    for (const [question, callId] of this.#told) if (!ids.has(callId)) this.#told.delete(question);
    for (const { agent, userId, sessionId } of changed.values()) {
      try {
        await this.#read(agent, userId, sessionId);
      } catch (error) {
        // Deleted since.
        if (isCoxswainError(error) && error.code === 'E_SESSION_NOT_FOUND') continue;
        this.#host.warn(`what session ${sessionId} asks could not be read; approvals.list() shows why`, error);
      }
    }
  }

  async #read(agent: string, userId: string, sessionId: string): Promise<void> {
    await using borrowed = await this.#host.borrow(agent, userId, sessionId);
    for (const request of await borrowed.session.pending()) {
      // An id is unique in its session alone.
      const question = JSON.stringify([userId, request.sessionId, request.requestId]);
      if (request.kind === 'tool' || request.agentPath[0] !== agent || this.#told.has(question)) continue;
      this.#told.set(question, callIdOf(request.requestId));
      this.#tell({ agent, userId, request });
    }
  }
}
