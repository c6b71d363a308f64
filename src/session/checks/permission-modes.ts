import type { Check } from '../../base/index.ts';
import { nearest } from '../../base/index.ts';
import { PERMISSION_MODES } from '../../contracts/index.ts';

const known: readonly string[] = PERMISSION_MODES;

/**
 * A mode that is known, or one of a host's own, which its policy has words for. A slip of the pen is neither: `plann`
 * would let more happen than `plan`.
 */
export const permissionMode: Check = {
  needs: `one of ${PERMISSION_MODES.join(', ')}, or a mode of your own that is not nearly one of them`,
  fits: (value) =>
    typeof value === 'string' && value !== '' && (known.includes(value) || nearest(value, known) === undefined),
  shown: true,
};
