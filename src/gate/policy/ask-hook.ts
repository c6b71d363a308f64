import { isObject, untilAborted } from '../../base/index.ts';
import { copyJson, messageOf } from '../../contracts/index.ts';
import { faultOfHookResult, isHookResult } from './hook-result.ts';

/** A before_tool hook's word, in its two dialects: a HookResult, or any other object: the result itself. */
type HookAnswer =
  | { kind: 'proceed'; args?: Record<string, unknown> }
  /** `ifAllowed`: in place of a run that nobody is asked about, and of no question. */
  | { kind: 'result'; value: unknown; ifAllowed: boolean }
  /** Its arguments are no JSON. */
  | { kind: 'unfit'; reason: string }
  | { kind: 'block'; reason: string };

/** What a before_tool hook says of these arguments: whatever is wrong with its word blocks the call. */
export async function askHook(
  hook: (args: Record<string, unknown>) => Promise<unknown>,
  args: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<HookAnswer> {
  let value: unknown;
  try {
    value = await untilAborted(hook(args), signal);
  } catch (error) {
    if (signal?.aborted) return { kind: 'block', reason: `aborted: ${messageOf(signal.reason)}` };
    const help = isFrozenFault(error) ? '; other arguments are returned as modifications.args' : '';
    return { kind: 'block', reason: `a before_tool hook failed: ${messageOf(error)}${help}` };
  }
  if (value === undefined || value === null) return { kind: 'proceed' };
  // Each member is read once.
  const said = isObject(value) ? { ...value } : undefined;
  if (!isHookResult(said)) return { kind: 'result', value, ifAllowed: false };
  const fault = faultOfHookResult('before_tool', said);
  if (fault !== undefined) return { kind: 'block', reason: fault };
  const changes = said.modifications ?? {};
  if (said.action === 'block') {
    if ('result' in changes) {
      const { result, ifAllowed = false } = changes;
      return { kind: 'result', value: result, ifAllowed: ifAllowed !== false };
    }
    return { kind: 'block', reason: said.reason ?? 'a before_tool hook blocked the call' };
  }
  const changed = changes.args;
  if (changed === undefined) return { kind: 'proceed' };
  if (typeof changed !== 'object' || changed === null || Array.isArray(changed)) {
    return { kind: 'block', reason: 'a before_tool hook gave arguments that are not an object' };
  }
  try {
    // What is checked, judged and run from here on is nobody else's.
    return { kind: 'proceed', args: copyJson(changed as Record<string, unknown>, 'modifications.args') };
  } catch (error) {
    return { kind: 'unfit', reason: messageOf(error) };
  }
}

/** It tried to change the arguments where they are. */
function isFrozenFault(error: unknown): boolean {
  return error instanceof TypeError && /read only|not extensible|Cannot delete/.test(error.message);
}
