import type { PolicyRequest } from '../../contracts/index.ts';
import { CoxswainError, copyJson, deepFreeze, isCoxswainError, messageOf } from '../../contracts/index.ts';
import type { CheckedDecision } from '../../gate/index.ts';
import { compileArgs } from './args.ts';
import type { Glob } from './glob.ts';
import { compileGlob } from './glob.ts';
import type { PolicyRule, PolicyTier } from './rule.ts';
import { faultOfRule, isObject } from './rule.ts';

/** What is known when tools are offered, before there is a call. */
export interface PolicyScope {
  agent?: string;
  permissionMode?: string;
}

export interface CompiledRule {
  readonly id: string | undefined;
  /** How messages call it. */
  readonly label: string;
  readonly tool: Glob;
  readonly priority: number;
  readonly overridable: boolean;
  readonly isUnconditional: boolean;
  readonly decision: CheckedDecision;
  /** Whether the conditions hold; the tool's name is not one of them. */
  matches(request: PolicyRequest): boolean;
  /** Whether they hold for every call of this scope, for none, or it depends. */
  inScope(scope: PolicyScope): 'always' | 'never' | 'maybe';
}

export interface RulePlace {
  tier: PolicyTier;
  /** Place in the tier as it was written. */
  index: number;
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_POLICY_RULE`; `details` has tier, index and field */
export function compileRule(input: unknown, place: RulePlace, trustAnnotations: boolean): CompiledRule {
  const fault = faultOfRule(input);
  if (fault) throw ruleError(place, input, fault.field, fault.fault);
  const rule = copyRule(input as PolicyRule, place);
  const outcome = rule.outcome === 'ask' ? 'ask_user' : rule.outcome;
  const decision: CheckedDecision = { outcome, ruleId: rule.id ?? `${place.tier}[${place.index}]` };
  if (rule.reason !== undefined) decision.reason = rule.reason;
  if (rule.approvers !== undefined) decision.approvers = rule.approvers;
  if (rule.expiresIn !== undefined) decision.expiresIn = rule.expiresIn;
  const conditions = conditionsOf(rule, place, trustAnnotations);
  return {
    id: rule.id,
    label: labelOf(place, rule),
    tool: compileGlob(rule.tool),
    priority: rule.priority ?? 0,
    overridable: rule.overridable ?? false,
    isUnconditional: conditions.length === 0,
    decision: deepFreeze(decision),
    matches: allOf(conditions),
    inScope: scopeTest(rule, conditions.length),
  };
}

function copyRule(rule: PolicyRule, place: RulePlace): PolicyRule {
  try {
    return copyJson(rule, 'rule');
  } catch (error) {
    throw ruleError(place, rule, undefined, messageOf(error));
  }
}

export function ruleError({ tier, index }: RulePlace, rule: unknown, field: string | undefined, fault: string) {
  const id = isObject(rule) && typeof rule.id === 'string' ? rule.id : undefined;
  const what = field === undefined ? fault : `"${field}" ${fault}`;
  const details = { tier, index, ...(id !== undefined && { id }), ...(field !== undefined && { field }) };
  return new CoxswainError('INVALID_ARGUMENT', 'E_POLICY_RULE', `${labelOf({ tier, index }, { id })}: ${what}`, {
    details,
  });
}

export const isRuleError = (error: unknown): error is CoxswainError =>
  isCoxswainError(error) && error.code === 'E_POLICY_RULE';

function labelOf({ tier, index }: RulePlace, { id }: { id?: string | undefined }): string {
  return id === undefined ? `rule ${index} of tier ${tier}` : `rule ${index} ("${id}") of tier ${tier}`;
}

type Condition = (request: PolicyRequest) => boolean;

/** Most rules have one condition or none; a policy may try a thousand of them for one call. */
function allOf(conditions: readonly Condition[]): Condition {
  const [only] = conditions;
  if (only === undefined) return () => true;
  return conditions.length === 1 ? only : (request) => conditions.every((holds) => holds(request));
}

function conditionsOf(rule: PolicyRule, place: RulePlace, trustAnnotations: boolean): Condition[] {
  // What cannot be known widens a rule that restricts and narrows one that allows.
  const ifUnknown = rule.outcome !== 'allow';
  const conditions: Condition[] = [];
  const { mode, kind, role, principal, agent, annotations, args } = rule;
  if (mode !== undefined) conditions.push(oneOf(mode, ({ context }) => context?.permissionMode));
  if (kind !== undefined) conditions.push(oneOf(kind, ({ context }) => context?.resource?.kind));
  if (role !== undefined) {
    const roles = listOf(role);
    conditions.push(({ principal: held }) => roles.some((wanted) => held?.roles?.includes(wanted) ?? false));
  }
  if (principal !== undefined) {
    const glob = compileGlob(principal);
    conditions.push((request) => request.principal !== undefined && glob.test(request.principal.id));
  }
  if (agent !== undefined) {
    const glob = compileGlob(agent);
    conditions.push(({ context }) => isAgent(glob, context?.agentPath ?? []));
  }
  if (annotations !== undefined) {
    const wanted = Object.entries(annotations);
    conditions.push(({ context }) => {
      const resource = context?.resource;
      if (!trustAnnotations && isForeign(resource?.source)) return ifUnknown;
      const actual = (resource?.annotations ?? {}) as Record<string, unknown>;
      // A hint that is not given says no, which is enough to restrict a tool and not enough to allow it.
      return wanted.every(([name, value]) => (actual[name] ?? (ifUnknown ? false : undefined)) === value);
    });
  }
  if (args !== undefined) {
    const fits = compileRuleArgs(rule, args, place, ifUnknown);
    conditions.push((request) => fits(request.args ?? {}));
  }
  return conditions;
}

function compileRuleArgs(
  rule: PolicyRule,
  args: NonNullable<PolicyRule['args']>,
  place: RulePlace,
  ifUnknown: boolean,
) {
  try {
    return compileArgs(args, ifUnknown);
  } catch (error) {
    throw ruleError(place, rule, 'args', messageOf(error));
  }
}

/** Tools of a foreign server describe themselves. */
export const isForeign = (source: string | undefined): boolean => source?.startsWith('mcp:') ?? false;

const listOf = (value: string | readonly string[]): readonly string[] => (typeof value === 'string' ? [value] : value);

function oneOf(values: string | readonly string[], read: (request: PolicyRequest) => string | undefined): Condition {
  const set = new Set<string | undefined>(listOf(values));
  return (request) => set.has(read(request));
}

function isAgent(glob: Glob, path: readonly string[]): boolean {
  const own = path.at(-1);
  return own !== undefined && (glob.test(path.join('/')) || glob.test(own));
}

function scopeTest(rule: PolicyRule, conditions: number): CompiledRule['inScope'] {
  const modes = rule.mode === undefined ? undefined : listOf(rule.mode);
  const agents = rule.agent === undefined ? undefined : compileGlob(rule.agent);
  return ({ agent, permissionMode }) => {
    let open = conditions;
    if (modes && permissionMode !== undefined) {
      if (!modes.includes(permissionMode)) return 'never';
      open--;
    }
    // A name that does not match says nothing: its path may.
    if (agents && agent !== undefined && agents.test(agent)) open--;
    return open === 0 ? 'always' : 'maybe';
  };
}
