import { badInput, checkIs, guarded, having, nearest } from '../../base/index.ts';
import type { HookPoint, LifecycleInterceptor } from '../../contracts/index.ts';
import { checkNames } from './principal.ts';

const points: Record<HookPoint, true> = {
  before_agent: true,
  after_agent: true,
  before_model: true,
  after_model: true,
  before_tool: true,
  after_tool: true,
  on_event: true,
  on_user_message: true,
  before_run: true,
  after_run: true,
  on_model_error: true,
  on_tool_error: true,
};
const known = Object.keys(points);

/**
 * The points that hooks want to hear of. One that is nearly a known one would never be fired: what it was to
 * hold up would run.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 */
export function checkHooks(interceptor: LifecycleInterceptor, where: string): readonly string[] {
  checkIs(interceptor, where, having('fire', 'supportedHookPoints'));
  const supported = guarded(`${where}.supportedHookPoints()`, () => interceptor.supportedHookPoints());
  checkNames(supported, `${where}.supportedHookPoints()`);
  for (const point of supported) {
    const meant = known.includes(point) ? undefined : nearest(point, known);
    if (meant !== undefined) throw badInput(`${where}: the hook point ${point} is not known; write ${meant}`);
  }
  return supported;
}
