import { untilLate } from '../../base/index.ts';
import type { PolicyEvaluator } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { POLICY_TIMEOUT_MS } from './policy.ts';

/**
 * The tools that a policy wants nobody to be offered; at once where it says so at once.
 * @throws CoxswainError `UNAVAILABLE / E_POLICY` where it does not say: not to know is not to offer everything
 */
export function excludedBy(
  policy: PolicyEvaluator,
  scope: Parameters<NonNullable<PolicyEvaluator['getExcluded']>>[0],
  timeoutMs: number = POLICY_TIMEOUT_MS,
): readonly string[] | Promise<readonly string[]> {
  try {
    const said: unknown = policy.getExcluded?.(scope) ?? [];
    return Array.isArray(said) ? namesIn(said) : waited(said, timeoutMs);
  } catch (cause) {
    return Promise.reject(unsaid(cause));
  }
}

async function waited(said: unknown, timeoutMs: number): Promise<readonly string[]> {
  try {
    return namesIn((await untilLate(said, timeoutMs, undefined)) ?? []);
  } catch (cause) {
    throw unsaid(cause);
  }
}

function namesIn(list: unknown): readonly string[] {
  if (Array.isArray(list) && list.every((name) => typeof name === 'string')) return list;
  throw new TypeError('getExcluded gave no list of names');
}

function unsaid(cause: unknown): CoxswainError {
  const message = `the policy does not say which tools are not offered, and nothing is run: ${messageOf(cause)}`;
  return new CoxswainError('UNAVAILABLE', 'E_POLICY', message, { cause });
}
