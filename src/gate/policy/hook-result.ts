import { isObject, isTimed, untilAborted } from '../../base/index.ts';
import type { HookResult, LifecycleInterceptor } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { headOf } from '../values/index.ts';

/** Milliseconds that an interceptor may think about one point. */
export const DEFAULT_HOOK_TIMEOUT_MS = 10_000;

/** Bytes of a word that is not known, as an error repeats it. */
const WORD_BYTES = 120;

export function isHookResult(value: unknown): value is HookResult {
  const action = typeof value === 'object' && value !== null ? (value as { action?: unknown }).action : undefined;
  return action === 'proceed' || action === 'block';
}

/**
 * Fires a point of an interceptor.
 * @param limits `timeoutMs`: default 10,000; 0: no limit. An abort of `signal` ends the wait.
 * @throws CoxswainError `DEADLINE_EXCEEDED | INTERNAL / E_HOOK_FAILED`; whatever the interceptor throws; the reason of
 *   the abort
 */
export async function fireHook(
  interceptor: LifecycleInterceptor,
  point: string,
  payload: object,
  { signal, timeoutMs = DEFAULT_HOOK_TIMEOUT_MS }: { signal?: AbortSignal | undefined; timeoutMs?: number | undefined },
): Promise<HookResult | undefined> {
  const said = interceptor.fire(point, payload);
  if (said === undefined || isHookResult(said) || !isTimed(timeoutMs)) {
    return checkHookResult(point, await untilAborted(said, signal));
  }
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const message = `a ${point} hook gave no answer within ${timeoutMs} ms (hookTimeoutMs)`;
    late.reject(new CoxswainError('DEADLINE_EXCEEDED', 'E_HOOK_FAILED', message));
  }, timeoutMs);
  try {
    return checkHookResult(point, await untilAborted(Promise.race([said, late.promise]), signal));
  } finally {
    clearTimeout(timer);
  }
}

/**
 * What an interceptor said at a point. Whoever says it may be another program: a word that is not known is no yes.
 * @throws CoxswainError `INTERNAL / E_HOOK_FAILED` for anything but nothing and a well-formed HookResult
 */
export function checkHookResult(point: string, value: unknown): HookResult | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isHookResult(value)) {
    const message = `a ${point} hook said neither proceed nor block, but ${wordOf(value)}`;
    throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', message);
  }
  if (value.modifications === undefined || isObject(value.modifications)) return value;
  throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', `the modifications of a ${point} hook are no object`);
}

function wordOf(value: unknown): string {
  try {
    return headOf(JSON.stringify(value) ?? typeof value, WORD_BYTES);
  } catch {
    return `something that is no JSON (${typeof value})`;
  }
}
