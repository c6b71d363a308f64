import type { z } from 'zod';
import type * as schema from '../schemas/policy.ts';
import type { Closed } from '../values/index.ts';

export type PolicyContext = Closed<z.infer<typeof schema.policyContext>>;
export type PolicyRequest = Closed<z.infer<typeof schema.policyRequest>>;
export type PolicyDecision = Closed<z.infer<typeof schema.policyDecision>>;

/** Decides on tool calls. A throw, a timeout or an unknown outcome counts as a deny. */
export interface PolicyEvaluator {
  evaluate(request: PolicyRequest, signal?: AbortSignal): PolicyDecision | Promise<PolicyDecision>;
  /** Names of tools that are not even offered. */
  getExcluded?(scope?: { agent?: string; permissionMode?: string }): readonly string[] | Promise<readonly string[]>;
}
