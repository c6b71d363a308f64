import type { PolicyEvaluator } from '../../contracts/index.ts';
import type { RequirementCheck } from './check.ts';

/**
 * `MANDATORY`: every executor; one that could not be tested has failed. `CAPABILITY`: whoever advertises it.
 * `ADVISORY`: a breach is told and fails nothing. `INFORMATIONAL`: only tells a fact.
 */
export type Tier = 'MANDATORY' | 'CAPABILITY' | 'ADVISORY' | 'INFORMATIONAL';

export interface Requirement {
  /** `CX-GROUP-NN`; never used for anything else once it is published. */
  readonly id: string;
  readonly title: string;
  readonly tier: Tier;
  /** Judged only where the descriptor lists it (`model_server`: where its model is the kit's; `policy`: where it is
   * opened under the kit's policy); always set for `CAPABILITY`. */
  readonly capability?: string;
  /** The executor is opened under it; judged only where the target can do that. */
  readonly policy?: PolicyEvaluator;
  /** Where it is written: a section of the contract. */
  readonly cites: string;
  /** Ids of requirements without which this one cannot be tested: it uses what they ask for. */
  readonly needs?: readonly string[];
  /** Judges one fresh executor. May return a fact to show. Throws {@link Breach} or {@link Untestable}. */
  check(check: RequirementCheck): Promise<string | undefined> | Promise<void>;
}
