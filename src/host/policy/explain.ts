import type { PolicyDecision, PolicyRequest } from '../../contracts/index.ts';
import type { PolicyRule, PolicyTier } from './rule.ts';

/** How one rule took a call. */
export interface ExplainedRule {
  tier: PolicyTier;
  /** How messages call it, with its place in its file where it has one. */
  rule: string;
  id?: string;
  outcome: 'allow' | 'deny' | 'ask_user';
  /** It spoke for its tier; otherwise `because` says which member did not fit, or that an earlier rule spoke. */
  spoke: boolean;
  because?: { field: keyof PolicyRule } | { after: string };
}

/** Why a policy of rules says what it says. */
export interface Explanation {
  decision: PolicyDecision;
  /** Rules on the tool's name, in the order in which they are tried. */
  rules: ExplainedRule[];
  /** No rule spoke: the policy's default, or its fallback. */
  byDefault: boolean;
  /** What the rules were given. */
  request: PolicyRequest;
}

/** In lines, for people. */
export function describeExplanation({ decision, rules, byDefault }: Explanation): string[] {
  const { outcome, ruleId, reason, hint, approvers, expiresIn, redact } = decision;
  const words = [
    outcome === 'ask_user' ? 'ask' : outcome,
    ...(ruleId === undefined ? [] : [`by ${ruleId}`]),
    ...(byDefault ? ['(no rule speaks about this call)'] : []),
    ...(reason === undefined || byDefault ? [] : [`: ${reason}`]),
  ];
  const obligations = Object.entries({ hint, approvers, expiresIn, redact }).flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`],
  );
  return [words.join(' ').replace(' :', ':'), ...obligations, ...rules.map(describeRule)];
}

function describeRule({ rule, outcome, spoke, because }: ExplainedRule): string {
  const what = `${rule} (${outcome === 'ask_user' ? 'ask' : outcome})`;
  if (spoke) return `  + ${what} applies`;
  if (because && 'after' in because) return `  - ${what} is not reached: ${because.after} comes first`;
  return `  - ${what} does not apply: ${because?.field ?? 'it'} does not fit`;
}
