import { isObject } from '../../base/index.ts';
import type { PolicyRequest } from '../../contracts/index.ts';
import {
  CoxswainError,
  copyJson,
  deepFreeze,
  isCoxswainError,
  messageOf,
  withPresentWord,
} from '../../contracts/index.ts';
import type { CheckedDecision } from '../../gate/index.ts';
import { obligationsIn } from '../../gate/index.ts';
import { guarded } from '../../session/index.ts';
import type { Condition } from './conditions.ts';
import { argsCondition, asList, staticConditions } from './conditions.ts';
import type { Glob } from './glob.ts';
import { compileGlob } from './glob.ts';
import type { PolicyRule, PolicyTier } from './rule.ts';
import { faultOfRule } from './rule.ts';
import { holdsWherever } from './subsume.ts';

/** What is known when tools are offered, before there is a call. */
export interface PolicyScope {
  agent?: string;
  permissionMode?: string;
}

export interface CompiledRule {
  readonly id: string | undefined;
  readonly tier: PolicyTier;
  /** How messages call it. */
  readonly label: string;
  readonly tool: Glob;
  readonly priority: number;
  readonly overridable: boolean;
  readonly isUnconditional: boolean;
  readonly decision: CheckedDecision;
  /** Names of the annotations that it reads. */
  readonly annotations: readonly string[];
  readonly readsArgs: boolean;
  /** Whether all conditions but that on arguments hold; the tool's name is not one of them. */
  fitsCall(request: PolicyRequest): boolean;
  fitsArgs(request: PolicyRequest): boolean;
  /** Not only because a condition cannot be told, or says nothing of such arguments. */
  fitsSurely(request: PolicyRequest): boolean;
  /** The first member whose condition does not hold, and why. */
  misfit(request: PolicyRequest): { field: keyof PolicyRule; why: string } | undefined;
  /** Applies wherever the other one does, as far as conditions go. May say no where the answer is yes. */
  isWiderThan(other: CompiledRule): boolean;
  /** As it was written. */
  readonly rule: PolicyRule;
  /** Whether they hold for every call of this scope, for none, or it depends. */
  inScope(scope: PolicyScope): 'always' | 'never' | 'maybe';
}

export interface RulePlace {
  tier: PolicyTier;
  /** Place in the tier as it was written. */
  index: number;
  /** Where it was read from: `file:line`. */
  source?: string | undefined;
  /** How the list is called that it is in, where it is not a tier's. */
  list?: string | undefined;
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_POLICY_RULE`; `details` has tier, index and field */
export function compileRule(input: unknown, place: RulePlace, trustAnnotations: boolean): CompiledRule {
  const fault = guarded(`rule ${place.list ?? place.tier}[${place.index}]`, () => faultOfRule(input));
  if (fault) throw ruleError(place, input, fault.field, fault.fault);
  const rule = copyRule(input as PolicyRule, place);
  const { outcome } = rule;
  const decision: CheckedDecision = { outcome, ruleId: rule.id ?? `${place.tier}[${place.index}]` };
  if (rule.reason !== undefined) decision.reason = rule.reason;
  Object.assign(decision, obligationsIn(rule));
  const ofCall = staticConditions(rule, trustAnnotations);
  const ofArgs = compiledArgs(rule, place);
  const all = ofArgs ? [...ofCall, ofArgs] : ofCall;
  const mayDoubt = outcome === 'ask' && untold.some((field) => rule[field] !== undefined);
  return {
    id: rule.id,
    tier: place.tier,
    label: labelOf(place, rule),
    tool: compileGlob(rule.tool),
    priority: rule.priority ?? 0,
    overridable: rule.overridable ?? false,
    isUnconditional: all.length === 0,
    decision: deepFreeze(decision),
    annotations: Object.keys(rule.annotations ?? {}),
    readsArgs: ofArgs !== undefined,
    fitsCall: allOf(ofCall),
    fitsArgs: ofArgs ? (request) => ofArgs.holds(request) : () => true,
    fitsSurely: mayDoubt ? surely(rule, trustAnnotations) : () => true,
    misfit(request) {
      const failed = all.find((condition) => !condition.holds(request));
      return failed && { field: failed.field, why: `${failed.field}${failed.why(request)}` };
    },
    rule,
    // What cannot be known fits a rule that restricts and does not fit one that allows: those are not compared.
    isWiderThan: (other) =>
      !(mayDoubt && other.decision.outcome === 'deny') &&
      (all.length === 0 || outcome !== 'allow' || other.decision.outcome === 'allow') &&
      holdsWherever(rule, other.rule),
    inScope: scopeTest(rule, all.length),
  };
}

function copyRule(rule: PolicyRule, place: RulePlace): PolicyRule {
  try {
    return copyJson({ ...rule, outcome: withPresentWord(rule.outcome) }, 'rule');
  } catch (error) {
    throw ruleError(place, rule, undefined, messageOf(error));
  }
}

export function ruleError(place: RulePlace, rule: unknown, field: string | undefined, fault: string) {
  const { tier, index, list } = place;
  const id = isObject(rule) && typeof rule.id === 'string' ? rule.id : undefined;
  const what = field === undefined ? fault : `"${field}" ${fault}`;
  const details = { tier, index, fault: what, ...(id !== undefined && { id }), ...(field !== undefined && { field }) };
  const label = labelOf({ tier, index, list }, { id });
  return new CoxswainError('INVALID_ARGUMENT', 'E_POLICY_RULE', `${label}: ${what}`, { details });
}

export const isRuleError = (error: unknown): error is CoxswainError =>
  isCoxswainError(error) && error.code === 'E_POLICY_RULE';

function labelOf({ tier, index, source, list = tier }: RulePlace, { id }: { id?: string | undefined }): string {
  const name = id === undefined ? '' : ` ("${id}")`;
  return `${source ?? `${list}[${index}]`}${name}`;
}

/** Most rules have one condition or none; a policy may try a thousand of them for one call. */
function allOf(conditions: readonly Condition[]): (request: PolicyRequest) => boolean {
  const [only] = conditions;
  if (only === undefined) return () => true;
  if (conditions.length === 1) return (request) => only.holds(request);
  return (request) => conditions.every((condition) => condition.holds(request));
}

function compiledArgs(rule: PolicyRule, place: RulePlace): Condition | undefined {
  try {
    return argsCondition(rule);
  } catch (error) {
    throw ruleError(place, rule, 'args', messageOf(error));
  }
}

/** Conditions on what may not be known. */
const untold = ['args', 'annotations', 'source', 'digest'] as const;

/** Compiled when it is first asked for. */
function surely(rule: PolicyRule, trustAnnotations: boolean): CompiledRule['fitsSurely'] {
  let fits: CompiledRule['fitsSurely'] | undefined;
  return (request) => {
    if (!fits) {
      const ofArgs = argsCondition(rule, true);
      fits = allOf([...staticConditions(rule, trustAnnotations, false), ...(ofArgs ? [ofArgs] : [])]);
    }
    return fits(request);
  };
}

function scopeTest(rule: PolicyRule, conditions: number): CompiledRule['inScope'] {
  const modes = rule.mode === undefined ? undefined : asList(rule.mode);
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
