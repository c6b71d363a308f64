import { isObject, isThenable, isTimed, nearest, untilAborted } from '../../base/index.ts';
import type { HookPoint, HookResult, LifecycleInterceptor } from '../../contracts/index.ts';
import { CoxswainError, copyJson } from '../../contracts/index.ts';
import { headOf } from '../values/index.ts';

/** Milliseconds that hooks may think about one point. */
export const DEFAULT_HOOK_TIMEOUT_MS = 10_000;

/** Bytes of a word that is not known, as an error repeats it. */
const WORD_BYTES = 120;

/** What is no HookResult is, from a hook of the runtime, the result of the call itself. */
export function isHookResult(value: unknown): value is HookResult {
  const action = typeof value === 'object' && value !== null ? (value as { action?: unknown }).action : undefined;
  return isAction(action);
}

function isAction(value: unknown): value is HookResult['action'] {
  return value === 'proceed' || value === 'block';
}

/** What a word at a point may change, with either action; of a point that is not known it is not known either. */
const changes: Readonly<Record<HookPoint, readonly string[]>> = {
  before_agent: ['result'],
  after_agent: ['replacement'],
  before_model: ['result'],
  after_model: ['replacement'],
  before_tool: ['args', 'result', 'ifAllowed'],
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
 * Fires one point of hooks.
 * @param limits `timeoutMs`: default 10,000; 0: no limit. An abort of `signal` ends the wait.
 * @returns a copy, made at the moment of the answer: the interceptor may use its object for another call
 * @throws CoxswainError `DEADLINE_EXCEEDED | INTERNAL / E_HOOK_FAILED`; whatever the interceptor throws; the reason of
 *   the abort
 */
export async function fireHook(
  interceptor: LifecycleInterceptor,
  point: string,
  payload: object,
  { signal, timeoutMs = DEFAULT_HOOK_TIMEOUT_MS }: { signal?: AbortSignal | undefined; timeoutMs?: number | undefined },
): Promise<HookResult | undefined> {
  const given: unknown = interceptor.fire(point, payload);
  if (!isThenable(given)) {
    const answer = takeHookResult(point, given);
    signal?.throwIfAborted();
    return answer;
  }
  const taken = Promise.resolve(given).then((value) => takeHookResult(point, value));
  if (!isTimed(timeoutMs)) return untilAborted(taken, signal);
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const message = `a ${point} hook gave no answer within ${timeoutMs} ms (hookTimeoutMs)`;
    late.reject(new CoxswainError('DEADLINE_EXCEEDED', 'E_HOOK_FAILED', message));
  }, timeoutMs);
  try {
    return await untilAborted(Promise.race([taken, late.promise]), signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * What an interceptor answered at a point, as a copy: each member is read once, and the arguments are copied whole.
 * Whoever answers may be another program: a word that is not known is no approval.
 * @throws CoxswainError `INTERNAL / E_HOOK_FAILED` for anything but nothing and a well-formed HookResult
 */
export function takeHookResult(point: string, value: unknown): HookResult | undefined {
  if (value === undefined || value === null) return undefined;
  const { action, reason, modifications, ...others } = Object(value) as Partial<HookResult>;
  if (!isAction(action)) {
    const message = `a ${point} hook said neither proceed nor block, but ${wordOf(value)}`;
    throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', message);
  }
  const answer: HookResult = { ...others, action };
  if (typeof reason === 'string') answer.reason = reason;
  if (modifications !== undefined) {
    answer.modifications = isObject(modifications) ? { ...modifications } : modifications;
  }
  const fault = faultOfHookResult(point, answer);
  if (fault !== undefined) throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', fault);
  if (point === 'before_tool' && isObject(answer.modifications?.args)) {
    answer.modifications.args = copied(answer.modifications.args);
  }
  return answer;
}

/** What is no JSON stays as it is: it is refused where it is checked. */
function copied(args: unknown): unknown {
  try {
    return copyJson(args);
  } catch {
    return args;
  }
}

function wordOf(value: unknown): string {
  try {
    return headOf(JSON.stringify(value) ?? typeof value, WORD_BYTES);
  } catch {
    return `something that is no JSON (${typeof value})`;
  }
}
