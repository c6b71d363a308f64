/**
 * Policies: rules, presets, policies in code, cases that try a policy before it is used. Node only.
 * Stability: stable.
 *
 * @packageDocumentation
 */

export { denyOverrides, shadow } from '../gate/index.ts';
export type { CaseResult, Explanation, PolicyCase, PolicyRule, RulePolicy } from '../host/index.ts';
export {
  allowAll,
  applyMode,
  denyAll,
  loadPolicy,
  loadPolicyCases,
  policyCall,
  policyFor,
  presetPolicy,
  rulePolicy,
  runPolicyCases,
} from '../host/index.ts';
