import { nearest } from '../../base/index.ts';
import type {
  PolicyDecision,
  PolicyEvaluator,
  PolicyOutcome,
  PolicyRequest,
  ToolDescriptor,
} from '../../contracts/index.ts';
import { policyOutcome } from '../../contracts/index.ts';
import type { CheckedDecision } from '../../gate/index.ts';
import {
  answeringAtOnce,
  answersAtOnce,
  evaluatePolicy,
  mergeDecisions,
  withEffort,
  withRedact,
} from '../../gate/index.ts';
import type { Shape } from '../../session/index.ts';
import { anOutcome, checkIs, checkOptions, flag, fn, guarded, having, list, text } from '../../session/index.ts';
import type { CompiledRule, PolicyScope } from './compile.ts';
import { compileRule, ruleError } from './compile.ts';
import { asList } from './conditions.ts';
import type { ExplainedRule, Explanation } from './explain.ts';
import { compileGlob } from './glob.ts';
import type { PolicyRule, PolicyTier } from './rule.ts';
import { POLICY_TIERS } from './rule.ts';
import { TierRules } from './tier.ts';

export interface RulePolicyOptions {
  /** What no rule speaks about. Default `ask`. */
  defaultOutcome?: PolicyOutcome | undefined;
  /** Asked instead of `defaultOutcome`, e.g. a preset. */
  fallback?: PolicyEvaluator | undefined;
  /** Believe the annotations of foreign tools. Default false. */
  trustAnnotations?: boolean | undefined;
  /** Where a rule was read from, `file:line`: named in warnings and explanations. */
  placeOf?: ((tier: PolicyTier, index: number) => string | undefined) | undefined;
}

export type TieredRules = { [Tier in PolicyTier]?: readonly PolicyRule[] | undefined };

/**
 * Rules in tiers. Within a tier the first rule that applies decides: higher priority first, then in order. Over the
 * tiers (org > user > session) the strictest word counts, deny > ask > allow, so that a lower tier can tighten
 * only; what an `overridable` rule says is replaced by whatever a lower tier says, but for `redact`, which no tier takes
 * back. Two asks are merged into one that satisfies both.
 */
export interface RulePolicy extends PolicyEvaluator {
  evaluate(request: PolicyRequest, signal?: AbortSignal): PolicyDecision | Promise<PolicyDecision>;
  /** Tools that rules deny by their full names whatever the arguments. */
  getExcluded(scope?: PolicyScope): readonly string[];
  /** The same for one tool, also where a glob denies it. */
  excludes(tool: string, scope?: PolicyScope): boolean;
  /**
   * A policy with one more rule, before all others of its tier and priority; it replaces one of the same id.
   * @throws CoxswainError `INVALID_ARGUMENT / E_POLICY_RULE`
   */
  with(rule: PolicyRule, tier: PolicyTier): RulePolicy;
  /** False: no rule of this tier can let the call run, since another tier keeps it from that. True is not sure. */
  mayLet?(request: PolicyRequest, tier: PolicyTier): boolean;
  /** Why it says what it says about a call: which rules were tried, which decided, what kept the others from it. */
  explain(request: PolicyRequest): Promise<Explanation>;
  /** Rules that can never apply or never change anything, a line each. */
  readonly warnings: readonly string[];
  /**
   * What rules name that is not there, where these are all tools: a line for each name, pattern and kind. A rule that
   * denies or asks may name tools that are not there; only what is nearly the name of a tool is a line then.
   */
  warningsFor(tools: readonly Pick<ToolDescriptor, 'name' | 'kind'>[]): string[];
}

/**
 * A policy of rules. A plain list is the `org` tier.
 * @throws CoxswainError `INVALID_ARGUMENT / E_POLICY_RULE` naming list or tier, place or id, and member
 * @example
 * ```ts
 * import { rulePolicy } from 'coxswain';
 *
 * const policy = rulePolicy([
 *   { id: 'small', tool: 'refund', args: { '/eur': { maximum: 100 } }, outcome: 'allow' },
 *   { id: 'never', tool: 'drop_*', outcome: 'deny', reason: 'tables stay' },
 * ]);
 * console.log(policy.warnings);
 * ```
 */
