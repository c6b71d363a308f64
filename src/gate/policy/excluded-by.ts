import { isTimed, untilAborted } from '../../base/index.ts';
import type { PolicyEvaluator } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { POLICY_TIMEOUT_MS } from './policy.ts';

/**
 * The tools that a policy wants nobody to be offered.
 * @throws CoxswainError `UNAVAILABLE / E_POLICY` where it does not say: not to know is not to offer everything
 */
export async function excludedBy(
  policy: PolicyEvaluator,
  scope: Parameters<NonNullable<PolicyEvaluator['getExcluded']>>[0],
  timeoutMs: number = POLICY_TIMEOUT_MS,
): Promise<readonly string[]> {
  try {
    const said = policy.getExcluded?.(scope) ?? [];
    const list: unknown = Array.isArray(said) ? said : ((await inTime(said, timeoutMs)) ?? []);
    if (Array.isArray(list) && list.every((name) => typeof name === 'string')) return list;
    throw new TypeError('getExcluded gave no list of names');
  } catch (cause) {
    const message = `the policy does not say which tools are not offered, and nothing is run: ${messageOf(cause)}`;
    throw new CoxswainError('UNAVAILABLE', 'E_POLICY', message, { cause });
  }
}

function inTime<T>(answer: T | PromiseLike<T>, timeoutMs: number): Promise<T> {
  const signal = isTimed(timeoutMs) ? AbortSignal.timeout(timeoutMs) : undefined;
  return untilAborted(answer, signal);
}
