import type { PermissionMode } from '../../contracts/index.ts';
import { MODE_STRICTNESS } from '../../contracts/index.ts';

const strictness: Readonly<Record<string, number>> = MODE_STRICTNESS;

/** How strict a mode is; undefined for one that is not known. */
export function strictnessOf(mode: string): number | undefined {
  return Object.hasOwn(strictness, mode) ? strictness[mode] : undefined;
}

/** The stricter of two modes; one that is not known is as strict as `default`, as for policy. */
export function stricterMode(a: PermissionMode | undefined, b: PermissionMode | undefined): PermissionMode | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (strictnessOf(b) ?? 2) > (strictnessOf(a) ?? 2) ? b : a;
}

/** Whether a mode takes something from a host whose own mode is `hosts`, or from most hosts. */
export function isTighter(mode: PermissionMode | undefined, hosts: PermissionMode | undefined): boolean {
  if (mode === undefined) return false;
  return (strictnessOf(mode) ?? 2) > Math.min(2, strictnessOf(hosts ?? 'default') ?? 2);
}
