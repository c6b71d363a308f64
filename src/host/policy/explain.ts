import type { PolicyDecision, PolicyEvaluator, PolicyOutcome, PolicyRequest } from '../../contracts/index.ts';
import { canonicalJson } from '../../contracts/index.ts';
import { evaluatePolicy, obligationsIn } from '../../gate/index.ts';
import { underMode } from './presets.ts';
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

/** Why a policy says what it says of a call, under the mode of the request; of one that shows no rules, its word alone. */
export async function explanationOf(policy: PolicyEvaluator, request: PolicyRequest): Promise<Explanation> {
  const said: Explanation = showsRules(policy)
    ? await policy.explain(request)
    : { decision: await evaluatePolicy(policy, request), rules: [], byDefault: false, request };
  const mode = request.context?.permissionMode;
  const decision = await evaluatePolicy(underMode(policy, mode), request);
  const isChanged = mode !== undefined && canonicalJson(decision) !== canonicalJson(said.decision);
  return isChanged ? { ...said, decision, mode: { name: mode, without: said.decision } } : said;
}

function showsRules(
  policy: PolicyEvaluator,
): policy is PolicyEvaluator & { explain(request: PolicyRequest): Promise<Explanation> } {
  return 'explain' in policy && typeof policy.explain === 'function';
}

/**
 * Why arguments did not fit would show what is hidden in them: it is said of what is shown instead, which `shown` explains.
 */
export function withoutValues(asked: Explanation, shown: Explanation): Explanation {
  const rules = asked.rules.map((rule, place) => {
    if (!rule.because || !('field' in rule.because) || rule.because.field !== 'args') return rule;
    const other = shown.rules[place]?.because;
    const isSame = other !== undefined && 'field' in other && other.field === 'args';
    return { ...rule, because: { field: rule.because.field, why: isSame ? other.why : 'args: do not fit (hidden)' } };
  });
  return { ...asked, rules };
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
