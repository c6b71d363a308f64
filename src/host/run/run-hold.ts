import type { ReportedRequest } from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import { MAX_TIMER_MS } from '../../gate/index.ts';
import type { HoldOptions } from '../../session/index.ts';
import { hold, isHoldable, ToldOnce } from '../../session/index.ts';
import type { Hosted } from '../frame/index.ts';

/** Milliseconds between two looks for what other processes have stored, while a run waits. */
const LOOK_MS = 2000;

/**
 * The session, as one run has it: from before it does anything to its end, while tools run and policy, hooks and
 * handlers are asked. Only a pause for people gives it up. Executors that keep no lease are left as they are.
 */
export class RunHold {
  readonly #session: Hosted;
  #release: (() => Promise<void>) | undefined;
  /** How it is taken again, after a pause. */
  #again: HoldOptions = {};
  readonly #looks = new ToldOnce();

  constructor(session: Hosted) {
    this.#session = session;
  }

  get isHeld(): boolean {
    return this.#release !== undefined;
  }

  /** @throws CoxswainError `ABORTED / E_SESSION_BUSY` while anybody else runs the session */
  async take(options: HoldOptions = this.#again): Promise<void> {
    const { inner } = this.#session;
    if (isHoldable(inner)) this.#release = await inner[hold](options);
    this.#again = { ...options, withEvents: false };
  }

  /** Never rejects: what the store cannot take back now it takes back before it gives out the next lease. */
  async letGo(): Promise<void> {
    const release = this.#release;
    if (!release) return;
    this.#release = undefined;
    try {
      await release();
    } catch (error) {
      this.#session.frame.warn(`session ${this.#session.id} could not be given back yet`, error);
    }
  }

  /**
   * Gives the session up: only others can move what is open. Whoever answers, and is refused because the session is
   * held, has answered before it was given up, and this looks again after that: no answer is left to nobody.
   * @returns true: something has been answered, and the session is held again
   */
  async pause(open: readonly ReportedRequest[], questions: readonly ReportedRequest[]): Promise<boolean> {
    if (!this.#release) return false;
    await this.letGo();
    if (!(await this.#hasMoved(open, questions))) return false;
    try {
      await this.take();
      return true;
    } catch (error) {
      // Somebody else goes on with it.
      if (isCoxswainError(error) && error.code === 'E_SESSION_BUSY') return false;
      throw error;
    }
  }

  /** Looks now and then whether another process has answered something, until the returned function is called. */
  watch(open: readonly ReportedRequest[], questions: readonly ReportedRequest[], wake: () => void): () => void {
    if (!this.#release) return () => {};
    const { frame, id } = this.#session;
    let isLooking = false;
    const look = async () => {
      if (isLooking) return;
      isLooking = true;
      try {
        if (await this.#hasMoved(open, questions)) wake();
        this.#looks.succeeded();
      } catch (error) {
        const message = `session ${id}: what others have answered could not be read; the next look is as usual`;
        this.#looks.failed(frame.warn, message, error);
      } finally {
        isLooking = false;
      }
    };
    const everyMs = Math.min(frame.options.approvalPollMs ?? LOOK_MS, MAX_TIMER_MS);
    const timer = setInterval(() => void look(), everyMs);
    timer.unref?.();
    return () => clearInterval(timer);
  }

  async #hasMoved(open: readonly ReportedRequest[], questions: readonly ReportedRequest[]): Promise<boolean> {
    const { inner, frame } = this.#session;
    const now = await inner.pending();
    if (now.length !== open.length || !open.every((request, index) => isSame(request, now[index]))) return true;
    if (!frame.hasSubagents || questions.length === 0) return false;
    const shown = new Set((await this.#session.pending()).map(({ requestId }) => requestId));
    return !questions.every(({ requestId }) => shown.has(requestId));
  }
}

/** Nobody has said anything about it in between. */
function isSame(before: ReportedRequest, now: ReportedRequest | undefined): boolean {
  return (
    before.requestId === now?.requestId &&
    before.started === now.started &&
    before.decision?.by === now.decision?.by &&
    (before.answers?.length ?? 0) === (now.answers?.length ?? 0)
  );
}
