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

/** One for all sessions that have none. */
const none: TurnLimits = Object.freeze({});

/** Nothing is bounded. */
export function isUnlimited(limits: TurnLimits | undefined): boolean {
  for (const _ in limits) return false;
  return true;
}

/** The stricter of several sets of limits, key by key. */
export function strictest(...sets: readonly (TurnLimits | undefined)[]): TurnLimits {
  if (sets.every(isUnlimited)) return none;
  const result: TurnLimits = {};
  for (const set of sets) {
    for (const key of ['steps', 'usd', 'tokens', 'minutes', 'maxLlmCalls'] as const) {
      let value = set?.[key];
      if (value === undefined) continue;
      if (key === 'maxLlmCalls' && value <= 0) value = Number.POSITIVE_INFINITY;
      result[key] = Math.min(result[key] ?? Number.POSITIVE_INFINITY, value);
    }
  }
  return result;
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

/** Limits are no fatal errors: `continue` goes on with fresh counters. */
export function limit(code: LimitCode, what: string, goOn = 'continue the session'): Failure {
  const message = `${what}; ${goOn} to go on`;
  const reason = ERROR_TABLE[code].ends;
  return { reason, status: 'RESOURCE_EXHAUSTED', code, message, fatal: false, retryable: false };
}
