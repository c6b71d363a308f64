import { strictestLimits } from '../../base/index.ts';
import type { Limits } from '../../contracts/index.ts';
import { ERROR_TABLE, totalTokens } from '../../contracts/index.ts';
import type { Activation, Failure, Fold } from '../log/index.ts';

export const DEFAULT_MAX_ITERATIONS = 25;
export const DEFAULT_MAX_LLM_CALLS = 500;

/** Caps of a turn; the smallest explicit one wins. */
export interface TurnLimits extends Limits {
  /** Model calls of the turn, all agents; 0 or less: no cap. Default 500. */
  maxLlmCalls?: number;
}

type LimitCode = 'E_MAX_LLM_CALLS' | 'E_MAX_ITERATIONS' | 'E_MAX_BUDGET' | 'E_MAX_TIME';

/** The stricter of several sets of limits, key by key. */
export function strictest(...sets: readonly (TurnLimits | undefined)[]): TurnLimits {
  const limits = strictestLimits(...sets);
  let calls: number | undefined;
  for (const set of sets) {
    const cap = set?.maxLlmCalls;
    if (cap !== undefined)
      calls = Math.min(calls ?? Number.POSITIVE_INFINITY, cap <= 0 ? Number.POSITIVE_INFINITY : cap);
  }
  return calls === undefined ? limits : { ...limits, maxLlmCalls: calls };
}

/**
 * The limit, if any, that forbids the next model call. Counted from the log, so that host-run tools and restarts do
 * not reset it. `underWay`: calls of parallel branches, and runs of executors, that are not in the log.
 */
export function exceeded(
  limits: TurnLimits,
  fold: Fold,
  activation: Activation,
  maxIterations: number | undefined,
  underWay: number,
  goOn = 'continue the session',
): Failure | undefined {
  const { turn } = fold;
  if (!turn) return undefined;
  const reached = (code: LimitCode, what: string) => limit(code, what, goOn);
  const calls = turn.llmCalls + underWay;
  const given = limits.maxLlmCalls;
  const maxLlmCalls = given !== undefined && given <= 0 ? Number.POSITIVE_INFINITY : given;
  const maxCalls = maxLlmCalls ?? DEFAULT_MAX_LLM_CALLS;
  // An explicit larger cap lifts a smaller default that nobody set.
  const iterations = maxIterations ?? Math.max(DEFAULT_MAX_ITERATIONS, maxLlmCalls ?? 0, limits.steps ?? 0);
  if (calls >= maxCalls) {
    return reached('E_MAX_LLM_CALLS', `the turn has made ${maxCalls} model calls`);
  }
  if (limits.steps !== undefined && calls >= limits.steps) {
    return reached('E_MAX_LLM_CALLS', `the turn has made ${limits.steps} steps`);
  }
  if (activation.steps - activation.base >= iterations) {
    return reached('E_MAX_ITERATIONS', `the agent has made ${iterations} model calls in this run`);
  }
  if (limits.tokens !== undefined && totalTokens(turn.usage) >= limits.tokens) {
    return reached('E_MAX_BUDGET', `the turn has used its ${limits.tokens} tokens`);
  }
  if (limits.usd !== undefined && (turn.usage.cost?.usd ?? 0) >= limits.usd) {
    return reached('E_MAX_BUDGET', `the turn has used its ${limits.usd} USD`);
  }
  if (limits.minutes !== undefined && turn.activeMs >= limits.minutes * 60_000) {
    return reached('E_MAX_TIME', `the turn has used its ${limits.minutes} minutes`);
  }
  return undefined;
}

/** The share of a turn's limits that is used, from 0: the largest of them. `given`: limits that its host counts. */
export function budgetUsed({ turn, terms }: Fold, limits: TurnLimits): number {
  if (!turn) return 0;
  const { tokens, minutes, steps, usd = terms.get(turn.id)?.limits?.usd } = limits;
  const share = (used: number, limit: number | undefined) => (limit === undefined || limit <= 0 ? 0 : used / limit);
  return Math.max(
    share(totalTokens(turn.usage), tokens),
    share(turn.usage.cost?.usd ?? 0, usd),
    share(turn.activeMs, minutes === undefined ? undefined : minutes * 60_000),
    share(turn.llmCalls, steps),
  );
}

/** Limits are no fatal errors: `continue` goes on with fresh counters. */
export function limit(code: LimitCode, what: string, goOn = 'continue the session'): Failure {
  const message = `${what}; ${goOn} to proceed`;
  const reason = ERROR_TABLE[code].ends;
  return { reason, status: 'RESOURCE_EXHAUSTED', code, message, fatal: false, retryable: false };
}
