import { clockCorrection, commonTime } from '../../base/index.ts';
import type { AgentHost, Work } from '../../host/index.ts';
import type { BusLag } from '../workspace/index.ts';

/** Milliseconds that the age of the oldest question counts: to find it, a session is read. */
const FRESH_MS = 10_000;

/** What `/metrics` of `coxswain serve` has beside the server's own. */
export class ServeFigures {
  readonly #host: AgentHost;
  readonly #lag: BusLag | undefined;
  /** Turns that no client holds, once they are worked at. */
  turns: Work | undefined;
  #oldest: { askedAt: number | 'none' | undefined; until: number } | undefined;
  #looking: Promise<void> | undefined;

  constructor(host: AgentHost, lag: BusLag | undefined) {
    this.#host = host;
    this.#lag = lag;
  }

  readonly read = async (): Promise<Record<string, number>> => {
    const oldest = await this.#oldestQuestion();
    const lag = this.#lag?.seconds;
    return {
      ...this.#ofTurns(),
      ...(lag === undefined ? {} : { bus_lag_seconds: lag }),
      ...(oldest === undefined ? {} : { oldest_question_seconds: Math.max(0, (commonTime() - oldest) / 1000) }),
    };
  };

  #ofTurns(): Record<string, number> {
    if (!this.turns) return {};
    const { running, looks, orphans, leftAlone, givenUp } = this.turns.figures;
    return {
      background_turns_running: running,
      background_looks_total: looks,
      orphaned_turns_total: orphans,
      turns_left_alone: leftAlone,
      webhooks_given_up: givenUp,
      clock_correction_seconds: clockCorrection(),
    };
  }

  /** When it was asked, in epoch milliseconds: now where nothing waits, undefined where the store does not answer. */
  async #oldestQuestion(): Promise<number | undefined> {
    if (!this.#oldest || Date.now() >= this.#oldest.until) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
      await this.#looking;
    }
    const askedAt = this.#oldest?.askedAt;
    return askedAt === 'none' ? Date.now() : askedAt;
  }

  async #look(): Promise<void> {
    let askedAt: number | 'none' | undefined;
    try {
      const [open] = await this.#host.approvals.list({ limit: 1 });
      askedAt = open ? Date.parse(open.request.requestedAt) : 'none';
    } catch {
      // Another figure says that the store does not answer.
    }
    this.#oldest = { askedAt, until: Date.now() + FRESH_MS };
  }
}
