import type { HookResult } from '../contracts/index.ts';
import { CoxswainError } from '../contracts/index.ts';
import { isObject } from './parts.ts';

export function isHookResult(value: unknown): value is HookResult {
  const action = typeof value === 'object' && value !== null ? (value as { action?: unknown }).action : undefined;
  return action === 'proceed' || action === 'block';
}

/**
 * What an interceptor said at a point. Whoever says it may be another program: a word that is not known is no yes.
 * @throws CoxswainError `INTERNAL / E_HOOK_FAILED` for anything but nothing and a well-formed HookResult
 */
export function checkHookResult(point: string, value: unknown): HookResult | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isHookResult(value)) {
    throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', `a ${point} hook said neither proceed nor block`);
  }
  if (value.modifications === undefined || isObject(value.modifications)) return value;
  throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', `the modifications of a ${point} hook are no object`);
}
