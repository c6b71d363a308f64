import { isObject, isTimed, nearest, untilAborted } from '../../base/index.ts';
import type { HookPoint, HookResult, LifecycleInterceptor } from '../../contracts/index.ts';
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

/** What a word at a point may change, with either action; of a point that is not known it is not known either. */
const changes: Readonly<Record<HookPoint, readonly string[]>> = {
  before_agent: ['result'],
  after_agent: ['replacement'],
  before_model: ['result'],
  after_model: ['replacement'],
  before_tool: ['args', 'result'],
  after_tool: ['replacement'],
  on_event: ['replacement'],
  on_user_message: ['replacement'],
  before_run: ['result'],
  after_run: [],
  on_model_error: ['replacement'],
  on_tool_error: ['replacement'],
};

const members: readonly string[] = Object.keys({
  action: true,
  reason: true,
  modifications: true,
  systemMessage: true,
} satisfies Record<keyof HookResult, true>);

/**
 * What is wrong with a word beside its action. A member that is not known was meant to change something that stays as it
 * is: whoever goes on all the same does what the hook did not say.
 */
export function faultOfHookResult(point: string, said: HookResult): string | undefined {
  const { modifications } = said;
  const unknown = Object.keys(said).find((name) => !members.includes(name) && name !== '_meta');
  if (unknown !== undefined) return `a ${point} hook gave ${wrongName(unknown, members)}`;
  if (modifications === undefined) return undefined;
  if (!isObject(modifications)) return `the modifications of a ${point} hook are no object`;
  if (!Object.hasOwn(changes, point)) return undefined;
  const known = changes[point as HookPoint];
  const other = Object.keys(modifications).find((name) => !known.includes(name));
  if (other === undefined) return undefined;
  return `a ${point} hook gave modifications with ${wrongName(other, known)}`;
}

function wrongName(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const shown = headOf(name, WORD_BYTES);
  if (meant !== undefined) return `${shown}, which is not known; write ${meant}`;
  const none = 'nothing can be changed so';
  return `${shown}, which is not known; ${known.length === 0 ? none : `give nothing but ${known.join(', ')}`}`;
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
  const fault = faultOfHookResult(point, value);
  if (fault !== undefined) throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', fault);
  return value;
}

function wordOf(value: unknown): string {
  try {
    return headOf(JSON.stringify(value) ?? typeof value, WORD_BYTES);
  } catch {
    return `something that is no JSON (${typeof value})`;
  }
}
