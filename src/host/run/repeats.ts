import type { ReportedRequest, SessionInput } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { LazyMap } from '../../session/index.ts';

/** How often a run tells an executor the same of one call that it goes on listing as open. */
const MOST = 8;
/** Inner streams before others of the process are let in. */
const AT_ONCE = 64;

// As it is now: whoever replaces the clock later means to hold time, not runs.
const later = setImmediate;

/**
 * Sees to it that a run comes to an end, or is heard of by others, whatever its executor says: what it is told settles a
 * call, and one that it lists again all the same is not judged and told without end.
 */
export class Repeats {
  readonly #told = new LazyMap<string, number>();
  #streams = 0;

  /**
   * An inner stream has taken a batch, and says what is open.
   * @throws CoxswainError `FAILED_PRECONDITION / E_EXECUTOR_CONTRADICTION`
   */
  took(batch: readonly SessionInput[], open: readonly ReportedRequest[]): Promise<void> | undefined {
    if (open.length > 0) this.#look(batch, open);
    this.#streams++;
    return this.#streams % AT_ONCE === 0 ? new Promise((resolve) => later(resolve)) : undefined;
  }

  #look(batch: readonly SessionInput[], open: readonly ReportedRequest[]): void {
    const told = new Map<string, SessionInput>();
    for (const input of batch) {
      if (input.kind !== 'message' && input.kind !== 'continue') told.set(input.requestId, input);
    }
    if (told.size === 0) return;
    // Many may be open: what was told of few of them is looked up, not the other way round.
    for (const request of open) {
      const input = told.get(request.requestId);
      if (!input || input.kind === 'message' || input.kind === 'continue') continue;
      // A call that its host runs stays open until it has its result.
      if (input.kind === 'tool_approval' && request.handledBy === 'host') continue;
      const times = (this.#told.get(input.requestId) ?? 0) + 1;
      this.#told.set(input.requestId, times);
      if (times >= MOST) throw unheard(input.requestId);
    }
  }
}

function unheard(requestId: string): CoxswainError {
  const message =
    `the executor has taken what was decided of ${JSON.stringify(requestId)} ${MOST} times and still waits for it: ` +
    'the run is ended; correct the executor';
  return new CoxswainError('FAILED_PRECONDITION', 'E_EXECUTOR_CONTRADICTION', message, { details: { requestId } });
}
