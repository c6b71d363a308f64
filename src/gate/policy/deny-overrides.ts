import { checkIs, having } from '../../base/index.ts';
import type { PolicyDecision, PolicyEvaluator } from '../../contracts/index.ts';
import { bothObligations } from '../questions/index.ts';
import type { CheckedDecision } from './policy.ts';
import { evaluatePolicy, withRedact } from './policy.ts';
import { isShadow, tellShadows } from './shadow.ts';

const strictness = { allow: 0, ask: 1, deny: 2 };

/** Negative if `a` is laxer than `b`, 0 if they are alike, positive if stricter: deny > ask > allow. */
export function compareStrictness(a: CheckedDecision, b: CheckedDecision): number {
  return strictness[a.outcome] - strictness[b.outcome];
}

/**
 * Asks every policy and takes the strictest answer: deny > ask > allow. Each is guarded by itself: one that
 * fails denies. Two asks become one that satisfies both, see {@link mergeDecisions}. Excluded is what any of them
 * excludes. None at all denies. Shadow policies among them get each call and its decision, and decide nothing.
 * @example
 * ```ts
 * import { denyOverrides, rulePolicy } from 'coxswain';
 *
 * const company = rulePolicy([{ id: 'no-drops', tool: 'drop_*', outcome: 'deny' }]);
 * const team = rulePolicy([{ id: 'reads', tool: '*', annotations: { readOnly: true }, outcome: 'allow' }]);
 * const policy = denyOverrides(company, team);
 * console.log(policy);
 * ```
 */
export function denyOverrides(...given: readonly PolicyEvaluator[]): PolicyEvaluator {
  // What is no policy has no word: it would deny every call, and nobody would know why.
  for (const [index, one] of given.entries()) checkIs(one, `denyOverrides: policy ${index + 1}`, having('evaluate'));
  const shadows = given.filter(isShadow);
  const policies = given.filter((policy) => !isShadow(policy));
  if (shadows.length === 0) return strictestOf(policies);
  // Policies on trial alone are no policy: asked by themselves they deny.
  const live = strictestOf(policies.length > 0 ? policies : shadows);
  return {
    evaluate(request, signal) {
      const decision = evaluatePolicy(live, request, { signal, timeoutMs: 0 });
      tellShadows(shadows, request, decision);
      return decision;
    },
    getExcluded: (scope) => live.getExcluded?.(scope) ?? [],
  };
}

function strictestOf(policies: readonly PolicyEvaluator[]): PolicyEvaluator {
  return {
    evaluate(request, signal) {
      if (policies.length === 0) return { outcome: 'deny', reason: 'There is no policy to ask.' };
      const answers: (CheckedDecision | Promise<CheckedDecision>)[] = [];
      for (const policy of policies) {
        // Whoever asks this policy has the clock.
        const answer = evaluatePolicy(policy, request, { signal, timeoutMs: 0 });
        answers.push(answer);
      }
      const isSync = (list: typeof answers): list is CheckedDecision[] => !list.some((item) => item instanceof Promise);
      return isSync(answers) ? mergeAll(answers) : Promise.all(answers).then(mergeAll);
    },
    getExcluded(scope) {
      const lists = policies.map((policy) => policy.getExcluded?.(scope) ?? []);
      const isSync = (all: typeof lists): all is (readonly string[])[] => all.every((list) => Array.isArray(list));
      const union = (all: readonly (readonly string[])[]) => [...new Set(all.flat())];
      return isSync(lists) ? union(lists) : Promise.all(lists).then(union);
    },
  };
}

function mergeAll(decisions: readonly CheckedDecision[]): PolicyDecision {
  return decisions.reduce(mergeDecisions, { outcome: 'allow' });
}

/**
 * The stricter of two decisions. Two asks: whoever answers must satisfy both, so that roles are those that both
 * accept (none in common: deny, as no single approver would do), `notRequester` holds if either says so, `quorum` is
 * the larger, `expiresIn` the shorter; reasons and hints are joined, the first `ruleId` stays. `redact` is the union
 * whatever the outcome.
 */
export function mergeDecisions(a: CheckedDecision, b: CheckedDecision): CheckedDecision {
  const order = compareStrictness(a, b);
  let merged: CheckedDecision;
  if (order !== 0) merged = order > 0 ? a : b;
  else if (a.outcome === 'ask') merged = mergeAsks(a, b);
  else merged = a.ruleId === undefined && a.reason === undefined ? b : a;
  return withRedact(withRedact(merged, a.redact), b.redact);
}

function mergeAsks(a: CheckedDecision, b: CheckedDecision): CheckedDecision {
  const both = bothObligations(a, b);
  if (!both) {
    return { outcome: 'deny', reason: 'Two policies ask for approvers of different roles; no one approver would do.' };
  }
  const merged: CheckedDecision = { ...b, ...a, ...both };
  const reason = joined(a.reason, b.reason);
  if (reason !== undefined) merged.reason = reason;
  const hint = joined(a.hint, b.hint);
  if (hint !== undefined) merged.hint = hint;
  return merged;
}

function joined(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || b === undefined || a === b ? (a ?? b) : `${a}; ${b}`;
}
