import type {
  CoxswainError,
  HostAnswer,
  ReportedRequest,
  SessionInput,
  ToolApprovalInput,
  ToolResultInput,
} from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import type { Stirred, StirringSession } from '../../session/index.ts';
import { isStirring, stirs } from '../../session/index.ts';
import { asAbort, closedByOthers } from '../questions/index.ts';
import { recordStart } from './call-starts.ts';
import { judgeOpen } from './judge-open.ts';
import type { RunScope } from './run-scope.ts';

/** A run that can be ended. */
type Run = RunScope & { abort(reason: CoxswainError): void };

/**
 * Judges what an inner stream waits for while it goes on: a call that runs in it may itself wait for these. What is
 * decided is told as an answer, each by itself, since no inner stream begins that could take it along.
 */
export class BesideInner {
  /** The executor has more to do, and no inner stream. */
  goesOn = false;
  readonly #run: Run;
  readonly #sent: (batch: readonly SessionInput[]) => void;
  readonly #deaf: () => void;
  #given: readonly SessionInput[] = [];
  #work: Promise<void> | undefined;
  #isOver = false;

  private constructor(run: Run, inner: StirringSession, sent: (batch: readonly SessionInput[]) => void) {
    this.#run = run;
    this.#sent = sent;
    this.#deaf = inner[stirs]((needs) => this.#stirred(needs));
  }

  /**
   * Undefined: the executor tells nothing of what it needs.
   * @param sent told that an inner stream has taken what it was given
   */
  static of(run: Run, sent: (batch: readonly SessionInput[]) => void): BesideInner | undefined {
    const { inner } = run.session;
    return isStirring(inner) ? new BesideInner(run, inner, sent) : undefined;
  }

  get isAtWork(): boolean {
    return this.#work !== undefined;
  }

  /** An inner stream begins. */
  begins(given: readonly SessionInput[]): void {
    this.#given = given;
    this.goesOn = false;
    this.#isOver = false;
  }

  /**
   * The inner stream has ended: what is left is for whoever begins the next one. What it said is open may be closed since.
   * Rejects with what the run was ended for.
   */
  async ended(): Promise<void> {
    const work = this.#work;
    this.#work = undefined;
    this.#isOver = true;
    this.#run.wake();
    // Nobody need think about what has ended with it.
    this.#run.calls.dropClosed(await this.#run.session.inner.pending());
    await work;
  }

  /** Nothing is told any more. */
  over(): void {
    this.#deaf();
  }

  #stirred(needs: Stirred): void {
    if (this.#run.signal.aborted) return;
    if (needs === 'stream') this.goesOn = true;
    this.#run.wake();
    if (needs === 'stream' || this.#work) return;
    this.#sent(this.#given);
    this.#work = this.#toEnd();
    // Whoever waits for an answer that cannot be given would wait for ever.
    this.#work.catch((error: unknown) => this.#run.abort(asAbort(error)));
  }

  async #toEnd(): Promise<void> {
    const { calls, questions, session } = this.#run;
    for (;;) {
      await this.#run.woken();
      if (this.#isDone) return;
      const open = await session.inner.pending();
      calls.begin(open, this.#given);
      const batch: SessionInput[] = [];
      const asked: ReportedRequest[] = [];
      await judgeOpen(this.#run, open, batch, asked, (...start) => recordStart(this.#run, ...start));
      questions.watchTime(asked);
      for (const input of [...batch, ...calls.takeAnswers()]) await this.#tell(input);
    }
  }

  get #isDone(): boolean {
    return this.#isOver || this.#run.signal.aborted;
  }

  async #tell(input: SessionInput): Promise<void> {
    if (input.kind !== 'tool_result' && input.kind !== 'tool_approval') return;
    const { session, calls } = this.#run;
    try {
      await session.inner.respond(input.requestId, decidedAnswer(input));
    } catch (error) {
      if (!isCoxswainError(error) || !closedByOthers.has(error.code)) throw error;
    }
    if (input.kind === 'tool_result') calls.stored(input.requestId);
  }
}

/** What the gate has decided, as an answer of whoever runs the call. */
function decidedAnswer(input: ToolResultInput | ToolApprovalInput): HostAnswer {
  const decision = input.decision ? { decision: input.decision } : {};
  if (input.kind === 'tool_result') return { kind: 'result', result: input.result, ...decision };
  return { kind: 'approve', starts: true, ...(input.args ? { args: input.args } : {}), ...decision };
}
