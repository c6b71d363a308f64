import type { CoxswainError, ReportedRequest, RequestAnswer, Settlement } from '../../contracts/index.ts';
import { checkAnswer, checkRequestId, StreamQueue } from '../../session/index.ts';
import type { Link } from './link.ts';
import { remoteInput } from './remote-shape.ts';

/** A question that somebody may answer who holds no session. */
export interface OpenApprovalOnWire {
  agent: string;
  userId: string;
  request: ReportedRequest;
  /** Policy denies the call since: no answer lets it run, and each stores that. */
  denied?: { by: 'policy'; reason?: string; ruleId?: string };
}

/** Questions of a server's sessions that this principal may decide on. */
export class RemoteApprovals {
  readonly #link: Link;
  readonly #watchers = new Map<(open: OpenApprovalOnWire) => void, (error?: CoxswainError) => void>();

  constructor(link: Link) {
    this.#link = link;
  }

  /** What waits for this principal, oldest first. */
  async list(filter: { sessionId?: string } = {}): Promise<OpenApprovalOnWire[]> {
    remoteInput.filter(filter);
    const { sessionId } = filter;
    const asked = sessionId === undefined ? {} : { sessionId };
    return (await this.#link.request<{ approvals: OpenApprovalOnWire[] }>('approvals/list', asked)).approvals;
  }

  /**
   * What waits for this principal, then questions as they come; after a lost connection, those that are open come again.
   * Leaving tells the server, too. Ends where this side closes the connection.
   */
  watch(): AsyncIterableIterator<OpenApprovalOnWire> {
    const { promise: over, resolve, reject } = Promise.withResolvers<void>();
    // It may fail while the request below is on its way, which fails alike.
    over.catch(() => {});
    const end = (error?: CoxswainError) => (error === undefined ? resolve() : reject(error));
    return new StreamQueue<OpenApprovalOnWire>(
      async (out) => {
        // Asked while the list was on its way, it may be in the list as well.
        let early: Set<string> | undefined = new Set();
        const see = (open: OpenApprovalOnWire) => {
          early?.add(placeOf(open));
          out.push(open);
        };
        this.#watchers.set(see, end);
        try {
          await Promise.race([over, this.#link.request('approvals/watch', {})]);
          const waiting = await Promise.race([over, this.list()]);
          for (const open of waiting ?? []) if (!early.has(placeOf(open))) out.push(open);
          early = undefined;
          await over;
        } finally {
          this.#watchers.delete(see);
        }
        // A connection that is gone has ended it.
        if (this.#watchers.size === 0)
          this.#link.request('approvals/watch', { stop: true }, { resend: false }).catch(() => {});
      },
      async () => end(),
    );
  }

  /**
   * Answers one question; the run goes on, whoever watches. `place` tells which, where several sessions ask one of this
   * id.
   * @throws CoxswainError `PERMISSION_DENIED / E_NOT_APPROVER`, `FAILED_PRECONDITION / E_UNKNOWN_REQUEST`,
   *   `INVALID_ARGUMENT / E_BAD_INPUT`
   */
  async decide(
    requestId: string,
    answer: RequestAnswer,
    place: { sessionId?: string; userId?: string; agent?: string } = {},
  ): Promise<Settlement> {
    checkRequestId(requestId);
    remoteInput.place(place);
    const { sessionId, userId, agent } = place;
    return this.#link.request('approvals/decide', { requestId, answer: checkAnswer(answer), sessionId, userId, agent });
  }

  see(open: OpenApprovalOnWire): void {
    for (const watcher of this.#watchers.keys()) watcher(open);
  }

  async resume(): Promise<void> {
    if (this.#watchers.size === 0) return;
    await this.#link.now('approvals/watch', {});
    const { approvals } = await this.#link.now<{ approvals: OpenApprovalOnWire[] }>('approvals/list', {});
    for (const open of approvals) this.see(open);
  }

  /** There will be no connection any more. */
  end(error?: CoxswainError): void {
    for (const end of this.#watchers.values()) end(error);
  }
}

function placeOf({ agent, userId, request }: OpenApprovalOnWire): string {
  return JSON.stringify([agent, userId, request.sessionId, request.requestId]);
}
