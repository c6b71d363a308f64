import type { AgentContext, LimitedAgent } from '../agent/index.ts';
import { orAbort } from '../agent/index.ts';
import type { Failure } from '../log/index.ts';

/** Model calls of one run that are not in its log yet: branches beside one another share the turn's limits. */
export class ModelCalls {
  #underWay = 0;
  #ended: PromiseWithResolvers<void> | undefined;

  /**
   * Begins one, or says which limit forbids it. Where only calls under way would reach a limit it waits for one to
   * end: one that fails does not count, and the others come to their answers.
   */
  begin(context: AgentContext, agent: LimitedAgent): Failure | undefined | Promise<Failure | undefined> {
    if (agent.limitReached(context, this.#underWay)) return this.#wait(context, agent);
    this.#underWay++;
    return undefined;
  }

  async #wait(context: AgentContext, agent: LimitedAgent): Promise<Failure | undefined> {
    for (;;) {
      const failure = agent.limitReached(context, this.#underWay);
      if (!failure) break;
      const stored = this.#underWay === 0 ? failure : agent.limitReached(context);
      if (stored) return stored;
      this.#ended ??= Promise.withResolvers<void>();
      await orAbort(context.signal, this.#ended.promise);
    }
    this.#underWay++;
    return undefined;
  }

  /** One has failed, or its answer is in the log. */
  end(): void {
    this.#underWay--;
    this.#ended?.resolve();
    this.#ended = undefined;
  }
}
