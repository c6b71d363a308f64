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
    return this.#breath();
  }

  /**
   * An inner stream was refused as one of these answers came too late, and this is what is open.
   * @throws CoxswainError `FAILED_PRECONDITION / E_EXECUTOR_CONTRADICTION`
   */
  refused(batch: readonly SessionInput[], open: readonly ReportedRequest[]): Promise<void> | undefined {
    const isOpen = new Set(open.map(({ requestId }) => requestId));
    const told = answersIn(batch);
    // Something has come of one that is open no more: the others are told once more.
    if (told.length > 0 && told.every(({ requestId }) => isOpen.has(requestId))) {
      for (const { requestId } of told) this.#count(requestId);
    }
    return this.#breath();
  }

  #breath(): Promise<void> | undefined {
    this.#streams++;
    return this.#streams % AT_ONCE === 0 ? new Promise((resolve) => later(resolve)) : undefined;
  }

  #count(requestId: string): void {
    const times = (this.#told.get(requestId) ?? 0) + 1;
    this.#told.set(requestId, times);
    if (times >= MOST) throw unheard(requestId);
  }

  #look(batch: readonly SessionInput[], open: readonly ReportedRequest[]): void {
    const told = new Map(answersIn(batch).map((input) => [input.requestId, input]));
    if (told.size === 0) return;
    // Many may be open: what was told of few of them is looked up, not the other way round.
    for (const request of open) {
      const input = told.get(request.requestId);
      if (!input) continue;
      // A call that its host runs stays open until it has its result.
      if (input.kind === 'tool_approval' && request.handledBy === 'host') continue;
      this.#count(input.requestId);
    }
  }
}

type AnswerInput = Exclude<SessionInput, { kind: 'message' | 'continue' }>;

function answersIn(batch: readonly SessionInput[]): AnswerInput[] {
  return batch.filter((input): input is AnswerInput => input.kind !== 'message' && input.kind !== 'continue');
}

function unheard(requestId: string): CoxswainError {
  const message =
    `the executor got the decision on ${JSON.stringify(requestId)} ${MOST} times and still waits for it: ` +
    'the run is ended; correct the executor';
  return new CoxswainError('FAILED_PRECONDITION', 'E_EXECUTOR_CONTRADICTION', message, { details: { requestId } });
}
