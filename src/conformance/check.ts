import type { CoxswainError, SessionRef } from '../contracts/index.ts';
import { isCoxswainError, messageOf } from '../contracts/index.ts';
import { Deadline } from './deadline.ts';
import type { ModelServer } from './model-server/server.ts';
import { Probe } from './probe.ts';
import { Breach, Untestable } from './requirement.ts';
import type { RunningExecutor } from './target.ts';
import { json, Transcript } from './transcript.ts';

/** What a requirement is given: one fresh executor and the means to judge it. */
export class Check {
  readonly transcript = new Transcript();
  readonly deadline: Deadline;
  readonly probes: Probe[] = [];
  readonly #executor: RunningExecutor;

  constructor(executor: RunningExecutor, deadlineMs: number) {
    this.#executor = executor;
    this.deadline = new Deadline(deadlineMs);
  }

  /** @throws Untestable where the executor's model is not the kit's */
  get models(): ModelServer {
    const { models } = this.#executor;
    if (!models) throw new Untestable('the executor is not pointed at the model server');
    return models;
  }

  async open(ref?: SessionRef): Promise<Probe> {
    this.transcript.sent('open', ref);
    const session = await this.deadline.within(this.#executor.open(ref), 'an opened session');
    this.transcript.received(`session ${session.id}`);
    const probe = new Probe(session, this.transcript, this.deadline);
    this.probes.push(probe);
    return probe;
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
    await this.#quietly(async () => this.#executor.close?.());
  }

  async #quietly(work: () => Promise<unknown>): Promise<void> {
    try {
      await this.deadline.within(work(), 'an executor that closes');
    } catch (error) {
      this.transcript.received(`closing fails: ${messageOf(error)}`);
    }
  }
}
