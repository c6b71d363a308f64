import type { PermissionMode } from '../../contracts/index.ts';
import { MODE_TRAITS, traitsOfMode } from '../../contracts/index.ts';

/** How strict a mode is; one that is not known is as strict as `default`, as for policy. */
export function strictnessOf(mode: string): number {
  return (traitsOfMode(mode) ?? MODE_TRAITS.default).strictness;
}

/** The stricter of two modes. */
export function stricterMode(a: PermissionMode | undefined, b: PermissionMode | undefined): PermissionMode | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return strictnessOf(b) > strictnessOf(a) ? b : a;
}

/** Whether a mode takes something from a host whose own mode is `hosts`, or from most hosts. */
export function isTighter(mode: PermissionMode | undefined, hosts: PermissionMode | undefined): boolean {
  if (mode === undefined) return false;
  return strictnessOf(mode) > Math.min(MODE_TRAITS.default.strictness, strictnessOf(hosts ?? 'default'));
}
