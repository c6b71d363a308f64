import type { StatusCode } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { AgentContext, TurnState } from '../../runtime/index.ts';
import { exceeded } from '../../runtime/index.ts';

/** By turn: all executors of a tree share its limits. */
const runs = new WeakMap<TurnState, number>();

/**
 * A run of an executor is a step, as a model call is.
 * @throws CoxswainError `RESOURCE_EXHAUSTED / E_MAX_LLM_CALLS | E_MAX_BUDGET | E_MAX_TIME`
 */
export function countRun({ invocation, activation }: AgentContext): void {
  const { turn } = invocation.fold;
  if (!turn) return;
  const before = runs.get(turn) ?? 0;
  const noOther = Number.POSITIVE_INFINITY;
  const failure = exceeded(
    invocation.engine.limits,
    invocation.fold,
    activation,
    noOther,
    before,
    'send a new message',
  );
  if (failure) throw new CoxswainError(failure.status as StatusCode, failure.code as `E_${string}`, failure.message);
  runs.set(turn, before + 1);
}
