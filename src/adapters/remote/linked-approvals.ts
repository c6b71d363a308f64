import type { CoxswainError, GivenAnswer, ReportedRequest, Settlement } from '../../contracts/index.ts';
import { copyJson, openRequestOf } from '../../contracts/index.ts';
import type { DecidedPage } from '../../session/index.ts';
import { checkAnswer, checkRequestId, StreamQueue } from '../../session/index.ts';
import type { Link } from './link.ts';
import type { RemoteApproval, RemoteApprovals } from './remote-host.ts';
import { remoteInput } from './remote-shape.ts';

/** As a server says it: with as much of the request as its executor does. */
export type ReportedApproval = Omit<RemoteApproval, 'request'> & { request: ReportedRequest };

export type QuestionPlace = { requestId: string; sessionId: string; userId: string; agent: string };

/** Over the connection of a client. */
export class LinkedApprovals implements RemoteApprovals {
  readonly #link: Link;
  readonly #watchers = new Map<(open: RemoteApproval) => void, (error?: CoxswainError) => void>();
  readonly #changeWatchers = new Map<(question: QuestionPlace) => void, (error?: CoxswainError) => void>();

  #tellsChanges = false;

  constructor(link: Link) {
    this.#link = link;
  }

  get tellsChanges(): boolean {
    return this.#tellsChanges;
  }

  async list(filter: { sessionId?: string; own?: boolean } = {}): Promise<RemoteApproval[]> {
    remoteInput.filter(filter);
    const { sessionId, own } = filter;
    const asked = { ...(sessionId === undefined ? {} : { sessionId }), ...(own ? { own } : {}) };
    const { approvals } = await this.#link.request<{ approvals: ReportedApproval[] }>('approvals/list', asked);
    return approvals.map(openOf);
  }

  watch(): AsyncIterableIterator<RemoteApproval> {
    const { promise: over, resolve, reject } = Promise.withResolvers<void>();
    // It may fail while the request below is on its way, which fails alike.
    over.catch(() => {});
    const end = (error?: CoxswainError) => (error === undefined ? resolve() : reject(error));
    return new StreamQueue<RemoteApproval>(
      async (out) => {
        // Asked while the list was on its way, it may be in the list as well.
        let early: Set<string> | undefined = new Set();
        const see = (open: RemoteApproval) => {
          early?.add(placeOf(open));
          out.push(open);
        };
        this.#watchers.set(see, end);
        try {
          const begun = await Promise.race([over, this.#link.request<{ changes?: boolean }>('approvals/watch', {})]);
          this.#tellsChanges = begun?.changes === true;
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

  changes(): AsyncIterableIterator<QuestionPlace> {
    const { promise: over, resolve, reject } = Promise.withResolvers<void>();
    over.catch(() => {});
    const end = (error?: CoxswainError) => (error === undefined ? resolve() : reject(error));
    return new StreamQueue<QuestionPlace>(
      async (out) => {
        const see = (question: QuestionPlace) => out.push(question);
        this.#changeWatchers.set(see, end);
        await over.finally(() => this.#changeWatchers.delete(see));
      },
      async () => end(),
    );
  }

  async outcome(requestId: string, place: Omit<QuestionPlace, 'requestId'>): ReturnType<RemoteApprovals['outcome']> {
    checkRequestId(requestId);
    remoteInput.place(place);
    const { sessionId, userId, agent } = place;
    return this.#link.request('approvals/outcome', { requestId, sessionId, userId, agent });
  }

  async decided(query: Parameters<RemoteApprovals['decided']>[0] = {}): ReturnType<RemoteApprovals['decided']> {
    remoteInput.decided(query);
    return this.#link.request<DecidedPage>('approvals/decided', { ...query });
  }

  async explain(
    requestId: string,
    place: Omit<QuestionPlace, 'requestId'>,
    args?: Record<string, unknown>,
  ): ReturnType<RemoteApprovals['explain']> {
    checkRequestId(requestId);
    remoteInput.place(place);
    const { sessionId, userId, agent } = place;
    const edited = args === undefined ? {} : { args: copyJson(args, 'approvals.explain: args') };
    return this.#link.request('approvals/explain', { requestId, sessionId, userId, agent, ...edited });
  }

  async decide(
    requestId: string,
    answer: GivenAnswer,
    place: { sessionId?: string; userId?: string; agent?: string } = {},
  ): Promise<Settlement> {
    checkRequestId(requestId);
    remoteInput.place(place);
    const { sessionId, userId, agent } = place;
    return this.#link.request('approvals/decide', { requestId, answer: checkAnswer(answer), sessionId, userId, agent });
  }

  see(reported: ReportedApproval): void {
    const open = openOf(reported);
    for (const watcher of this.#watchers.keys()) watcher(open);
  }

  changed(question: QuestionPlace): void {
    for (const watcher of this.#changeWatchers.keys()) watcher(question);
  }

  async resume(): Promise<void> {
    if (this.#watchers.size === 0) return;
    // It may be another server by now.
    const { changes } = await this.#link.now<{ changes?: boolean }>('approvals/watch', {});
    this.#tellsChanges = changes === true;
    const { approvals } = await this.#link.now<{ approvals: ReportedApproval[] }>('approvals/list', {});
    for (const open of approvals) this.see(open);
  }

  /** There will be no connection any more. */
  end(error?: CoxswainError): void {
    for (const end of [...this.#watchers.values(), ...this.#changeWatchers.values()]) end(error);
  }
}

const openOf = ({ request, ...place }: ReportedApproval): RemoteApproval => ({
  ...place,
  request: openRequestOf(request),
});

function placeOf({ agent, userId, request }: RemoteApproval): string {
  return JSON.stringify([agent, userId, request.sessionId, request.requestId]);
}
