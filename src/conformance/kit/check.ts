import type { AgentEvent, CoxswainError, SessionRef } from '../../contracts/index.ts';
import { isCoxswainError, messageOf } from '../../contracts/index.ts';
import type { ModelServer } from '../model-server/index.ts';
import { Breach, Untestable } from './breach.ts';
import { Deadline } from './deadline.ts';
import { Probe } from './probe.ts';
import type { RunningExecutor } from './target.ts';
import { json, Transcript } from './transcript.ts';

/** What a requirement is given: one fresh executor and the means to judge it. */
export class RequirementCheck {
  readonly transcript = new Transcript();
  readonly deadline: Deadline;
  readonly probes: Probe[] = [];
  #executor: RunningExecutor;
  readonly #over: AbortSignal;
  /** Others over the same store, that were started for this check. */
  readonly #more: RunningExecutor[] = [];

  /** @param over fires when nothing of this check is needed any more */
  constructor(executor: RunningExecutor, deadlineMs: number, over: AbortSignal) {
    this.#executor = executor;
    this.#over = over;
    this.deadline = new Deadline(deadlineMs);
  }

  /** @throws Untestable where the executor's model is not the kit's */
  get models(): ModelServer {
    const { models } = this.#executor;
    if (!models) throw new Untestable('the executor is not pointed at the model server');
    return models;
  }

  get governed(): boolean {
    return this.#executor.governed ?? false;
  }

  /** What the executor has written where it belongs to no stream. A round trip first: it comes behind its stream. */
  async stray(): Promise<readonly AgentEvent[]> {
    if (!this.#executor.stray) return [];
    await this.open();
    return this.#executor.stray();
  }

  async open(ref?: SessionRef, executor: RunningExecutor = this.#executor): Promise<Probe> {
    this.transcript.sent('open', ref);
    const session = await this.deadline.within(executor.open(ref), 'an opened session');
    this.transcript.received(`session ${session.id}`);
    const probe = new Probe(session, this.transcript, this.deadline);
    this.probes.push(probe);
    return probe;
  }

  /** Another executor over the same store; this one where the target has none. */
  async another(): Promise<RunningExecutor> {
    const { again } = this.#executor;
    if (!again) return this.#executor;
    this.transcript.sent('another executor over the same store');
    const starting = again.call(this.#executor, { signal: this.#over });
    const other = await this.deadline.within(starting, 'another executor over the same store');
    this.#more.push(other);
    return other;
  }

  /**
   * Ends the executor as a crash would; from now on checks talk to another one over the same store.
   * @throws Untestable where the target cannot do that
   */
  async crash(): Promise<void> {
    const { kill, again } = this.#executor;
    if (!kill || !again) throw new Untestable('it cannot be killed and started again here');
    this.transcript.sent('the executor is killed');
    await this.deadline.within(kill.call(this.#executor), 'an executor that is killed to end');
    this.#executor = await this.another();
  }

  equal(found: unknown, expected: unknown, what: string): void {
    if (json(found) !== json(expected)) throw new Breach(`${what}: ${json(expected)}`, json(found));
  }

  that(isSo: boolean, expected: string, found: unknown): void {
    if (!isSo) throw new Breach(expected, typeof found === 'string' ? found : json(found));
  }

  /** The typed error that `work` is refused with. */
  async refused(work: () => Promise<unknown>, what: string): Promise<CoxswainError> {
    let value: unknown;
    try {
      value = await this.deadline.within(work(), `${what} to be refused`);
    } catch (error) {
      if (error instanceof Breach || error instanceof Untestable) throw error;
      this.transcript.received(`${what} is refused: ${messageOf(error)}`);
      if (isCoxswainError(error)) return error;
      throw new Breach(`${what} to be refused with a typed error (status and E_ code)`, String(error));
    }
    throw new Breach(`${what} to be refused`, `it was taken: ${json(value)}`);
  }

  needs(probe: Probe, capability: string): void {
    if (!probe.can(capability)) throw new Untestable(`the executor does not advertise ${capability}`);
  }

  /** Closes what was opened. What goes wrong here is the business of the requirements on closing. */
  async finish(): Promise<void> {
    for (const { session } of this.probes) await this.#quietly(async () => session[Symbol.asyncDispose]());
    for (const executor of new Set([this.#executor, ...this.#more]))
      await this.#quietly(async () => executor.close?.());
  }

  async #quietly(work: () => Promise<unknown>): Promise<void> {
    try {
      await this.deadline.within(work(), 'an executor that closes');
    } catch (error) {
      this.transcript.received(`closing fails: ${messageOf(error)}`);
    }
  }
}
