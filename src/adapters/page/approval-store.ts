import { checkIs, checkOptions, count, MAX_TIMER_MS, object } from '../../base/index.ts';
import type { RequestAnswer, Settlement } from '../../contracts/index.ts';
import type { RunResult } from '../../session/index.ts';
import type { LinkState, RemoteApproval, RemoteHost } from '../remote/index.ts';
import { errorFor, Snapshots } from './snapshots.ts';

/** Milliseconds after which the list is read again where the server does not say that somebody else has answered. */
const REFRESH_MS = 10_000;
/** Where it does, the list is read so many times less: an answer of another process whose call nobody has continued is not said. */
const TOLD = 6;

/**
 * Questions of all sessions that this person may answer, as a store for user interfaces: an inbox. Its functions are bound.
 * A question comes as soon as it is asked, and leaves as soon as it is answered, by whomever: the server says so. Of a server that does
 * not, the list is read every `refreshMs` (default 10,000); of one that does, every six times as long.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 * @example
 * ```ts
 * import { approvalStore, connect } from 'coxswain/client';
 *
 * const inbox = approvalStore(connect('ws://127.0.0.1:4747', { token: 'secret' }));
 * const leave = inbox.subscribe(() => console.log(inbox.getSnapshot().approvals.length));
 * leave();
 * ```
 */
export function approvalStore(
  remote: RemoteHost | Promise<RemoteHost>,
  options: { refreshMs?: number } = {},
): {
  subscribe(changed: () => void): () => void;
  /** What is shown now; the same object until something has changed. */
  getSnapshot(): {
    connection: LinkState;
    /** Oldest first. */
    approvals: readonly RemoteApproval[];
    /** What was refused or failed last; absent once something is accepted again. */
    error?: NonNullable<RunResult['error']>;
  };
  /** Answers a question for what is shown of it; its turn continues by itself. `undefined`: `error` says why not. */
  decide(approval: RemoteApproval, answer: RequestAnswer): Promise<Settlement | undefined>;
} {
  checkIs(remote, 'approvalStore: the first argument', object);
  checkOptions<typeof options>(options, 'approvalStore: options', { refreshMs: count });
  return new ShownApprovals(remote, options.refreshMs ?? REFRESH_MS);
}

type Store = ReturnType<typeof approvalStore>;
type Shown = ReturnType<Store['getSnapshot']>;

class ShownApprovals implements Store {
  readonly subscribe: Store['subscribe'];
  readonly getSnapshot: Store['getSnapshot'];
  readonly #snapshots: Snapshots<Shown>;
  readonly #remote: RemoteHost | Promise<RemoteHost>;
  readonly #refreshMs: number;
  readonly #open = new Map<string, RemoteApproval>();
  #host: RemoteHost | undefined;
  /** Of the subscription at hand. */
  #gone: AbortSignal | undefined;
  #isOver = false;
  #error: RunResult['error'];
  /** Of the newest reading of the list: an older one that comes late is left out. */
  #reading = 0;
  /** A reading for changes that were said is on its way; more were said since. */
  #catchingUp: { again: boolean } | undefined;

  constructor(remote: RemoteHost | Promise<RemoteHost>, refreshMs: number) {
    this.#remote = remote;
    this.#refreshMs = refreshMs;
    this.#snapshots = new Snapshots(
      () => this.#shown(),
      (gone) => void this.#follow(gone),
    );
    this.subscribe = this.#snapshots.subscribe;
    this.getSnapshot = this.#snapshots.get;
  }

  readonly decide: Store['decide'] = async (approval, answer) => {
    const { agent, userId, request } = approval;
    const { sessionId, requestId } = request;
    try {
      const host = await this.#remote;
      const digest = request.approval?.previewDigest;
      const bound = answer.kind === 'approve' && digest !== undefined ? { previewDigest: digest, ...answer } : answer;
      const settlement = await host.approvals.decide(requestId, bound, { agent, userId, sessionId });
      this.#error = undefined;
      return settlement;
    } catch (error) {
      this.#error = errorFor(error);
      return undefined;
    } finally {
      await this.#read();
    }
  };

  async #follow(gone: AbortSignal): Promise<void> {
    let end = () => {};
    this.#gone = gone;
    this.#isOver = false;
    try {
      const host = await this.#remote;
      if (gone.aborted) return;
      this.#host = host;
      const questions = host.approvals.watch();
      const forget = host.onState((state) => {
        if (state === 'ready') void this.#read();
        this.#snapshots.change();
      });
      const changes = host.approvals.changes();
      void this.#followChanges(changes);
      let ticks = 0;
      const timer = setInterval(
        () => {
          ticks += 1;
          if (!host.approvals.tellsChanges || ticks % TOLD === 0) void this.#read();
        },
        Math.min(this.#refreshMs, MAX_TIMER_MS),
      );
      end = () => {
        forget();
        clearInterval(timer);
        void changes.return?.();
      };
      gone.addEventListener('abort', () => void questions.return?.());
      for await (const open of questions) {
        this.#reading++;
        this.#open.set(placeOf(open), open);
        this.#snapshots.change();
      }
    } catch (error) {
      if (!gone.aborted) this.#error = errorFor(error);
    } finally {
      end();
      if (this.#gone === gone) this.#isOver = true;
      this.#snapshots.change();
    }
  }

  /** However many changes come at a time, two readings see all of them. */
  async #followChanges(changes: AsyncIterable<unknown>): Promise<void> {
    try {
      for await (const _ of changes) {
        if (this.#catchingUp) this.#catchingUp.again = true;
        else void this.#catchUp();
      }
    } catch {
      // The questions come by the same connection, and end for the same reason.
    }
  }

  async #catchUp(): Promise<void> {
    const catchingUp = { again: true };
    this.#catchingUp = catchingUp;
    while (catchingUp.again) {
      catchingUp.again = false;
      await this.#read();
    }
    this.#catchingUp = undefined;
  }

  async #read(): Promise<void> {
    const host = this.#host;
    if (!host || this.#isOver) return;
    const reading = ++this.#reading;
    try {
      const open = await host.approvals.list();
      if (reading !== this.#reading) return;
      this.#open.clear();
      for (const one of open) this.#open.set(placeOf(one), one);
    } catch (error) {
      this.#error ??= errorFor(error);
    }
    this.#snapshots.change();
  }

  #shown(): Shown {
    const approvals = [...this.#open.values()].sort((a, b) =>
      a.request.requestedAt.localeCompare(b.request.requestedAt),
    );
    return {
      connection: this.#isOver ? 'closed' : (this.#host?.state ?? 'connecting'),
      approvals,
      ...(this.#error ? { error: this.#error } : {}),
    };
  }
}

function placeOf({ agent, userId, request }: RemoteApproval): string {
  return JSON.stringify([agent, userId, request.sessionId, request.requestId]);
}
