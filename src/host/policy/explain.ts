import type { PolicyDecision, PolicyOutcome, PolicyRequest } from '../../contracts/index.ts';
import { obligationsIn } from '../../gate/index.ts';
import type { PolicyRule, PolicyTier } from './rule.ts';

/** How one rule took a call. */
export interface ExplainedRule {
  tier: PolicyTier;
  /** How messages call it, with its place in its file where it has one. */
  rule: string;
  id?: string;
  outcome: PolicyOutcome;
  /**
   * It decided for its tier; otherwise `because` says which condition did not hold and why (`args /eur: 50 is below
   * minimum 100`), or that an earlier rule decided.
   */
  spoke: boolean;
  because?: { field: keyof PolicyRule; why: string } | { after: string };
}

/** Why a policy of rules says what it says. */
export interface Explanation {
  decision: PolicyDecision;
  /** Rules on the tool's name, in the order in which they are tried. */
  rules: ExplainedRule[];
  /** No rule matched: the policy's default, or its fallback. */
  byDefault: boolean;
  /** The session's mode had another word than the policy alone. */
  mode?: { name: string; without: PolicyDecision };
  /** What the rules were given. */
  request: PolicyRequest;
}

/** In lines, for people. */
export function describeExplanation({ decision, rules, byDefault, mode }: Explanation): string[] {
  const { outcome, ruleId, reason, hint } = decision;
  const unnamed = rules.find(({ tier, id, spoke }) => spoke && id === undefined && ruleId?.startsWith(`${tier}[`));
  const words = [
    outcome,
    ...(ruleId === undefined ? [] : [`by ${unnamed?.rule ?? ruleId}`]),
    ...(byDefault ? ['(no rule matches this call)'] : []),
    ...(mode ? [`(mode ${mode.name}; otherwise ${mode.without.outcome})`] : []),
    ...(reason === undefined || (byDefault && !mode) ? [] : [`: ${reason}`]),
  ];
  const obligations = Object.entries({ hint, ...obligationsIn(decision) }).flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`],
  );
  return [words.join(' ').replace(' :', ':'), ...obligations, ...rules.map(describeRule)];
}

function describeRule({ rule, outcome, spoke, because }: ExplainedRule): string {
  const what = `${rule} (${outcome})`;
  if (spoke) return `  + ${what} applies`;
  if (because && 'after' in because) return `  - ${what} is not reached: ${because.after} comes first`;
  return `  - ${what} does not apply: ${because?.why ?? 'an earlier rule may apply'}`;
}