export function rulePolicy(rules: readonly PolicyRule[] | TieredRules, options: RulePolicyOptions = {}): RulePolicy {
  checkOptions<RulePolicyOptions>(options, 'rulePolicy: options', optionsShape);
  const list = isList(rules) ? 'rules' : undefined;
  const tiered = isList(rules) ? { org: rules } : checkTiers(rules);
  const tiers = POLICY_TIERS.map((tier) => {
    const ids = new Set<string>();
    const compiled = (tiered[tier] ?? []).map((rule, index) => {
      const place = { ...placeOf(tier, index, options), list };
      const result = compileRule(rule, place, options.trustAnnotations ?? false);
      if (result.id !== undefined && ids.has(result.id)) {
        throw ruleError(place, rule, 'id', 'is taken by an earlier rule');
      }
      if (result.id !== undefined) ids.add(result.id);
      return result;
    });
    return new TierRules(compiled);
  });
  return new Rules(tiers, options);
}

const placeOf = (tier: PolicyTier, index: number, options: RulePolicyOptions) => ({
  tier,
  index,
  source: options.placeOf?.(tier, index),
});

const isList = (rules: readonly PolicyRule[] | TieredRules): rules is readonly PolicyRule[] =>
  guarded('rulePolicy: rules', () => Array.isArray(rules));

const optionsShape: Shape<RulePolicyOptions> = {
  defaultOutcome: anOutcome,
  fallback: having('evaluate'),
  trustAnnotations: flag,
  placeOf: fn,
};

/** Rules of a tier that is not there would never speak. */
function checkTiers(rules: TieredRules): TieredRules {
  const shape: Shape<TieredRules> = { org: list, user: list, session: list };
  checkOptions<TieredRules>(rules, 'rulePolicy: rules', shape);
  return rules;
}

class Rules implements RulePolicy {
  readonly #tiers: readonly TierRules[];
  readonly #options: RulePolicyOptions;
  readonly #default: PolicyDecision;
  #warnings: readonly string[] | undefined;
  /** Tools that rules name. */
  #names: readonly string[] | undefined;

