import type { Check } from '../../base/index.ts';
import { nearest } from '../../base/index.ts';
import type { PermissionMode } from '../../contracts/index.ts';

export const PERMISSION_MODES: readonly PermissionMode[] = ['default', 'auto_edit', 'autonomous', 'plan', 'dont_ask'];

/**
 * A mode that is known, or one of a host's own, which its policy has words for. A slip of the pen is neither: `plann`
 * would let more happen than `plan`.
 */
export const permissionMode: Check = {
  needs: `one of ${PERMISSION_MODES.join(', ')}, or a mode of your own that is not nearly one of them`,
  fits: (value) =>
    typeof value === 'string' &&
    value !== '' &&
    (PERMISSION_MODES.includes(value) || nearest(value, PERMISSION_MODES) === undefined),
  shown: true,
};
