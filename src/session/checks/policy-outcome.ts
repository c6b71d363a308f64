import type { Check } from '../../base/index.ts';
import { POLICY_OUTCOMES, policyOutcome } from '../../contracts/index.ts';

/** An outcome of policy, in any word that is read. */
export const anOutcome: Check = {
  needs: `one of ${POLICY_OUTCOMES.join(', ')}`,
  fits: (value) => policyOutcome(value) !== undefined,
  shown: true,
};