  constructor(tiers: readonly TierRules[], options: RulePolicyOptions) {
    this.#tiers = tiers;
    this.#options = options;
    this.#default = Object.freeze({
      outcome: policyOutcome(options.defaultOutcome) ?? 'ask',
      reason: 'No rule matches this call.',
    });
    if (!options.fallback || answersAtOnce(options.fallback)) answeringAtOnce(this);
  }

  evaluate(request: PolicyRequest, signal?: AbortSignal): PolicyDecision | Promise<PolicyDecision> {
    // One allowance for all patterns: a thousand rules must not take a thousand times as long as one.
    const said = withEffort(() => this.#said(request));
    if (said) return said;
    const { fallback } = this.#options;
    // Whoever asks this policy has the clock.
    return fallback ? evaluatePolicy(fallback, request, { signal, timeoutMs: 0 }) : this.#default;
  }

  #said(request: PolicyRequest): PolicyDecision | undefined {
    let firm: CheckedDecision | undefined;
    let soft: CheckedDecision | undefined;
    let redact: readonly string[] = [];
    for (const tier of this.#tiers) {
      const rule = tier.first(request);
      if (!rule) continue;
      // Whatever a lower tier says takes the place of what a higher one left open; what that hides stays hidden.
      soft = rule.overridable ? rule.decision : undefined;
      if (rule.decision.redact) redact = [...redact, ...rule.decision.redact];
      if (!rule.overridable) firm = firm ? mergeDecisions(firm, rule.decision) : rule.decision;
    }
    const said = firm && soft ? mergeDecisions(firm, soft) : (firm ?? soft);
    return said && withRedact(said, redact);
  }

  getExcluded(scope: PolicyScope = {}): readonly string[] {
    this.#names ??= [...new Set(this.#tiers.flatMap((tier) => [...tier.names()]))];
    return this.#names.filter((name) => this.excludes(name, scope));
  }

  excludes(tool: string, scope: PolicyScope = {}): boolean {
    return this.#tiers.some((tier) => deniesAlways(tier.of(tool), scope));
  }

  with(rule: PolicyRule, tier: PolicyTier): RulePolicy {
    checkIs(tier, 'with: tier', text);
    const place = POLICY_TIERS.indexOf(tier);
    const rules = this.#tiers[place]?.rules;
    if (!rules) throw ruleError({ tier, index: 0 }, rule, undefined, 'there is no such tier');
    const added = compileRule(rule, { tier, index: rules.length }, this.#options.trustAnnotations ?? false);
    const others = rules.filter(({ id }) => id === undefined || id !== added.id);
    return new Rules(this.#tiers.with(place, new TierRules([added, ...others])), this.#options);
  }

  mayLet(request: PolicyRequest, tier: PolicyTier): boolean {
    try {
      return withEffort(() =>
        POLICY_TIERS.every((name, place) => name === tier || !isFirm(this.#tiers[place], request)),
      );
    } catch {
      // What it says is found out by asking it.
      return true;
    }
  }

  async explain(request: PolicyRequest): Promise<Explanation> {
    const rules = this.#tiers.flatMap((tier) => explained(tier, request));
    const decision = await evaluatePolicy(this, request);
    return { decision, rules, byDefault: !rules.some(({ spoke }) => spoke), request };
  }

  warningsFor(tools: readonly Pick<ToolDescriptor, 'name' | 'kind'>[]): string[] {
    return this.#tiers.flatMap(({ rules }) => rules.flatMap((rule) => unknownIn(rule, tools)));
  }

  get warnings(): readonly string[] {
    this.#warnings ??= this.#tiers.flatMap((tier, place) => [
      ...tier.warnings(),
      ...tier.rules.flatMap((rule) => {
        const by = this.#tiers
          .slice(0, place)
          .map((higher) => higher.silencerOf(rule))
          .find((silencer) => silencer !== undefined);
        if (!by) return [];
        const why = by.decision.outcome === 'deny' ? 'denies it whatever it says' : 'is as strict on all of it';
        return [`${rule.label} can never change anything: ${by.label} ${why}`];
      }),
    ]);
    return this.#warnings;
  }
}

function isFirm(tier: TierRules | undefined, request: PolicyRequest): boolean {
  const rule = tier?.first(request);
  return rule !== undefined && !rule.overridable && rule.decision.outcome !== 'allow';
}

/** Given by the runtime itself, where an agent needs them. */
const standardTools: ReadonlySet<string> = new Set(['transfer_to_agent', 'set_model_response']);

function unknownIn({ rule, label }: CompiledRule, tools: readonly Pick<ToolDescriptor, 'name' | 'kind'>[]): string[] {
  const lines: string[] = [];
  const matched = new Set<Pick<ToolDescriptor, 'name' | 'kind'>>();
  for (const pattern of asList(rule.tool)) {
    const glob = compileGlob(pattern);
    const found = tools.filter(({ name }) => glob.test(name));
    for (const tool of found) matched.add(tool);
    if (found.length > 0 || standardTools.has(pattern)) continue;
    // A rule that restricts may well name what is not there yet, but hardly what is misspelt.
    const meant = glob.wild.length > 0 ? undefined : nearestName(pattern, tools);
    if (rule.outcome !== 'allow' && meant === undefined) continue;
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
    lines.push(`${label} names a tool that is not there: ${pattern}${hint}`);
  }
  for (const kind of asList(rule.kind ?? [])) {
    const isStillThere = [...matched].some((tool) => tool.kind === kind);
    if (matched.size > 0 && !isStillThere) lines.push(`${label} names a kind that none of its tools is of: ${kind}`);
  }
  return lines;
}

const nearestName = (name: string, tools: readonly Pick<ToolDescriptor, 'name'>[]): string | undefined =>
  nearest(
    name,
    tools.map((tool) => tool.name),
  );

function explained(tier: TierRules, request: PolicyRequest): ExplainedRule[] {
  const speaker = tier.first(request);
  let isAfter = false;
  return tier.of(request.action).map((rule) => {
    const { id, label, decision } = rule;
    const spoke = rule === speaker;
    const failed = isAfter || spoke ? undefined : rule.misfit(request);
    const because = failed ?? (isAfter && speaker ? { after: speaker.label } : undefined);
    isAfter ||= spoke;
    return {
      tier: rule.tier,
      rule: label,
      ...(id === undefined ? {} : { id }),
      outcome: decision.outcome,
      spoke,
      ...(because ? { because } : {}),
    };
  });
}

function deniesAlways(rules: readonly CompiledRule[], scope: PolicyScope): boolean {
  for (const rule of rules) {
    const isDeny = rule.decision.outcome === 'deny' && !rule.overridable;
    const applies = rule.inScope(scope);
    if (applies === 'always') return isDeny;
    if (applies === 'maybe' && !isDeny) return false;
  }
  return false;
}
