import type { PermissionMode, PolicyEvaluator, RememberOption } from '../contracts/index.ts';
import type { PolicyRule, RulePolicy } from './policy/index.ts';
import { presetPolicy, rulePolicy, underMode } from './policy/index.ts';

/** "Always" answers of people: rules at the session or user tier, for as long as the host lives. */
export class RememberedRules {
  /** Grows with each rule. */
  version = 0;
  readonly #user = new Map<string, PolicyRule[]>();
  readonly #session = new Map<string, PolicyRule[]>();

  add(userId: string, sessionId: string, option: RememberOption): void {
    const [map, key] = option.scope === 'user' ? [this.#user, userId] : [this.#session, `${userId}/${sessionId}`];
    map.set(key, [...(map.get(key) ?? []), option.rule as unknown as PolicyRule]);
    this.version++;
  }

  of(userId: string, sessionId: string): { user: readonly PolicyRule[]; session: readonly PolicyRule[] } {
    return { user: this.#user.get(userId) ?? [], session: this.#session.get(`${userId}/${sessionId}`) ?? [] };
  }
}

/** Safe by default: readOnly tools run, the rest asks. */
export function defaultPolicy(): RulePolicy {
  return rulePolicy([], { fallback: presetPolicy('default') });
}

/**
 * The policy of one session: the host's, with remembered answers where it takes rules (a lower tier may only tighten
 * what a higher one says, unless that rule is overridable), under the session's mode.
 */
export function sessionPolicy(
  base: PolicyEvaluator,
  remembered: { user: readonly PolicyRule[]; session: readonly PolicyRule[] },
  mode: PermissionMode | undefined,
): PolicyEvaluator {
  let policy = base;
  if (isRulePolicy(base)) {
    let rules = base;
    for (const rule of remembered.user) rules = rules.with(rule, 'user');
    for (const rule of remembered.session) rules = rules.with(rule, 'session');
    policy = rules;
  }
  return underMode(policy, mode);
}

export function isRulePolicy(policy: PolicyEvaluator): policy is RulePolicy {
  return 'with' in policy && 'warnings' in policy;
}
