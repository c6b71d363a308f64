/** Policies of rules and of permission modes. */
export type { CallFacts, CaseResult, PolicyCase } from './cases.ts';
export { loadPolicyCases, policyCall, runPolicyCases } from './cases.ts';
export type { PolicyScope } from './compile.ts';
export type { ExplainedRule, Explanation } from './explain.ts';
export { describeExplanation, explanationOf, withoutValues } from './explain.ts';
export type { ReasonedVerdict, ToolVerdict, ToolVerdicts } from './policy-for.ts';
export { policyFor } from './policy-for.ts';
export type { PresetOptions } from './presets.ts';
export { allowAll, applyMode, denyAll, presetPolicy, underMode } from './presets.ts';
export type { ArgsCondition, PolicyRule, PolicyTier } from './rule.ts';
export { POLICY_TIERS } from './rule.ts';
export type { RulePolicy, RulePolicyOptions, TieredRules } from './rules.ts';
export { rulePolicy } from './rules.ts';
export type { LoadPolicyOptions } from './yaml.ts';
export { loadPolicy } from './yaml.ts';
